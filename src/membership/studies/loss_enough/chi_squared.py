r"""Exact ROC curves of scores that are weighted sums of independent chi-squared variables.

A quadratic form in centred Gaussians, :math:`S = \sum_k \lambda_k \chi^2_{d}`, has the
characteristic function :math:`\varphi(u) = \prod_k (1 - 2 i u \lambda_k)^{-d/2}`. By Gil-Pelaez

.. math:: P(S > t) = \frac12 + \frac1\pi \int_0^\infty \Im[e^{-iut} \varphi(u)] \frac{du}{u},

and the difference of a member's score and an independent other's is of the same form: the AUC is
one integral, on a logarithmic scale by the trapezoidal rule, which converges exponentially.
"""

import numpy as np
from scipy.optimize import brentq

from membership.arrays import FloatArray

# In units of the largest weight: below, the integrand is linear in u; above, it has died out.
_LOW, _HIGH, _POINTS = 1e-7, 1e2, 2001
# A form's matrix has eigenvalues that are 0 but for rounding.
_ROUNDING = 1e-13


def weights_of(form: FloatArray, loadings: FloatArray) -> FloatArray:
    """The weights of x'Ax for x = Lg, g standard normal: the eigenvalues of L'AL.

    Parameters
    ----------
    form : array of shape (k, k)
        A; only its symmetric part matters.
    loadings : array of shape (k, j)
        L.
    """
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
