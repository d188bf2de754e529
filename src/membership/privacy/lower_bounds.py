"""What an attack's scores prove of a training run: lower bounds on its privacy levels.

A level bounds every attack, so an attack that does well refutes small levels. The bounds hold
although the threshold is chosen on the scores: it is chosen on one half of the records, and the
rates are counted on the other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from membership.arrays import BoolArray, FloatArray, as_scored
from membership.errors import InputError

LEAST_RECORDS = 4
Level = Callable[[FloatArray, FloatArray], FloatArray]
"""From a detection rate that is at least so high and a false alarm rate at most so high."""


def epsilon_lower_bound(
    score: Any, member: Any, *, delta: float = 0.0, level: float = 0.95, seed: int = 0
) -> float:
    """Lower confidence bound on epsilon of (epsilon, delta)-differential privacy.

    Under differential privacy TPR <= exp(epsilon) FPR + delta, and TNR <= exp(epsilon) FNR +
    delta, for every test (Kairouz, Oh and Viswanath 2015). Rates are replaced by Clopper-Pearson
    limits (Nasr et al. 2021), on records that had no part in the choice of the threshold.

    Parameters
    ----------
    score : array of shape (records,)
        Higher means member.
    member : bool array of shape (records,)
        The truth; at least four of each.
    delta : float
        In [0, 1).
    level : float
        Confidence that the true epsilon is at least the bound, in (0, 1).
    seed : int
        Of the halves.

    Returns
    -------
    float
        At least 0, in nats. 0 means that nothing is proved.

    Raises
    ------
    InputError
        Shapes differ, a score is NaN, there are too few records of a class, or `delta` or `level`
        is out of range.

    Notes
    -----
    The records' memberships must have been drawn independently of each other; with one model and
    many records that is the one-run audit without its correction, which bounds each record's
    level only where records do not influence each other's scores.
    """
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta is {delta}; give a number of at least 0 and below 1")

    def proved(detected: FloatArray, alarmed: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(detected - delta, 0.0)) - np.log(alarmed)

    return _bound(score, member, proved, level, seed)


def mu_lower_bound(score: Any, member: Any, *, level: float = 0.95, seed: int = 0) -> float:
    """Lower confidence bound on mu of Gaussian differential or membership-inference privacy.

    Under mu every test has Phi^-1(TPR) - Phi^-1(FPR) <= mu (Dong, Roth and Su 2022; Leemann et
    al. 2023, Definition 4.2).

    Parameters, notes and errors are those of `epsilon_lower_bound`, without `delta`.

    Returns
    -------
    float
        At least 0.
    """

    def proved(detected: FloatArray, alarmed: FloatArray) -> FloatArray:
        return stats.norm.ppf(detected) - stats.norm.ppf(alarmed)

    return _bound(score, member, proved, level, seed)


def _bound(score: Any, member: Any, proved: Level, level: float, seed: int) -> float:
    score, member = as_scored(score, member)
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}; give a confidence between 0 and 1, both excluded")
    fewest = min(int(member.sum()), int((~member).sum()))
    if fewest < LEAST_RECORDS:
        raise InputError(
            f"member: {fewest} records of one class; a bound needs at least {LEAST_RECORDS}"
        )
    first = _half(member, seed)
    thresholds = np.unique(score[first])
    # Limits that hold for all thresholds at once: else the choice falls on a lucky extreme one.
    sure = 1 - (1 - level) / thresholds.size
    candidates = _proved(score[first], member[first], thresholds, proved, sure)
    inverted, best = divmod(int(np.argmax(candidates)), thresholds.size)
    final = _proved(score[~first], member[~first], thresholds[[best]], proved, level)
    return max(0.0, float(final[inverted, 0]))


def _half(member: BoolArray, seed: int) -> BoolArray:
    """Half of the members and half of the others, as if at random."""
    order = np.argsort(_mixed(np.arange(member.size, dtype=np.uint32), seed), kind="stable")
    first = np.zeros(member.size, dtype=bool)
    for rows in (order[member[order]], order[~member[order]]):
        first[rows[: rows.size // 2]] = True
    return first


def _mixed(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A hash of 32 bits (C. Wellons' lowbias32): the page that audits in a browser has it too."""
    x = numbers + np.uint32(seed * 0x9E3779B9 % 2**32)
    for factor, shift in ((0x7FEB352D, 16), (0x846CA68B, 15)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    return x ^ (x >> np.uint32(16))


def _proved(
    score: FloatArray, member: BoolArray, thresholds: FloatArray, proved: Level, level: float
) -> FloatArray:
    """What each threshold proves: by detecting members (row 0), and by detecting others (row 1)."""
    n_in, n_out = int(member.sum()), int((~member).sum())
    accepted_in = n_in - np.searchsorted(np.sort(score[member]), thresholds)
    accepted_out = n_out - np.searchsorted(np.sort(score[~member]), thresholds)
    error = (1 - level) / 2  # one side of each of two rates

    def least(count: np.ndarray, total: int) -> FloatArray:
        limit = stats.beta.ppf(error, np.maximum(count, 1), total - count + 1)
        return np.where(count == 0, 0.0, limit)

    def most(count: np.ndarray, total: int) -> FloatArray:
        return 1.0 - least(total - count, total)

    return np.stack(
        [
            proved(least(accepted_in, n_in), most(accepted_out, n_out)),
            proved(least(n_out - accepted_out, n_out), most(n_in - accepted_in, n_in)),
        ]
    )
