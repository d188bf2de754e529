r"""The quadratic forms of gradients that white-box scores are made of.

With P the conditioned inverse that stands for :math:`H^{-1}` (or, regularised, for
:math:`(H + \alpha I)^{-1}`), P' that of :math:`H^{-1}`, g a record's gradient,
:math:`\nabla L_1` that of the mean training loss and :math:`\alpha w` that of the weight decay:

* own1: :math:`g^\top P g`; own2: :math:`g^\top P^2 g`; own3: :math:`g^\top P P' P g`;
* mean2, mean3: as own2 and own3 with :math:`\nabla L_1` for the last g;
* rest2, rest3: with :math:`R = \nabla L_1 + \alpha w` for it, where the two nearly cancel.

A record's own part and the mean's are kept apart: whether g is to be taken out of the mean is
decided when scoring, where membership enters.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_float64, one_of
from membership.curvature.gradients import WhiteBoxView
from membership.curvature.inverse import Inverse, eigenvalues, identity
from membership.errors import InputError

TERMS = ("own1", "own2", "own3", "mean2", "mean3", "rest2", "rest3")
IDENTITY = "identity"
STATIONARITIES = ("published", "regularised")

Forms = dict[str, FloatArray]


def quadratic_forms(
    view: WhiteBoxView,
    values: FloatArray | None,
    weight_decay: float,
    conditioning: str = "damping",
    damping: float = 0.2,
    stationarity: str = "published",
    convention: str = "paper",
) -> Forms:
    """The forms of records whose gradients have been read, by the names of `TERMS`.

    Parameters
    ----------
    view : WhiteBoxView
        In the eigenbasis of the Hessian.
    values : numpy.ndarray, shape (p,)
        Its eigenvalues; None will do with "identity".
    weight_decay : float
        0 or more.
    conditioning : {"damping", "low-rank", "identity"}
        "identity" puts the identity in the place of every inverse, a control; in any basis.
    damping : float
        As for `iha`; not used with "identity".
    stationarity : {"published", "regularised"}
        As for `iha`.
    convention : {"paper", "authors"}
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
        inverse = identity(len(view.mean_gradient))
    else:
        shift = weight_decay if stationarity == "regularised" else 0.0
        inverse = eigenvalues(values, damping, conditioning, convention, shift)
    (forms,) = forms_of([view], [inverse], weight_decay)
    return {name: forms[name] for name in TERMS}


def forms_of(
    views: Iterable[WhiteBoxView], inverses: Sequence[Inverse], weight_decay: float
) -> list[Forms]:
    """The forms of one model's queried records, block by block, with each of some inverses.

    Besides `TERMS` the record's ``loss``, and the ``residual`` of a system that is solved to a
    tolerance. What multiplies a gradient is solved for once.
    """
    against: list[FloatArray] = []
    blocks: list[list[Forms]] = [[] for _ in inverses]
    for view in views:
        against = against or [_against(view, one, weight_decay) for one in inverses]
        for inverse, vectors, forms in zip(inverses, against, blocks, strict=True):
            crossed = zip(TERMS[3:], (view.gradient @ vectors.T).T, strict=True)
            forms.append({**inverse.own(view.gradient), **dict(crossed), "loss": view.loss})
    return [
        {name: np.concatenate([block[name] for block in forms]) for name in forms[0]}
        for forms in blocks
    ]


def _against(view: WhiteBoxView, inverse: Inverse, weight_decay: float) -> FloatArray:
    """Rows that a gradient is multiplied with for mean2, mean3, rest2 and rest3."""
    rest = view.mean_gradient + weight_decay * view.weight
    first = inverse.solve(np.stack([view.mean_gradient, rest]))
    squared, cubed = inverse.solve(first), inverse.solve(inverse.between(first))
    return np.stack([squared[0], cubed[0], squared[1], cubed[1]])


def reader(forms: Mapping[str, Any], shape: tuple[int, ...]) -> Callable[[str], FloatArray]:
    """Forms by name, each checked as it is read."""

    def read(name: str) -> FloatArray:
        if name not in forms:
            raise InputError(f"forms: {name} is missing; there are {', '.join(map(str, forms))}")
        form = as_float64(f"form {name}", forms[name], 1)
        if form.shape != shape:
            raise InputError(f"form {name} has shape {form.shape}; give {shape}")
        return form

    return read


def against_rest(read: Callable[[str], FloatArray], order: str, scale: FloatArray) -> FloatArray:
    """g against R, in which the mean gradient counts `scale` times."""
    rest = read("rest" + order)
    return rest if (scale == 1).all() else rest + (scale - 1) * read("mean" + order)


def check_stationarity(stationarity: str) -> None:
    """Raise an InputError unless `stationarity` is one that is known."""
    one_of("stationarity", stationarity, STATIONARITIES)
