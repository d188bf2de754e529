"""The noise that a promise costs."""

import math
from collections.abc import Callable, Sequence

from scipy.optimize import brentq

from membership.arrays import one_of
from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.assessment import differential_level, membership_level, susceptibilities
from membership.privacy.composed import RATES
from membership.privacy.numerical import MOST_NUMERICAL_MU
from membership.privacy.runs import Phases, run_of

TARGETS = ("mu", "epsilon", "tpr")
PROTECTIONS = ("differential", "membership")
LEAST_SIGMA, MOST_SIGMA = 1e-3, 1e6


def required_sigma(
    target: str,
    value: float,
    n: float | None = None,
    n_records: float | None = None,
    epochs: float | None = None,
    d: float | None = None,
    k: float | Sequence[float] | None = None,
    *,
    rate: float | None = None,
    steps: float | None = None,
    protect: str = "differential",
    fpr: float = 0.001,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
    history: Phases = (),
    group: int = 1,
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
    n, n_records, epochs, rate, steps, d, k, sampling, adjacency, delta, history, group
        As in `assess`; d is needed to profit from membership privacy. The noise is that of the run
        beside the history, whose phases keep theirs.

    Returns
    -------
    float
        sigma; 0 where no noise is needed. The mean gradient's noise is tau = sigma C / n.

    Raises
    ------
    InputError
        A value is out of range, no accountant exists, or no sigma of 0.001 to 1e6 reaches it.
    """
    one_of("target", target, TARGETS)
    one_of("protect", protect, PROTECTIONS)
    one_of("fpr", fpr, RATES)
    if target == "epsilon" and protect == "membership":
        raise InputError("target = 'epsilon': membership privacy has none; give mu or tpr")
    if target == "tpr":
        accepted = f"a rate above the false positive rate {fpr:g} and below 1"
        value = checks.require("tpr", value, lambda v: fpr < v < 1, accepted)
    else:
        accepted = "a number above 0, at most 100"
        value = checks.require(target, value, lambda v: 0 < v <= 100, accepted)
    sizes = {"n": n, "n_records": n_records, "epochs": epochs, "rate": rate, "steps": steps}
    if history and all(size is None for size in sizes.values()):
        raise InputError("history: its phases have noise; give the run whose noise is sought, too")
    run = run_of({**sizes, "sigma": 0.0}, sampling, adjacency, group, history, d)
    delta, most = checks.number("delta", delta), max(susceptibilities(d, k), default=None)

    def reached(sigma: float) -> float:
        level = differential_level(run.at(sigma))
        if target == "epsilon":
            return level.curve.epsilon(delta)
        if protect == "membership":
            level, _ = membership_level(run.at(sigma), d, most, level)
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
            raise InputError(
                f"{target} = {value:g}: no noise up to sigma = 1e6 reaches it; give more, or a "
                "history that has not spent it"
            )
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

    # pyrefly: ignore[bad-argument-type]
    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-11, rtol=1e-11))
