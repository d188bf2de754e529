r"""The terms of the inverse Hessian attack (Suri et al. 2024, Theorem 3.2 and Equation 8).

SGD near a minimum :math:`w_*` ends in a Gaussian cloud around it. Whether a record was trained on
moves :math:`w_*`, and the log-likelihood ratio of the two clouds at the released parameters is, up
to a positive factor,

.. math:: \mathrm{IHA}(z) = \frac{\ell}{1+\mu} - \frac{1}{\lambda}(I_1 + I_2 + I_3 + I_4).

With :math:`u = H^{-1} g`, :math:`u_0 = H^{-1}\nabla L_0`,
:math:`s_1 = 1 - \lambda\alpha/(1+\mu)` and :math:`s_2 = 2 - \lambda\alpha/(1+\mu)`:

.. math:: I_1 = \tfrac{s_1}{n}\|u\|^2,\quad I_2 = 2 s_1 u_0^\top u,\quad
   I_3 = \tfrac{\alpha s_2}{2n} u^\top H^{-1} u,\quad I_4 = \alpha s_2 u_0^\top H^{-1} u.

**The regularised stationarity condition.** The paper's proof puts
:math:`\nabla L(w) = H (w - w_*)`, but with weight decay :math:`w_*` minimises
:math:`L + \tfrac{\alpha}{2}\|w\|^2`, so that :math:`R := \nabla L(w) + \alpha w = K (w - w_*)` with
:math:`K = H + \alpha I`. The cloud's precision (paper's Equation 10 without its term of order
:math:`\alpha^2`) is proportional to :math:`(2 I - \tfrac{\lambda}{1+\mu} K) K H^{-1}`. With
:math:`\delta = w - w_* = K^{-1} R` and :math:`K H^{-1} = I + \alpha H^{-1}`,

.. math:: \delta^\top (2 I - \tfrac{\lambda}{1+\mu} K) K H^{-1} \delta
   = s_2 \|\delta\|^2 + \alpha s_2\, \delta^\top H^{-1} \delta
   - \tfrac{\lambda}{1+\mu}\, \delta^\top K \delta ,

and :math:`\tfrac12 \delta^\top K \delta` is the regularised loss above its minimum. With equal
minima in the two worlds (the paper's Assumption 3, here for the regularised loss) it differs
between them by :math:`\ell/n`, and R by :math:`g/n`. What is left is the same score with
:math:`u = K^{-1} g`, :math:`u_0 = K^{-1} R_0` and :math:`s_2 / 2` in the place of :math:`s_1`.
`membership.studies.iha.theory` shows it to be the exact log-likelihood ratio on a quadratic.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.arrays import FloatArray, one_of
from membership.attacks.others import OthersGradient
from membership.curvature.eigen import conditioned_inverse
from membership.curvature.white_box import WhiteBoxView
from membership.errors import InputError

STATIONARITIES = ("published", "regularised")


@dataclass(frozen=True)
class IHAScore:
    r"""The score and its parts, each of shape (records,).

    Attributes
    ----------
    score : numpy.ndarray
        :math:`\ell/(1+\mu) - (I_1 + I_2 + I_3 + I_4)/\lambda`; higher means member.
    loss : numpy.ndarray
        :math:`\ell`.
    i1, i2, i3, i4 : numpy.ndarray
        The paper's terms, as numbered there.
    residual : numpy.ndarray
        Relative residual of the system solved for each record; 0 for an exact inverse.
    """

    score: FloatArray
    loss: FloatArray
    i1: FloatArray
    i2: FloatArray
    i3: FloatArray
    i4: FloatArray
    residual: FloatArray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """The score, so that NumPy and `membership.metrics` take the whole for it."""
        return np.array(self.score, dtype=dtype, copy=copy)


@dataclass(frozen=True)
class QuadraticForms:
    r"""What the terms need of the curvature, each of shape (records,).

    With P the conditioned inverse that stands for :math:`H^{-1}` or :math:`K^{-1}`, and P' for the
    :math:`H^{-1}` between: `own2` is :math:`g^\top P^2 g`, `own3` :math:`g^\top P P' P g`, and
    `others2`, `others3` the same with :math:`\nabla L_0` (or :math:`R_0`) on the left.
    """

    own2: FloatArray
    others2: FloatArray
    own3: FloatArray
    others3: FloatArray


def iha_from_view(
    view: WhiteBoxView,
    others: OthersGradient,
    values: FloatArray | None,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    *,
    damping: float = 0.2,
    conditioning: str = "damping",
    convention: str = "paper",
    stationarity: str = "published",
) -> IHAScore:
    """The attack on gradients already read, in the eigenbasis of the Hessian.

    Parameters
    ----------
    view, others
        In the eigenbasis; see `membership.curvature.white_box_view` and `others_gradient`.
    values : numpy.ndarray, shape (p,), or None
        Eigenvalues of the Hessian. None puts the identity in the place of its inverse, a control.
    learning_rate, momentum, weight_decay, damping, conditioning, convention, stationarity
        As for `iha`.

    Returns
    -------
    IHAScore

    Raises
    ------
    InputError
        As `iha`.
    """
    check_recipe(learning_rate, momentum, weight_decay)
    check_stationarity(stationarity)
    regularised = stationarity == "regularised"
    if values is None:
        inverse = between = np.ones_like(view.mean_gradient)
    else:
        how = (damping, conditioning, convention)
        between = conditioned_inverse(values, *how)
        shift = weight_decay if regularised else 0.0
        inverse = conditioned_inverse(values, *how, shift=shift)
    decay = weight_decay * view.weight if regularised else np.zeros_like(view.weight)
    forms = _forms(view, others, decay, inverse, between)
    return iha_terms(
        forms, view.loss, view.n_train, learning_rate, momentum, weight_decay, stationarity
    )


def _forms(view, others: OthersGradient, decay, inverse, between) -> QuadraticForms:
    squared = np.square(view.gradient)
    square, cube = inverse**2, inverse**2 * between
    own2, own3 = squared @ square, squared @ cube
    mean2, mean3 = view.gradient @ (square * others.mean), view.gradient @ (cube * others.mean)
    return QuadraticForms(
        own2,
        others.scale * mean2 + others.own * own2 + view.gradient @ (square * decay),
        own3,
        others.scale * mean3 + others.own * own3 + view.gradient @ (cube * decay),
    )


def iha_terms(
    forms: QuadraticForms,
    loss: FloatArray,
    n_train: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    stationarity: str = "published",
) -> IHAScore:
    """The four terms and the score from the quadratic forms; parameters as for `iha`."""
    step = learning_rate * weight_decay / (1.0 + momentum)
    s1 = 1.0 - step if stationarity == "published" else 1.0 - step / 2.0
    s2 = 2.0 - step
    i1 = s1 / n_train * forms.own2
    i2 = 2.0 * s1 * forms.others2
    i3 = weight_decay * s2 / (2.0 * n_train) * forms.own3
    i4 = weight_decay * s2 * forms.others3
    score = loss / (1.0 + momentum) - (i1 + i2 + i3 + i4) / learning_rate
    return IHAScore(score, loss, i1, i2, i3, i4, np.zeros_like(score))


def check_recipe(learning_rate: float, momentum: float, weight_decay: float) -> None:
    """Raise an InputError unless these are a recipe of SGD."""
    if not 0 < learning_rate < float("inf"):
        raise InputError(f"learning_rate = {learning_rate!r}: expected a number above 0")
    if not 0 <= momentum < 1:
        raise InputError(f"momentum = {momentum!r}: expected a number from 0 up, below 1")
    if not 0 <= weight_decay < float("inf"):
        raise InputError(f"weight_decay = {weight_decay!r}: expected a number from 0 up")


def check_stationarity(stationarity: str) -> None:
    """Raise an InputError unless `stationarity` is one that is known."""
    one_of("stationarity", stationarity, STATIONARITIES)
