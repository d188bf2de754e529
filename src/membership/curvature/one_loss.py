"""What one record's loss keeps of the signal that the parameters carry."""

from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError


def loss_share(curvature: Any, gradient: Any, exponent: float) -> FloatArray:
    r"""Share of the squared signal that a record's error keeps, by the shape of SGD's noise.

    Small steps on a quadratic loss with Hessian K and gradient noise of covariance
    :math:`C \propto K^\kappa` end in a normal law of covariance :math:`\Sigma \propto
    K^{\kappa - 1}`. A record whose error has the gradient g (its features in a linear regression)
    moves its mean along :math:`K^{-1} g`, by a squared distance :math:`d^2 \propto g^\top
    K^{-1-\kappa} g`. The error shows the parameters along g alone, and its two laws are
    :math:`\sqrt\eta\, d` apart:

    .. math:: \eta = \frac{(g^\top K^{-1} g)^2}
        {(g^\top K^{-1-\kappa} g)\,(g^\top K^{\kappa-1} g)} .

    Best attacks have an AUC of :math:`\Phi(d/\sqrt 2)` on the parameters and
    :math:`\Phi(\sqrt\eta\, d/\sqrt 2)` on the error. The loss hides the error's sign, and shows no
    more.

    Parameters
    ----------
    curvature : array of shape (p,)
        Eigenvalues of K, positive: the Hessian's with the weight decay.
    gradient : array of shape (records, p)
        In the eigenvectors' basis; of each only its direction counts, and none is 0.
    exponent : float
        :math:`\kappa`: 0 is isotropic noise, as for a posterior draw, 1 is noise like the Hessian.

    Returns
    -------
    numpy.ndarray of float64, shape (records,)
        Above 0 and at most 1; 1 where and only where g is an eigenvector of
        :math:`K^\kappa`, thus for every record where :math:`\kappa = 0`. The same for
        :math:`-\kappa`.

    Raises
    ------
    InputError
        An eigenvalue is not positive, a gradient is 0 or of another length, or the exponent is not
        finite.

    Notes
    -----
    The bounds are those of Cauchy and Schwarz and of Kantorovich, see `least_loss_share`. The
    setting is that of Suri et al. (2024), Theorems 2.2 and 3.2.
    """
    curvature = as_float64("curvature", curvature, 1)
    gradient = as_float64("gradient", gradient, 2)
    _check_exponent(exponent)
    if gradient.shape[1] != len(curvature):
        raise InputError(
            f"gradient has {gradient.shape[1]} columns; give one for each of the {len(curvature)} "
            "eigenvalues of curvature"
        )
    if not (curvature > 0).all():
        raise InputError(f"curvature has the eigenvalue {curvature.min():g}; give positive ones")
    largest = np.abs(gradient).max(axis=1, initial=0.0, keepdims=True)
    if not (largest > 0).all():
        raise InputError("gradient has a row of zeros; leave out records without a gradient")
    # Neither scale matters, and large exponents would overflow.
    ratio = curvature / np.exp(np.mean(np.log(curvature)))
    weight = (gradient / largest) ** 2 / ratio
    both = (weight @ ratio**exponent) * (weight @ ratio**-exponent)
    return np.minimum(weight.sum(axis=1) ** 2 / both, 1.0)


def least_loss_share(condition: Any, exponent: float) -> FloatArray:
    r"""The least share that any record's error keeps: Kantorovich's bound.

    :math:`4c / (1 + c)^2` with :math:`c = \operatorname{cond}(K)^{|\kappa|}`, see `loss_share`. A
    record attains it where :math:`K^{-1/2} g` has parts of one length along the largest and the
    least curvature, and none elsewhere.

    Parameters
    ----------
    condition : array of shape (numbers,)
        Condition numbers of K, 1 or more: the largest eigenvalue over the least.
    exponent : float
        :math:`\kappa`.

    Returns
    -------
    numpy.ndarray of float64, shape (numbers,)
        In (0, 1]; 1 where the condition number is 1 or the exponent 0.

    Raises
    ------
    InputError
        A condition number is below 1 or not finite, or the exponent is not finite.
    """
    condition = as_float64("condition", condition, 1)
    _check_exponent(exponent)
    if not (condition >= 1).all():
        raise InputError(f"condition has {condition.min():g}; give numbers of 1 or more")
    return np.cosh(np.log(condition) * exponent / 2) ** -2.0


def _check_exponent(exponent: float) -> None:
    if not np.isfinite(exponent):
        raise InputError(f"exponent = {exponent!r}: expected a finite number")
