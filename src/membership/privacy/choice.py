"""From a promise to the noise that keeps it."""

import math
from collections.abc import Callable

from scipy.optimize import brentq

from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.assessment import RATES, differential_level, membership_level
from membership.privacy.numerical import MOST_NUMERICAL_MU
from membership.privacy.schedule import schedule

TARGETS = ("mu", "epsilon", "tpr")
PROTECTIONS = ("differential", "membership")
LEAST_SIGMA, MOST_SIGMA = 1e-3, 1e6


def required_sigma(
    target: str,
    value: float,
    n: float,
    n_records: float,
    epochs: float,
    d: float | None = None,
    k: float | None = None,
    *,
    protect: str = "differential",
    fpr: float = 0.001,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
) -> float:
    """Return the noise multiplier at which training keeps a promise; `assess` goes back.

    Parameters
    ----------
    target : {"mu", "epsilon", "tpr"}
        What `value` is: a level of all steps, epsilon at `delta`, or the TPR that no attack exceeds
        at `fpr`.
    value : float
        Above 0; a TPR lies above `fpr` and below 1.
    protect : {"differential", "membership"}
        Whose level or TPR: that of differential privacy or that of membership inference.
    fpr : {0.001, 0.01, 0.1}
        The false positive rate of a TPR.
    n, n_records, epochs, d, k, sampling, adjacency, delta
        As in `assess`; d is needed to profit from membership privacy.

    Returns
    -------
    float
        sigma; 0 where no noise is needed. The mean gradient's noise is tau = sigma C / n.

    Raises
    ------
    InputError
        A value is out of range, no accountant exists, or no sigma of 0.001 to 1e6 reaches it.
    """
    for name, given, known in (
        ("target", target, TARGETS),
        ("protect", protect, PROTECTIONS),
        ("fpr", fpr, RATES),
    ):
        if given not in known:
            raise InputError(f"{name} = {given!r}: give one of {', '.join(map(str, known))}")
    if target == "epsilon" and protect == "membership":
        raise InputError("target = 'epsilon': membership privacy has none; give mu or tpr")
    value = checks.promise(target, value, fpr)
    run, delta = schedule(n, n_records, epochs, sampling, adjacency), checks.delta(delta)

    def reached(sigma: float) -> float:
        level, epsilon = differential_level(run, sigma, delta)
        if target == "epsilon":
            return epsilon
        if protect == "membership":
            level, _ = membership_level(run, sigma, d, k, level)
        return level.mu if target == "mu" else level.tpr[RATES.index(fpr)]

    if reached(0.0) <= value:
        return 0.0
    return _root(reached, value, max(LEAST_SIGMA, run.reach / MOST_NUMERICAL_MU), target)


def _root(reached: Callable[[float], float], value: float, least: float, target: str) -> float:
    """Where a falling function of sigma has this value, sought in powers of 2 from 1."""
    high = 1.0
    while reached(high) > value:
        high *= 2
        if high > MOST_SIGMA:
            raise InputError(f"{target} = {value:g}: no noise up to sigma = 1e6 reaches it")
    low = high / 2
    while (at_low := reached(max(low, least))) <= value:
        if low <= least:
            return least
        low /= 2
    low = max(low, least)
    if math.isinf(at_low):
        raise InputError(f"{target} = {value:g}: next to no privacy; give a smaller value")

    def excess(log_sigma: float) -> float:
        return reached(math.exp(log_sigma)) - value

    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-11, rtol=1e-11))
