"""Lower bounds on privacy levels from one run in which a fair coin decided on each record.

The highest scores are guessed to be members, the lowest not, or one side alone is guessed, and the
correct guesses are counted. How many guesses are made of which side is fixed before the scores are
seen, and the tries share the error. Records of one score stand in an order that no coin has moved.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy import special

from membership.arrays import BoolArray, FloatArray, as_scored, check_delta, check_level, whole
from membership.errors import InputError

SHARES = (1.5, 8, 32)
"""Unless chosen, guesses of both sides are made on one record in so many."""
ONE_SIDED, THEIR_ERROR = 32, 0.25
"""And on one in so many of each side alone, where a rare leak lies; together at this share of the
error, which leaves the others nearly what they had."""
LEAST_GUESSES = 8
"""Fewer guesses, all of them right, refute nothing at 95% where three counts share the error."""
UNFAIR = 1e-4
"""Below this p-value of the two-sided binomial test the inclusions are not those of a fair coin."""
MOST = 60.0
"""Where a level is no longer told from none in float64; no bound is above."""
Refutes = Callable[[int, int, int, float, float], bool]
"""Of records, guesses, correct guesses, a level and an error: is that level refuted?"""


class Guesses(NamedTuple):
    """A try: how many of the highest scores are called members, of the lowest none."""

    high: int
    low: int
    share: float
    """Of the error."""

    @property
    def made(self) -> int:
        return self.high + self.low


def one_run_epsilon(
    score: Any,
    member: Any,
    *,
    delta: float = 0.0,
    level: float = 0.95,
    guesses: int | Sequence[int] | None = None,
) -> float:
    """Lower confidence bound on epsilon of (epsilon, delta)-DP, from one run with fair coins.

    Under (epsilon, 0)-DP each of r guesses is right with a chance of at most q = e^epsilon / (1 +
    e^epsilon), whatever the others are: no more are right than Binomial(r, q) says. A delta moves
    up to 2 m delta of m records on average, which adds 2 m delta max_i P[v > Binomial(r, q) >=
    v - i] / i to the p-value of v correct guesses (Steinke, Nasr and Jagielski 2023, *Privacy
    Auditing with One (1) Training Run*, Theorem 5.2 and Corollary 5.4).

    Parameters
    ----------
    score : array of shape (records,)
        Higher means member. All records whose coin was tossed, guessed or not.
    member : bool array of shape (records,)
        How the coins fell: which records were trained on.
    delta : float
        In [0, 1).
    level : float
        Confidence that the true epsilon is at least the bound, in (0, 1).
    guesses : int, sequence of int or None
        How many records are guessed, half of them as members, fixed without a look at the scores.
        Several counts share the error. None is two thirds, an eighth and a thirty-second of the
        records, as far as that is 8 or more, and a thirty-second as members alone and as
        non-members alone, which share a quarter of the error.

    Returns
    -------
    float
        At least 0, in nats. 0 means that nothing is proved.

    Raises
    ------
    InputError
        Shapes differ, a score is NaN, all records are members or none, their number is not one of
        fair coins (two-sided binomial test, p < 1e-4), or `delta`, `level` or `guesses` is out of
        range.

    Notes
    -----
    What is assumed: each record was included by its own fair coin, the run saw the coins only
    through the records, and the attack saw them only through the run. Scores may depend on each
    other in any way, and the adjacency is to add or remove one record. The bound is of the
    algorithm that this run is one draw of. Exactly half of a data set drawn without replacement is
    not that design, and the data cannot show the difference.

    One side and ties keep the theorem. Given what the run released, and the coins of other
    records, the odds of a coin are within e^epsilon of even, at a delta of 0. So a guess of it is
    right with a chance of at most q, whichever side is guessed, as long as *whether* and *how* it
    is guessed follows from the release and from draws that know no coin. Taking the guessed
    records one after another, the right guesses are then at most Binomial(r, q), and r may be all
    of one side. The theorem's step to a delta does not ask for the side either. Records that tie
    are guessed in an order of chance, which knows no coin: its seed is a digest, so that a file has
    one bound. An order by the worst case would also hold, and proves nothing of scores with few
    values.
    """
    check_delta(delta)

    def refutes(records: int, guessed: int, right: int, epsilon: float, error: float) -> bool:
        return chance(records, guessed, right, epsilon, delta) <= error

    return _largest(score, member, level, guesses, refutes)


def one_run_mu(
    score: Any,
    member: Any,
    *,
    level: float = 0.95,
    guesses: int | Sequence[int] | None = None,
) -> float:
    """Lower confidence bound on mu of Gaussian differential privacy, from one run with fair coins.

    The chances of i right guesses among c obey a recursion in the trade-off function, whose end
    must not exceed c / m (Mahloujifar, Melis and Chaudhuri 2024, *Auditing f-Differential Privacy
    in One Run*, Algorithm 3, with two choices for each of m records).

    Parameters, notes and errors are those of `one_run_epsilon`, without `delta`:
    `gaussian_epsilon` tells which epsilon mu means at a delta.

    Returns
    -------
    float
        At least 0. 0 means that nothing is proved.
    """
    return _largest(score, member, level, guesses, recursion)


def chance(records: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """The highest chance of so many right guesses under (epsilon, delta)-DP."""
    q = float(special.expit(epsilon))
    if not right:
        return 1.0
    # SciPy's binomial law takes ten times as long for the same number.
    alone = float(special.betainc(right, guessed - right + 1, q))
    if not delta:
        return alone
    below = np.cumsum(scipy.stats.binom.pmf(np.arange(right - 1, -1, -1), guessed, q))
    moved = float((below / np.arange(1, right + 1)).max())
    return min(alone + 2 * records * delta * moved, 1.0)


def recursion(records: int, guessed: int, right: int, mu: float, error: float) -> bool:
    """Whether Gaussian privacy at mu allows so many right guesses less often than `error`."""
    found, missed = error * right / records, error * (guessed - right) / records
    for i in range(right - 1, -1, -1):
        allowed = float(special.ndtr(special.ndtri(min(found, 1.0)) - mu))
        if allowed > missed:
            found, missed = found + i / (guessed - i) * (allowed - missed), allowed
        if found + missed > guessed / records:
            return True
        if allowed < missed:
            # Neither changes from here on.
            break
    return False


def in_order(score: FloatArray, member: BoolArray) -> BoolArray:
    """The truth from the lowest score to the highest; where scores tie, in an order of chance.

    Its draws have a digest for a seed, of which scores tie and of whose they are: the same for the
    same records in any order, and as good as fresh for any others.
    """
    first = np.lexsort((member, score))
    score, member = score[first], member[first]
    is_new = np.diff(score, prepend=np.nan) != 0
    seed = int.from_bytes(hashlib.sha256(is_new.tobytes() + member.tobytes()).digest(), "big")
    drawn = np.random.default_rng(seed).random(score.size)
    return member[np.lexsort((drawn, score))]


def right_guesses(truth: BoolArray, guesses: Guesses) -> int:
    """How many guesses of records from the lowest score to the highest are right."""
    members = int(truth[truth.size - guesses.high :].sum())
    return members + guesses.low - int(truth[: guesses.low].sum())


def fair(member: BoolArray) -> float:
    """The p-value of a fair coin for each record, two-sided."""
    return float(scipy.stats.binomtest(int(member.sum()), member.size).pvalue)


def tries_for(records: int, chosen: int | Sequence[int] | None = None) -> list[Guesses]:
    """What is guessed of so many records, with each try's share of the error."""
    if chosen is not None:
        counts = _counts(chosen)
        return [Guesses((n + 1) // 2, n // 2, 1 / len(counts)) for n in counts]
    counts = [int(records / share) for share in SHARES if records / share >= LEAST_GUESSES]
    counts, alone = counts or [records], records // ONE_SIDED
    spent = THEIR_ERROR if alone >= LEAST_GUESSES else 0.0
    both = [Guesses((n + 1) // 2, n // 2, (1 - spent) / len(counts)) for n in counts]
    return [*both, *([Guesses(alone, 0, spent / 2), Guesses(0, alone, spent / 2)] if spent else [])]


def _counts(guesses: int | Sequence[int]) -> list[int]:
    counts = list(guesses) if isinstance(guesses, Sequence) else [guesses]
    if not counts:
        raise InputError("guesses = []: give at least one number of guesses")
    for count in counts:
        whole("guesses", count)
    return sorted(set(counts))


def require_fair(member: BoolArray) -> None:
    """Raise an InputError where fair coins would hardly give so many members."""
    if (p := fair(member)) < UNFAIR:
        raise InputError(
            f"member: {member.sum()} of {member.size} records are members; a fair coin for each "
            f"gives so uneven a split with p = {p:.1e} (two-sided binomial test, at least "
            f"{UNFAIR:g} is asked); use the bounds of the default design"
        )


def _largest(
    score: Any,
    member: Any,
    level: float,
    guesses: int | Sequence[int] | None,
    refutes: Refutes,
) -> float:
    """The largest level that some try refutes."""
    score, member = as_scored(score, member)
    check_level(level)
    require_fair(member)
    records, best = score.size, 0.0
    tries = tries_for(records, guesses)
    if (most := max(one.made for one in tries)) > records:
        raise InputError(f"guesses = {most}: there are {records} records; give at most")
    truth = in_order(score, member)
    for one in tries:
        right, error = right_guesses(truth, one), (1 - level) * one.share

        def refuted(value: float, n: int = one.made, v: int = right, a: float = error) -> bool:
            return refutes(records, n, v, value, a)

        best = _raised(refuted, best)
    return best


def _raised(refuted: Callable[[float], bool], best: float) -> float:
    """The largest refuted level, where that is above the best so far."""
    if not refuted(best):
        return best
    above = best + 1.0
    while above < MOST and refuted(above):
        best, above = above, min(2 * above, MOST)
    return _edge(refuted, best, above)


def _edge(refuted: Callable[[float], bool], low: float, high: float) -> float:
    """Where refuted levels end between one that is and one that is not, from below."""
    while high - low > 1e-9 * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
