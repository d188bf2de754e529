"""Privacy levels mu: of one step, of many, from one notion to the other, and the noise they cost.

`required_noise` inverts the paper's limit; `required_sigma` the numerical composition."""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf, ndtr

from membership.arrays import as_float64, one_of
from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.tradeoff import effective_batch_size

STATISTICS = ("likelihood-ratio", "distance")
ORDERS = ("either", "fixed")


def mip_mu_step(
    d: float,
    n: float,
    k: float,
    tau: float = 0.0,
    clip: float | None = None,
    *,
    statistic: str = "likelihood-ratio",
) -> float:
    """Return the level of one step of noisy SGD against membership inference (Corollary 5.1).

    Parameters
    ----------
    d, n, k, tau, clip : float
        As in `membership.privacy.mip_tradeoff`.
    statistic : {"likelihood-ratio", "distance"}
        What the attacker thresholds. "likelihood-ratio" is the paper's corollary,
        (d + (2 n_e - 1) K) / (n_e sqrt(2 d + 4 n_e K)). "distance" is what the released
        `compute_tau` has, with n for n_e in the numerator and n^2 / n_e in the root: the limit for
        an attacker who thresholds the plain distance of the published mean from the record, which
        ignores the noise. Without noise they are the same.

    Returns
    -------
    float
        mu. At K = d and without noise it is sqrt(2 d / (2 n + 1)).

    Raises
    ------
    InputError
        A value is out of range, or `clip` is missing with tau above 0.
    """
    d, k = checks.number("d", d), checks.number("k", k)
    n_e = effective_batch_size(n, tau, clip)
    one_of("statistic", statistic, STATISTICS)
    if statistic == "distance":
        return (d + (2 * n - 1) * k) / (n_e * np.sqrt(2 * d + 4 * n**2 / n_e * k))
    return (d + (2 * n_e - 1) * k) / (n_e * np.sqrt(2 * d + 4 * n_e * k))


def mip_mu_spectrum(eigenvalues: Any, n: float, tau: float = 0.0) -> float:
    """Return the level of one step for a record at the mean K, eigenvalue by eigenvalue.

    Where the covariance of the gradients is known, noise need not be measured against C^2. Along
    an eigenvector with eigenvalue l the effective batch is n + tau^2 n^2 / l, and independent
    directions add up in squares. The Gaussian limit for records with K = d spread evenly
    (delta_i^2 = l_i); no guarantee for others.

    Parameters
    ----------
    eigenvalues : array of shape (d,)
        Of the covariance of the gradients, above 0.
    n, tau : float
        Batch size, and noise as in `mip_mu_step`.

    Raises
    ------
    InputError
        A value is out of range.
    """
    eigenvalues = as_float64("eigenvalues", eigenvalues, 1)
    n, tau = checks.number("n", n), checks.number("tau", tau)
    if not (eigenvalues > 0).all():
        raise InputError(
            f"eigenvalues are as low as {eigenvalues.min()}; give those above 0, without the null "
            "space"
        )
    with np.errstate(over="ignore"):
        n_e = n + (tau * n) ** 2 / eigenvalues
    return float(np.sqrt(np.sum(2 / (2 * n_e + 1))))


def gdp_mu_step(n: float, tau: float, clip: float) -> float:
    """Return the level of one step against the strongest adversary, 2 C / (n tau).

    Parameters
    ----------
    n, tau, clip : float
        Batch size, noise on the mean gradient, clipping norm. Dong et al. (2022) write
        sigma = n tau / (2 C). Without noise the level is infinite.

    Raises
    ------
    InputError
        A value is out of range.
    """
    n, tau = checks.number("n", n, "batch_size"), checks.number("tau", tau)
    clip = checks.clipping(clip)
    return 2 * clip / (n * tau) if tau else np.inf


def mip_mu_of_gdp(mu_gdp: float, d: float, n: float) -> float:
    """Return the level against membership inference of one step that is mu-GDP (Corollary F.1).

    Parameters
    ----------
    mu_gdp : float
        Level of the step against the strongest adversary, above 0.
    d, n : float
        Dimension and batch size; K = d.

    Returns
    -------
    float
        The smaller of sqrt(2 d / (2 n + 8 / mu^2 + 1)) and mu itself. The first is the smaller
        only where mu^2 > (2 d - 8) / (2 n + 1): within a share of about 2 / d of the level
        without noise, or above it.

    Raises
    ------
    InputError
        A value is out of range.
    """
    mu = checks.number("mu_gdp", mu_gdp, "level")
    d, n = checks.number("d", d), checks.number("n", n)
    return float(min(np.sqrt(2 * d / (2 * n + 8 / mu**2 + 1)), mu))


def gdp_mu_of_mip(mu_mip: float, d: float, n: float) -> float:
    """Return the level of differential privacy that Corollary 5.1 asks of one step (Corollary F.1).

    Parameters
    ----------
    mu_mip : float
        Level to reach against membership inference, above 0.
    d, n : float
        As in `mip_mu_of_gdp`.

    Returns
    -------
    float
        2 / sqrt(d / mu^2 - n - 1 / 2); infinite where the step reaches the level without noise.

    Raises
    ------
    InputError
        A value is out of range.
    """
    mu = checks.number("mu_mip", mu_mip, "level")
    d, n = checks.number("d", d), checks.number("n", n)
    if mu >= mip_mu_step(d, n, d):
        return np.inf
    return float(2 / np.sqrt(d / mu**2 - n - 0.5))


