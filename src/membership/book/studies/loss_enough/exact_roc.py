r"""Exact ROC curves: of sums of chi-squared variables, and of scores on finitely many outcomes.

A quadratic form in centred Gaussians, :math:`S = \sum_k \lambda_k \chi^2_{d}`, has the
characteristic function :math:`\varphi(u) = \prod_k (1 - 2 i u \lambda_k)^{-d/2}`. By Gil-Pelaez

.. math:: P(S > t) = \frac12 + \frac1\pi \int_0^\infty \Im[e^{-iut} \varphi(u)] \frac{du}{u},

and the difference of a member's score and an independent other's is of the same form: the AUC is
one integral, on a logarithmic scale by the trapezoidal rule, which converges exponentially.
On finitely many outcomes with known probabilities all are sums.
"""

import numpy as np
from scipy.optimize import brentq

from membership.arrays import FloatArray

# In units of the largest weight: below, the integrand is linear in u; above, it has died out.
_LOW, _HIGH, _POINTS = 1e-7, 1e2, 2001
# A form's matrix has eigenvalues that are 0 but for rounding.
_ROUNDING = 1e-13


def weights_of(form: FloatArray, loadings: FloatArray) -> FloatArray:
    """The weights of x'Ax for x = Lg, g standard normal: the eigenvalues of L'AL."""
    inner = loadings.T @ form @ loadings
    return np.linalg.eigvalsh((inner + inner.T) / 2)


def exceeds(weights: FloatArray, degrees: int, threshold: float = 0.0) -> float:
    """P(S > t); at least four `degrees` in all make the integral short."""
    scale = np.abs(weights).max()
    if not scale > 0:
        return float(threshold < 0) if threshold else 0.5
    kept = weights[np.abs(weights) > _ROUNDING * scale] / scale
    log_u = np.linspace(np.log(_LOW), np.log(_HIGH), _POINTS)
    u = np.exp(log_u)
    logs = -degrees / 2 * np.log(1 - 2j * np.outer(kept, u)).sum(axis=0)
    phi = np.exp(logs - 1j * u * threshold / scale)
    return float(0.5 + np.trapezoid(phi.imag, log_u) / np.pi)


def auc(member: FloatArray, other: FloatArray, degrees: int) -> float:
    """P(a member's score exceeds another record's), ties counted half; weights of either."""
    return exceeds(np.concatenate([member, -other]), degrees)


def tpr_at(member: FloatArray, other: FloatArray, degrees: int, fpr: float) -> float:
    """The true-positive rate at a false-positive rate."""
    spread = np.sqrt(2 * degrees * np.square(other).sum())
    centre = degrees * other.sum()
    far = 60.0 * spread
    cut = brentq(lambda t: exceeds(other, degrees, t) - fpr, centre - far, centre + far, xtol=1e-10)
    return exceeds(member, degrees, cut)


# Log-likelihood ratios that differ by less are one: rounding makes no threshold.
_DIGITS = 10


def rates(
    score: FloatArray, member: FloatArray, other: FloatArray, fpr: float = 0.01
) -> tuple[float, float]:
    """AUC, ties counted half, and the TPR at an FPR, on the randomised ROC curve.

    Parameters
    ----------
    score, member, other : arrays of one shape
        Of each outcome: the score, and its probability with the record and without; either sums
        to 1, but for what was left out.
    fpr : float
    """
    kept = np.isfinite(score) | (member + other > 0)
    value, index = np.unique(np.round(score[kept], _DIGITS), return_inverse=True)
    index = index.ravel()
    inside, outside = (
        np.bincount(index, weights=mass[kept], minlength=value.size)[::-1] / mass.sum()
        for mass in (member, other)
    )
    tpr, alarms = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in (inside, outside))
    area = float(np.sum(np.diff(alarms) * (tpr[1:] + tpr[:-1]) / 2))
    return area, float(np.interp(fpr, alarms, tpr))


def best_rates(member: FloatArray, other: FloatArray, fpr: float = 0.01) -> tuple[float, float]:
    """`rates` of the likelihood ratio itself."""
    return rates(log_ratio(member, other), member, other, fpr)


def log_ratio(member: FloatArray, other: FloatArray) -> FloatArray:
    """The log-likelihood ratio of each outcome; infinite where one world rules it out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(member) - np.log(other)
    return np.where(member + other > 0, ratio, 0.0)
