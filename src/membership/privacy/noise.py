"""How much noise a promise costs."""

import numpy as np
from scipy.optimize import brentq

from membership.arrays import one_of
from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.levels import mip_mu_step, subsampled_mu

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
    mu, n = checks.level("mu", mu), checks.batch(n)
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
