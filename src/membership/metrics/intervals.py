"""How far a number may be off: over the records queried, over records like these, over repeats.

`interval` takes a threshold as given; for `auc_interval` and `tpr_interval` the records that set it
are a sample too."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from scipy import special

from membership.arrays import (
    BoolArray,
    FloatArray,
    as_float64,
    as_scored,
    check_level,
    check_rate,
    whole,
)
from membership.errors import InputError
from membership.metrics.accuracy import accuracy, balanced_accuracy
from membership.metrics.roc import auc, average_precision, tpr_at_fpr

Statistic = Callable[..., float]

RESAMPLES = 1_000
STATISTICS: dict[str, Statistic] = {
    "accuracy": accuracy,
    "auc": auc,
    "average_precision": average_precision,
    "balanced_accuracy": balanced_accuracy,
    "tpr_at_fpr": tpr_at_fpr,
}


def interval(
    statistic: str | Statistic,
    score: Any,
    member: Any,
    level: float = 0.95,
    method: str = "bootstrap",
    seed: int = 0,
    **arguments: Any,
) -> tuple[float, float]:
    """Confidence interval of a statistic over the records queried.

    It covers the choice of records, given the model attacked; for the spread over models repeat
    the experiment and take `summary`.

    Parameters
    ----------
    statistic : str or callable
        A metric's name ("auc", "tpr_at_fpr", "average_precision", "balanced_accuracy",
        "accuracy"), or a function of (score, member) and `arguments`.
    score, member
        As in `roc_curve`.
    level : float
        Confidence, in (0, 1).
    method : {"bootstrap", "clopper-pearson"}
        "bootstrap": percentiles of 1,000 resamples, members and non-members drawn apart, so that
        their numbers stay. Of no use at the ends of the range: a perfect score gives (1, 1).
        "clopper-pearson": exact for a binomial count, so for "tpr_at_fpr" (among members, the
        threshold taken as given) and "accuracy" (among all records) only.
    seed : int
        Of the resampling.
    **arguments
        Passed on to the statistic, e.g. ``fpr=0.01`` or ``threshold=0.5``.

    Returns
    -------
    low, high : float

    Raises
    ------
    InputError
        As `roc_curve`; an unknown name or method; a level outside (0, 1); Clopper-Pearson for a
        statistic that is no proportion; the bootstrap with fewer than two records of a class.
    """
    score, member = as_scored(score, member)
    check_level(level)
    statistic = named_statistic(statistic)
    if method == "bootstrap":
        return _bootstrap(statistic, score, member, level, seed, arguments)
    if method == "clopper-pearson":
        return _clopper_pearson(statistic, score, member, level, arguments)
    raise InputError(f'method is {method!r}; give "bootstrap" or "clopper-pearson"')


def _bootstrap(
    statistic: Statistic,
    score: np.ndarray,
    member: np.ndarray,
    level: float,
    seed: int,
    arguments: dict[str, Any],
) -> tuple[float, float]:
    members, non_members = score[member], score[~member]
    if min(members.size, non_members.size) < 2:
        raise InputError("the bootstrap needs at least two members and two non-members")
    truth = np.r_[np.ones(members.size, bool), np.zeros(non_members.size, bool)]
    rng = np.random.default_rng(seed)
    drawn = [
        statistic(np.r_[_drawn(members, rng), _drawn(non_members, rng)], truth, **arguments)
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _drawn(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """As many of them, each drawn anew."""
    return values[rng.integers(0, values.size, values.size)]


def _clopper_pearson(
    statistic: Statistic,
    score: np.ndarray,
    member: np.ndarray,
    level: float,
    arguments: dict[str, Any],
) -> tuple[float, float]:
    trials = {tpr_at_fpr: int(member.sum()), accuracy: member.size}.get(statistic)
    if trials is None:
        raise InputError('"clopper-pearson" takes "tpr_at_fpr" or "accuracy"; else "bootstrap"')
    successes = round(statistic(score, member, **arguments) * trials)
    low, high = scipy.stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return float(low), float(high)


def named_statistic(statistic: str | Statistic) -> Statistic:
    """The function behind a metric's name."""
    if not isinstance(statistic, str):
        return statistic
    if statistic not in STATISTICS:
        raise InputError(f"statistic is {statistic!r}; give one of {', '.join(STATISTICS)}")
    return STATISTICS[statistic]


