"""What an attack's scores prove of a training run: lower bounds on its privacy levels.

A level bounds every attack, so an attack that does well refutes small levels. Thresholds are the
1st, 4th, 16th ... highest scores of one class, and its median, and they share the error: nothing
is drawn, and neither the order of the records nor the scale of the scores counts.

Where a fair coin of its own decided on each record of one run, the highest scores are guessed to
be members, the lowest not, and the correct guesses are counted. How many guesses are made is fixed
before the scores are seen: several counts share the error. Where scores tie at the edge of the
guesses, those that would be wrong are taken.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special, stats

from membership.arrays import BoolArray, FloatArray, as_scored, check_delta, check_level, whole
from membership.errors import InputError

LEAST_RECORDS = 4
SPACING = 4
NODES = 200
_LOST = 1e-10
Power = Callable[[FloatArray, float], FloatArray]
"""The highest detection rate that a level allows where the false alarm rate is Phi(z), of z."""


def epsilon_lower_bound(
    score: Any, member: Any, *, delta: float = 0.0, level: float = 0.95
) -> float:
    """Lower confidence bound on epsilon of (epsilon, delta)-differential privacy.

    Under differential privacy TPR <= exp(epsilon) FPR + delta, and TNR <= exp(epsilon) FNR +
    delta, for every test (Kairouz, Oh and Viswanath 2015). Above the k-th highest of N
    non-members' scores the FPR follows Beta(k, N - k + 1), whatever the scores' law, and the
    members there are a binomial count: an epsilon is refuted where so many are too unlikely.

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
    The records must be independent trials: memberships drawn independently of each other, and no
    record's score moved by another's membership. With one model and many records the second is an
    approximation.
    """
    check_delta(delta)

    def allowed(z: FloatArray, epsilon: float) -> FloatArray:
        return np.minimum(np.exp(epsilon) * special.ndtr(z) + delta, 1.0)

    return _bound(score, member, allowed, level)


def mu_lower_bound(score: Any, member: Any, *, level: float = 0.95) -> float:
    """Lower confidence bound on mu of Gaussian differential or membership-inference privacy.

    Under mu every test has Phi^-1(TPR) - Phi^-1(FPR) <= mu (Dong, Roth and Su 2022; Leemann et
    al. 2023, Definition 4.2).

    Parameters, notes and errors are those of `epsilon_lower_bound`, without `delta`.

    Returns
    -------
    float
        At least 0.
    """
    return _bound(score, member, lambda z, mu: special.ndtr(z + mu), level)


class Test(NamedTuple):
    """One threshold: what its false alarm rate may be, as weights of z, and what it detects."""

    z: FloatArray
    weight: FloatArray
    detected: int
    total: int

    def chance(self, allowed: Power, value: float) -> float:
        """The chance to detect so many at a level."""
        rest = self.total - self.detected + 1
        return float(self.weight @ special.betainc(self.detected, rest, allowed(self.z, value)))


def places(n: int) -> list[int]:
    """Which highest scores of n are thresholds: 1, 4, 16 ... of the upper half, and its last."""
    return sorted({SPACING**i for i in range(n.bit_length()) if 2 * SPACING**i <= n} | {n // 2})


def n_thresholds(member: BoolArray) -> int:
    """Among how many thresholds, of both classes, a bound's error is shared."""
    n_in = int(member.sum())
    return len(places(n_in)) + len(places(member.size - n_in))


def _bound(score: Any, member: Any, allowed: Power, level: float) -> float:
    score, member = as_scored(score, member)
    check_level(level)
    fewest = min(int(member.sum()), int((~member).sum()))
    if fewest < LEAST_RECORDS:
        raise InputError(
            f"member: {fewest} records of one class; a bound needs at least {LEAST_RECORDS}"
        )
    error, best = (1 - level) / n_thresholds(member), 0.0
    for test in (*_tests(score, member), *_tests(-score, ~member)):
        if test.chance(allowed, best) > error:
            continue
        above = best + 1.0
        while test.chance(allowed, above) <= error:
            above *= 2
        found = optimize.root_scalar(
            lambda value, test=test: test.chance(allowed, value) - error,
            bracket=(best, above),
            xtol=1e-12,
        )
        best = float(found.root)
    return best


def _tests(score: FloatArray, target: BoolArray) -> list[Test]:
    """Thresholds at high scores of the others, in detection of the target."""
    found, others = np.sort(score[target]), np.sort(score[~target])
    tests = []
    for k in places(others.size):
        # Where others tie there, fewer of them lie above than k - 1.
        first = np.searchsorted(others, others[-k], "right")
        detected = found.size - int(np.searchsorted(found, others[-k], "right"))
        if detected:
            tests.append(Test(*_rate(others.size - int(first), others.size), detected, found.size))
    return tests