def composed_mu(mu_step: float, steps: float) -> float:
    """Return the level of `steps` steps that all see the record, sqrt(T) mu (Section D.3)."""
    mu, steps = checks.number("mu_step", mu_step, "reached level"), checks.number("steps", steps)
    with np.errstate(over="ignore"):
        return float(np.sqrt(steps) * mu)


def subsampled_mu(
    mu_step: float, batch_size: float, n_records: float, steps: float, *, order: str = "either"
) -> float:
    """Return the level of many steps on random batches, in the limit (Lemma 5.1, Equation 10).

    Parameters
    ----------
    mu_step : float
        Level of one step for a record in the batch, 0 or more.
    batch_size, n_records, steps : float
        n, N and T; the rate is c = n sqrt(T) / N.
    order : {"either", "fixed"}
        "either" is the paper's: sqrt 2 c sqrt(exp(mu^2) Phi(3 mu / 2) + 3 Phi(-mu / 2) - 2), which
        covers a record replaced, in either order of the hypotheses. The membership test has one
        fixed null hypothesis, for which c sqrt(exp(mu^2) - 1) is the limit: "fixed".

    Returns
    -------
    float
        mu, infinite where it exceeds the range of float64.

    Raises
    ------
    InputError
        A value is out of range.
    """
    mu = checks.number("mu_step", mu_step, "reached level")
    n = checks.number("batch_size", batch_size)
    n_records, steps = checks.records(n_records, n), checks.number("steps", steps)
    one_of("order", order, ORDERS)
    with np.errstate(over="ignore"):
        excess = np.expm1(np.square(mu))
        if order == "either":
            # The terms of first order cancel; as differences of erf they do so exactly.
            u = mu / np.sqrt(8)
            excess = 2 * (excess * ndtr(1.5 * mu) + 0.5 * erf(3 * u) - 1.5 * erf(u))
    return float(n * np.sqrt(steps) / n_records * np.sqrt(max(excess, 0.0)))


NOTIONS = ("mip", "gdp", "mip-alone")
LEAST = 1e-6


def required_noise(
    mu: float,
    notion: str,
    d: float,
    n: float,
    k: float,
    clip: float | None,
    n_records: float,
    steps: float,
    *,
    statistic: str = "likelihood-ratio",
) -> float:
    """Return the noise on the mean gradient at which training reaches a privacy level.

    Parameters
    ----------
    mu : float
        The level to reach, above 0.
    notion : {"mip", "gdp", "mip-alone"}
        "gdp": Equation 10 over the steps' GDP level, Corollary 4 of Dong et al. (2022).
        "mip-alone": Equation 10 over Corollary 5.1. "mip": the smaller of the two, since
        Theorem 4.2 lets the GDP noise stand for the other; 0 where no noise is needed.
    d, n, k, clip : float
        As in `membership.privacy.mip_tradeoff`; n is the batch size. d and k do not matter for
        "gdp"; `clip` may be None where no noise is needed.
    n_records, steps : float
        N and T.
    statistic : {"likelihood-ratio", "distance"}
        As in `membership.privacy.mip_mu_step`. The released `compute_tau` has "distance"; both
        variants give all 120 entries of Table 5.

    Returns
    -------
    float
        tau, the standard deviation of the noise on each entry of the mean gradient.

    Raises
    ------
    InputError
        A value is out of range, or the level cannot be reached: it needs noise and there is no
        clipping norm, or is below 1e-6.
    """
    mu, n = checks.number("mu", mu, "level"), checks.number("n", n)
    if mu < LEAST:
        raise InputError(f"mu = {mu}: no noise that float64 holds reaches it; give {LEAST} or more")
    one_of("notion", notion, NOTIONS)
    if notion == "gdp":
        return _gdp_noise(mu, n, clip, n_records, steps)

    def level(tau: float) -> float:
        step = mip_mu_step(d, n, k, tau, clip, statistic=statistic)
        return subsampled_mu(step, n, n_records, steps)

    if level(0.0) <= mu:
        return 0.0
    # Without a clipping norm no amount of noise hides an unbounded gradient.
    low, high = 0.0, 4 * checks.clipping(clip) / n
    while level(high) > mu:
        low, high = high, 2 * high
    # pyrefly: ignore[bad-argument-type]
    tau = float(brentq(lambda t: level(t) - mu, low, high, xtol=1e-14 * high, rtol=1e-13))
    return min(tau, _gdp_noise(mu, n, clip, n_records, steps)) if notion == "mip" else tau


def _gdp_noise(mu: float, n: float, clip: float | None, n_records: float, steps: float) -> float:
    clip = checks.clipping(clip)
    high = 1.0
    while subsampled_mu(high, n, n_records, steps) < mu:
        high *= 2
    low = high
    while subsampled_mu(low, n, n_records, steps) > mu:
        low /= 2
    step = low
    if low < high:
        # In logarithms: the level of a step has several orders of magnitude to lie in.
        step = np.exp(
            brentq(
                lambda v: np.log(subsampled_mu(np.exp(v), n, n_records, steps) / mu),
                np.log(low),
                np.log(high),
                xtol=1e-14,
                rtol=1e-14,
            )
        )
    return float(2 * clip / (n * step))
