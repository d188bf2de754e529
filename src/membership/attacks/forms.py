r"""White-box scores from quadratic forms: what a file can hold of gradients and curvature.

With P the conditioned inverse that stands for :math:`H^{-1}` (or, regularised, for
:math:`(H + \alpha I)^{-1}`), P' that of :math:`H^{-1}`, g a record's gradient,
:math:`\nabla L_1` that of the mean training loss and :math:`\alpha w` that of the weight decay:

* own1: :math:`g^\top P g`; own2: :math:`g^\top P^2 g`; own3: :math:`g^\top P P' P g`;
* mean2, mean3: as own2 and own3 with :math:`\nabla L_1` for the last g;
* rest2, rest3: with :math:`R = \nabla L_1 + \alpha w` for it, where the two nearly cancel.

A record's own part and the mean's are kept apart: whether g is to be taken out of the mean is
decided when scoring, where membership enters.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_bool, as_float64
from membership.attacks.iha_terms import IHAScore, QuadraticForms, check_recipe, check_stationarity
from membership.attacks.iha_terms import iha_terms as terms_of
from membership.attacks.others import removal
from membership.attacks.residual import check_residual
from membership.curvature.eigen import conditioned_inverse
from membership.curvature.white_box import WhiteBoxView
from membership.errors import InputError

TERMS = ("own1", "own2", "own3", "mean2", "mean3", "rest2", "rest3")
IDENTITY = "identity"


def quadratic_forms(
    view: WhiteBoxView,
    values: FloatArray,
    weight_decay: float,
    conditioning: str = "damping",
    damping: float = 0.2,
    stationarity: str = "published",
) -> dict[str, FloatArray]:
    """The forms of records whose gradients have been read, by the names of `TERMS`.

    Parameters
    ----------
    view : WhiteBoxView
        In the eigenbasis of the Hessian.
    values : numpy.ndarray, shape (p,)
        Its eigenvalues.
    weight_decay : float
        0 or more.
    conditioning : {"damping", "low-rank", "identity"}
        "identity" puts the identity in the place of every inverse, a control.
    damping : float
        As for `iha`; not used with "identity".
    stationarity : {"published", "regularised"}
        As for `iha`.

    Returns
    -------
    dict of str to numpy.ndarray of shape (records,)

    Raises
    ------
    InputError
        As `iha`.
    """
    check_stationarity(stationarity)
    if conditioning == IDENTITY:
        inverse = between = np.ones_like(view.mean_gradient)
    else:
        shift = weight_decay if stationarity == "regularised" else 0.0
        between = conditioned_inverse(values, damping, conditioning)
        inverse = conditioned_inverse(values, damping, conditioning, shift=shift)
    gradient, squared = view.gradient, np.square(view.gradient)
    rest = view.mean_gradient + weight_decay * view.weight
    square, cube = inverse**2, inverse**2 * between
    return {
        "own1": squared @ inverse,
        "own2": squared @ square,
        "own3": squared @ cube,
        "mean2": gradient @ (square * view.mean_gradient),
        "mean3": gradient @ (cube * view.mean_gradient),
        "rest2": gradient @ (square * rest),
        "rest3": gradient @ (cube * rest),
    }


def iha_from_forms(
    forms: Mapping[str, Any],
    loss: Any,
    member: Any,
    n_train: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    *,
    stationarity: str = "published",
    knowledge: str = "leave-one-out",
    convention: str = "paper",
) -> IHAScore:
    """As `iha`, from forms that were gathered before.

    Parameters
    ----------
    forms : mapping of str to array of shape (records,)
        `quadratic_forms`, of the same stationarity.
    loss : array of shape (records,)
    member : bool array of shape (records,)
        Which records are training records; read as `knowledge` says.
    n_train : int
        Training records, 2 or more.
    learning_rate, momentum, weight_decay, stationarity, knowledge, convention
        As for `iha`.

    Returns
    -------
    IHAScore

    Raises
    ------
    InputError
        A form is missing, shapes disagree, entries are not finite, or as `iha`.
    """
    check_recipe(learning_rate, momentum, weight_decay)
    check_stationarity(stationarity)
    loss = as_float64("loss", loss, 1)
    read = _reader(forms, loss.shape)
    scale, own = removal(as_bool("member", member, loss.shape), n_train, knowledge, convention)

    def others(order: str) -> FloatArray:
        """g against the gradient over the others."""
        if stationarity == "regularised":
            return own * read("own" + order) + _rest(read, order, scale)
        return own * read("own" + order) + scale * read("mean" + order)

    quadratic = QuadraticForms(read("own2"), others("2"), read("own3"), others("3"))
    recipe = (learning_rate, momentum, weight_decay)
    return terms_of(quadratic, loss, n_train, *recipe, stationarity)


def sif_from_forms(forms: Mapping[str, Any]) -> FloatArray:
    """As `sif`, from forms that were gathered before: minus own1."""
    own = as_float64("form own1", forms["own1"], 1)
    return 0.0 - own


def residual_from_forms(
    forms: Mapping[str, Any],
    member: Any,
    n_train: int,
    *,
    statistic: str = "norm",
    knowledge: str = "leave-one-out",
    convention: str = "paper",
) -> FloatArray:
    """As `residual` with "norm" or "product", from `quadratic_forms` of the identity.

    Parameters
    ----------
    forms : mapping of str to array of shape (records,)
        own2 and rest2 with conditioning "identity"; mean2 too with the authors' convention.
    member, n_train, knowledge, convention
        As for `iha_from_forms`.
    statistic : {"norm", "product"}

    Returns
    -------
    numpy.ndarray of float64, shape (records,)

    Raises
    ------
    InputError
        As `iha_from_forms`, or another statistic.
    """
    check_residual(statistic, 0.0)
    if statistic == "cosine":
        raise InputError("statistic = 'cosine': it needs the length of the gradient; see residual")
    own = as_float64("form own2", forms["own2"], 1)
    read = _reader(forms, own.shape)
    scale, less = removal(as_bool("member", member, own.shape), n_train, knowledge, convention)
    product = less * own + _rest(read, "2", scale)
    return -product if statistic == "product" else -2.0 * product / n_train - own / n_train**2


def _rest(read: Callable[[str], FloatArray], order: str, scale: FloatArray) -> FloatArray:
    """g against R, in which the mean gradient counts `scale` times."""
    rest = read("rest" + order)
    return rest if (scale == 1).all() else rest + (scale - 1) * read("mean" + order)


def _reader(forms: Mapping[str, Any], shape: tuple[int, ...]):
    def read(name: str) -> FloatArray:
        if name not in forms:
            raise InputError(f"forms: {name} is missing; there are {', '.join(map(str, forms))}")
        found = as_float64(f"form {name}", forms[name], 1)
        if found.shape != shape:
            raise InputError(f"form {name} has shape {found.shape}; give {shape}")
        return found

    return read
