"""What an attack's scores prove of a training run: lower bounds on its privacy levels.

A level bounds every attack, so an attack that does well refutes small levels. Thresholds are the
1st, 4th, 16th ... highest scores of one class, and its median, and they share the error: nothing
is drawn, and neither the order of the records nor the scale of the scores counts.

`one_run` has the bounds of a design that supposes less of the scores and more of the memberships.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special

from membership.arrays import BoolArray, FloatArray, as_scored, check_delta, check_level
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
