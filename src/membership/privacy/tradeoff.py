"""Trade-off functions: the least false negative rate of any attack at a false positive rate.

H0 is "the record was not in the batch", H1 "it was"; alpha is the FPR, TPR = 1 - FNR.
"""

from typing import Any

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import log_ndtr, ndtr, ndtri

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.privacy import checks, chi2


def gaussian_tradeoff(alpha: Any, mu: float) -> FloatArray:
    """Return the FNR at FPR `alpha` of the best test of N(0, 1) against N(mu, 1).

    G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu), Definition 4.3 (Dong et al. 2022).

    Parameters
    ----------
    alpha : array of float
        False positive rates in [0, 1].
    mu : float
        0 or more; infinity is no privacy at all.

    Returns
    -------
    ndarray of float64
        In the shape of `alpha`.

    Raises
    ------
    InputError
        A rate is outside [0, 1] or mu is negative.
    """
    alpha, mu = checks.rates("alpha", alpha), checks.number("mu", mu, "reached level")
    # Phi^-1(1 - alpha) = -Phi^-1(alpha), without rounding 1 - alpha.
    return _at_ends(alpha, ndtr(-ndtri(np.clip(alpha, 1e-320, None)) - mu), 1.0, 0.0)


def gaussian_tpr(alpha: Any, mu: float) -> FloatArray:
    """Return the TPR at FPR `alpha`, 1 - G_mu(alpha), with its own precision where it is small."""
    alpha, mu = checks.rates("alpha", alpha), checks.number("mu", mu, "reached level")
    return _at_ends(alpha, ndtr(ndtri(np.clip(alpha, 1e-320, None)) + mu), 0.0, 1.0)


def gaussian_auc(mu: float) -> float:
    """Return the area under the ROC curve of the best test at level mu: Phi(mu / sqrt 2)."""
    return float(ndtr(checks.number("mu", mu, "reached level") / np.sqrt(2)))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the epsilon that mu-Gaussian differential privacy has at a delta.

    The least epsilon of 0 or more with Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 -
    epsilon/mu) <= delta (Dong, Roth and Su 2022, Corollary 2.13).

    Parameters
    ----------
    mu : float
        0 or more.
    delta : float
        Above 0 and below 1: at a delta of 0 there is no such epsilon.

    Raises
    ------
    InputError
        A value is out of range.
    """
    mu = checks.number("mu", mu, "reached level")
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta is {delta}; give a number above 0 and below 1")

    def excess(epsilon: float) -> float:
        second = np.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2))
        return float(ndtr(mu / 2 - epsilon / mu) - second - delta)

    if mu == 0 or excess(0.0) <= 0:
        return 0.0
    top = 1.0
    while excess(top) > 0:
        top *= 2
        if np.isinf(top):
            return top
    return float(root_scalar(excess, bracket=(0.0, top), xtol=1e-12).root)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the delta that mu-Gaussian differential privacy has at an epsilon.

    Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu); `gaussian_epsilon` goes back.

    Parameters
    ----------
    mu : float
        0 or more.
    epsilon : float
        0 or more, at most 600.

    Raises
    ------
    InputError
        A value is out of range.

    Examples
    --------
    >>> from membership import privacy
    >>> round(privacy.gaussian_delta(1.0, 1.0), 6)
    0.126936
    """
    mu, epsilon = checks.number("mu", mu, "reached level"), checks.number("epsilon", epsilon)
    if mu == 0:
        return 0.0
    if np.isinf(mu):
        return 1.0
    with np.errstate(over="ignore"):
        first = log_ndtr(mu / 2 - epsilon / mu)
        second = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return 0.0 if first == -np.inf else float(-np.exp(first) * np.expm1(min(second - first, 0.0)))


def effective_batch_size(n: float, tau: float = 0.0, clip: float | None = None) -> float:
    """Return n_e = n + tau^2 n^2 / C^2, the batch that would hide a record as well without noise.

    Parameters
    ----------
    n : float
        Batch size, 2 or more.
    tau : float
        Standard deviation of the noise added to each entry of the mean gradient, 0 or more.
    clip : float, optional
        C: gradients have norm at most C, so no eigenvalue of their covariance exceeds C^2. Needed
        with tau above 0.

    Raises
    ------
    InputError
        A value is out of range, or `clip` is missing.

    Notes
    -----
    Theorem 5.1. Covariances with smaller eigenvalues are hidden better; see
    `membership.privacy.mip_mu_spectrum`.
    """
    n, tau = checks.number("n", n), checks.number("tau", tau)
    return n + (tau * n / checks.clipping(clip)) ** 2 if tau else n


def mip_tradeoff(
    alpha: Any, d: float, n: float, k: float, tau: float = 0.0, clip: float | None = None
) -> FloatArray:
    """Return the FNR at FPR `alpha` of the best attack on one step of noisy SGD (Theorem 5.1).

    With noise it is the least FNR that any covariance of clipped gradients allows, a lower bound
    for the one at hand; without noise it is exact where the mean of a batch is normal.

    Parameters
    ----------
    alpha : array of float
        False positive rates in [0, 1].
    d : float
        Dimension of the gradients: the rank of their covariance, which for a softmax layer is
        smaller than the number of parameters.
    n : float
        Batch size, 2 or more.
    k : float
        K = (x - mean)' Sigma^-1 (x - mean) of the record's gradient x; d on average.
    tau, clip : float
        Noise and clipping norm, as in `effective_batch_size`.

    Returns
    -------
    ndarray of float64
        In the shape of `alpha`.

    Raises
    ------
    InputError
        A value is out of range, or `clip` is missing with tau above 0.
    """
    return _mip(alpha, d, n, k, tau, clip, chi2.log_sf)


def mip_tpr(
    alpha: Any, d: float, n: float, k: float, tau: float = 0.0, clip: float | None = None
) -> FloatArray:
    """Return the TPR at FPR `alpha`; parameters and errors as in `mip_tradeoff`."""
    return _mip(alpha, d, n, k, tau, clip, chi2.log_cdf)


def _mip(alpha: Any, d: float, n: float, k: float, tau: float, clip: float | None, log_tail):
    alpha = checks.rates("alpha", alpha)
    d, k = checks.number("d", d), checks.number("k", k)
    n_e = effective_batch_size(n, tau, clip)
    with np.errstate(divide="ignore"):
        threshold = chi2.quantile(np.log(alpha), d, n_e * k)
    return np.exp(log_tail(threshold * (n_e / (n_e - 1)), d, (n_e - 1) * k))


def _at_ends(alpha: FloatArray, inside: FloatArray, at_zero: float, at_one: float) -> FloatArray:
    return np.where(alpha == 0, at_zero, np.where(alpha == 1, at_one, inside))