def _rate(alarms: int, total: int) -> tuple[FloatArray, FloatArray]:
    """The law of the false alarm rate, Beta(alarms + 1, total - alarms), at z = Phi^-1 of it."""
    a, b = alarms + 1, total - alarms
    ends = special.ndtri([special.betaincinv(a, b, _LOST), special.betainccinv(a, b, _LOST)])
    z = np.linspace(ends[0], ends[1], NODES)
    log = (a - 1) * special.log_ndtr(z) + (b - 1) * special.log_ndtr(-z) - z**2 / 2
    weight = np.exp(log - log.max())
    return z, weight / weight.sum()


SHARES = (2, 8, 32)
"""Unless chosen, guesses are made on one record in so many."""
LEAST_GUESSES = 8
"""Fewer guesses, all of them right, refute nothing at 95% where three counts share the error."""
UNFAIR = 1e-4
"""Below this p-value of the two-sided binomial test the inclusions are not those of a fair coin."""
MOST = 60.0
"""Where a level is no longer told from none in float64; no bound is above."""
Refutes = Callable[[int, int, int, float], bool]
"""Of records, guesses, correct guesses and a level: is that level refuted?"""


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
        Several counts share the error; None is a half, an eighth and a thirty-second of the
        records, as far as that is 8 or more.

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
    """
    check_delta(delta)
    score, member, counts, error = _design(score, member, level, guesses)

    def refutes(records: int, guessed: int, right: int, epsilon: float) -> bool:
        return chance(records, guessed, right, epsilon, delta) <= error

    return _largest(score, member, counts, refutes)


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
    score, member, counts, error = _design(score, member, level, guesses)

    def refutes(records: int, guessed: int, right: int, mu: float) -> bool:
        return recursion(records, guessed, right, mu, error)

    return _largest(score, member, counts, refutes)


def chance(records: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """The highest chance of so many right guesses under (epsilon, delta)-DP."""
    q = float(special.expit(epsilon))
    if not right:
        return 1.0
    # SciPy's binomial law takes ten times as long for the same number.
    alone = float(special.betainc(right, guessed - right + 1, q))
    if not delta:
        return alone
    below = np.cumsum(stats.binom.pmf(np.arange(right - 1, -1, -1), guessed, q))
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


def right_guesses(score: FloatArray, member: BoolArray, guessed: int) -> int:
    """How many of the highest and lowest scores are guessed right, ties at the edge as if wrong."""
    high = (guessed + 1) // 2
    return _found(score, member, high) + _found(-score, ~member, guessed - high)


def fair(member: BoolArray) -> float:
    """The p-value of a fair coin for each record, two-sided."""
    return float(stats.binomtest(int(member.sum()), member.size).pvalue)


def counts_for(records: int) -> list[int]:
    """How many guesses are made of so many records unless that is chosen."""
    counts = [records // share for share in SHARES if records // share >= LEAST_GUESSES]
    return counts or [records]


def _found(score: FloatArray, target: BoolArray, guessed: int) -> int:
    if not guessed:
        return 0
    edge = np.partition(score, -guessed)[-guessed]
    above, tied = score > edge, score == edge
    wrong = int((tied & ~target).sum())
    return int((above & target).sum()) + max(guessed - int(above.sum()) - wrong, 0)


def _design(
    score: Any, member: Any, level: float, guesses: int | Sequence[int] | None
) -> tuple[FloatArray, BoolArray, list[int], float]:
    """What both bounds need, checked; the last is each count's share of the error."""
    score, member = as_scored(score, member)
    check_level(level)
    if (p := fair(member)) < UNFAIR:
        raise InputError(
            f"member: {member.sum()} of {member.size} records are members; a fair coin for each "
            f"gives so uneven a split with p = {p:.1e} (two-sided binomial test, at least "
            f"{UNFAIR:g} is asked); use the bounds of the default design"
        )
    counts = counts_for(score.size) if guesses is None else _counts(guesses)
    if max(counts) > score.size:
        raise InputError(f"guesses = {max(counts)}: there are {score.size} records; give at most")
    return score, member, counts, (1 - level) / len(counts)


def _counts(guesses: int | Sequence[int]) -> list[int]:
    counts = list(guesses) if isinstance(guesses, Sequence) else [guesses]
    if not counts:
        raise InputError("guesses = []: give at least one number of guesses")
    for count in counts:
        whole("guesses", count)
    return sorted(set(counts))


def _largest(score: FloatArray, member: BoolArray, counts: list[int], refutes: Refutes) -> float:
    """The largest level that some number of guesses refutes."""
    best = 0.0
    for guessed in counts:
        right = right_guesses(score, member, guessed)
        refuted = best
        if not refutes(score.size, guessed, right, refuted):
            continue
        above = refuted + 1.0
        while above < MOST and refutes(score.size, guessed, right, above):
            refuted, above = above, min(2 * above, MOST)
        best = _edge(
            lambda value, g=guessed, v=right: refutes(score.size, g, v, value), refuted, above
        )
    return best


def _edge(refuted: Callable[[float], bool], low: float, high: float) -> float:
    """Where refuted levels end between one that is and one that is not, from below."""
    while high - low > 1e-9 * max(high, 1.0):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