def auc_interval(score: Any, member: Any, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the AUC over records drawn from the same two populations.

    Parameters
    ----------
    score, member
        As in `roc_curve`; at least two of each class.
    level : float
        Confidence, in (0, 1).

    Returns
    -------
    low, high : float
        In [0, 1]: DeLong's interval on the scale of log-odds. Where one class lies wholly above
        the other there is no variance to go by: then the exact interval of as many independent
        pairs as the smaller class has records.

    Raises
    ------
    InputError
        As `roc_curve`; fewer than two records of a class, or a level outside (0, 1).
    """
    score, member = _two_of_each(score, member, level)
    n_in, n_out = int(member.sum()), int((~member).sum())
    ranks = scipy.stats.rankdata(score)
    above_out = (ranks[member] - scipy.stats.rankdata(score[member])) / n_out
    below_in = 1 - (ranks[~member] - scipy.stats.rankdata(score[~member])) / n_in
    area = float(above_out.mean())
    if area in (0.0, 1.0):
        pairs = min(n_in, n_out)
        exact = scipy.stats.binomtest(round(area * pairs), pairs).proportion_ci(
            level, method="exact"
        )
        return float(exact.low), float(exact.high)
    error = np.sqrt(above_out.var(ddof=1) / n_in + below_in.var(ddof=1) / n_out)
    half = scipy.stats.norm.ppf((1 + level) / 2) * error / (area * (1 - area))
    low, high = special.expit(special.logit(area) + np.array([-half, half]))
    return float(low), float(high)


def tpr_interval(score: Any, member: Any, fpr: float, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the TPR where the *true* false-positive rate is `fpr`.

    How many of N non-members score above the threshold with that rate is a binomial count, and for
    each count the members above it give an exact law of the TPR (Clopper and Pearson); the ends
    are quantiles of these laws' mixture, so that both errors count without being added up.

    Parameters
    ----------
    score, member
        As in `roc_curve`.
    fpr : float
        In (0, 1).
    level : float
        Confidence, in (0, 1).

    Returns
    -------
    low, high : float
        In [0, 1]. Ties count against the attacker below and for it above. With few non-members
        the interval is wide.

    Raises
    ------
    InputError
        As `roc_curve`; fewer than two records of a class, or a rate or level out of range.

    Notes
    -----
    Of normal and of tied scores, 30 to 1,000 of each class, at rates of 0.1% to 10%, it covers the
    truth in 95% to 100% of draws; the more, the fewer false positives are expected.
    """
    score, member = _two_of_each(score, member, level)
    check_rate(fpr)
    members, others = np.sort(score[member]), np.sort(score[~member])
    count, weight = _likely_counts(others.size, fpr)
    # The threshold lies below the count-th highest of the others and above the next.
    upper, lower = np.r_[others, np.inf], np.r_[-np.inf, others]
    sure = members.size - np.searchsorted(members, upper[others.size - count], "right")
    missed = np.searchsorted(members, lower[others.size - count])
    low = _mixture_quantile(sure, members.size, weight, (1 - level) / 2)
    return low, 1.0 - _mixture_quantile(missed, members.size, weight, (1 - level) / 2)


def _likely_counts(n: int, rate: float) -> tuple[np.ndarray, FloatArray]:
    """Counts of n with their binomial weights: all likely ones, or 200 to 400 spread over them."""
    far = 6 * math.sqrt(n * rate * (1 - rate))
    low, high = max(0, math.floor(n * rate - far)), min(n, math.ceil(n * rate + far) + 12)
    count = np.arange(low, high + 1, max(1, (high - low) // 200))
    weight = scipy.stats.binom.pmf(count, n, rate)
    return count, weight / weight.sum()


def _mixture_quantile(
    successes: np.ndarray, n: int, weight: FloatArray, probability: float
) -> float:
    """Of the lower Clopper-Pearson laws of counts of successes, mixed by weights."""
    successes, place = np.unique(successes, return_inverse=True)
    shares = np.bincount(place, weight)
    none = float(shares[successes == 0].sum())
    if none >= probability:
        return 0.0
    shares, successes = shares[successes > 0], successes[successes > 0]
    low, high = 0.0, 1.0
    while high - low > 1e-14 * high and (low + high) / 2 not in (low, high):
        middle = (low + high) / 2
        reached = none + shares @ special.betainc(successes, n - successes + 1, middle)
        low, high = (middle, high) if reached < probability else (low, middle)
    return high


def _two_of_each(score: Any, member: Any, level: float) -> tuple[FloatArray, BoolArray]:
    score, member = as_scored(score, member)
    if min(int(member.sum()), int((~member).sum())) < 2:
        raise InputError("member holds a single record of a class; give at least two of each")
    check_level(level)
    return score, member


def summary(
    values: Any,
    units: Any = None,
    *,
    asked: int | None = None,
    scale: float = 1.0,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> dict[str, float]:
    """Mean of repeats with Student's 95% interval, standard error and degrees of freedom.

    The interval is the mean less and plus Student's t, of units - 1 degrees of freedom, times the
    standard error: it takes the units for independent and normal, and resamples nothing.

    Parameters
    ----------
    values : array of shape (repeats,)
        One number a repeat.
    units : array of shape (repeats,), optional
        Which independent unit each repeat belongs to: a model and the one trained on the
        complementary records are one unit. Repeats of a unit are averaged first.
    asked : int, optional
        For rates: how many records were asked in all repeats. Where every unit gives the same
        rate, its standard error is at least the binomial one, sqrt(p(1 - p)/asked) with
        p = (k + 1/2)/(asked + 1): five zeros are not exact.
    scale : float
        What a rate of 1 is in `values`: 100 for percent.
    lowest, highest : float
        The interval, and not the standard error, is cut to what is possible.

    Returns
    -------
    dict
        value, low, high, standard_error, degrees_of_freedom, n_repeats (independent units). With
        one unit, low, high and standard_error are NaN and degrees_of_freedom is 0.

    Raises
    ------
    InputError
        No values, one that is not finite, or units of another shape than the values.
    """
    values = as_float64("values", values, 1)
    mean, means, weights = _by_unit(values, units)
    degrees = len(means) - 1
    row = {"value": mean, "low": math.nan, "high": math.nan, "standard_error": math.nan}
    if degrees:
        error = float(np.std(means, ddof=1) * np.sqrt(np.sum(weights**2)))
        if asked is not None and np.ptp(means) == 0:
            error = max(error, scale * rate_error(mean / scale, asked))
        half = float(scipy.stats.t.ppf(0.975, degrees)) * error
        row |= {"low": max(mean - half, lowest), "high": min(mean + half, highest)}
        row["standard_error"] = error
    return {**row, "degrees_of_freedom": degrees, "n_repeats": len(means)}


def exactly(value: float) -> dict[str, float]:
    """A number without error, as the columns of `summary`."""
    error = {"standard_error": 0.0, "degrees_of_freedom": math.inf}
    return {"value": value, "low": value, "high": value, **error, "n_repeats": 0}


def rate_error(rate: float, asked: int) -> float:
    """Binomial standard error of a rate, positive also where the rate is 0 or 1."""
    whole("asked", asked)
    p = (rate * asked + 0.5) / (asked + 1)
    if not 0 < p < 1:
        raise InputError(f"rate = {rate}: expected a number from 0 to 1")
    return math.sqrt(p * (1 - p) / asked)


def _by_unit(values: np.ndarray, units: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """The mean of all repeats, each unit's mean, and each unit's share of the repeats."""
    mean = float(np.mean(values))
    if units is None:
        return mean, values, np.full(values.size, 1 / values.size)
    units = np.asarray(units)
    if units.shape != values.shape:
        raise InputError(f"units has shape {units.shape} and values {values.shape}; give the same")
    _, index, counts = np.unique(units, return_inverse=True, return_counts=True)
    return mean, np.bincount(index, weights=values) / counts, counts / values.size
