"""What other libraries compute of the same signals, by their formulas, a record at a time.

Read in ml_privacy_meter e384af8, LeakPro c47752f, PrivacyGuard fb9c26c, sacroml 2.0.1 and
jax_privacy 2.0.0. Where ours is meant to be another number, both numbers stand here. The reference
attack of ml_privacy_meter is `slow.attack_r`, its attack by a population in `test_references`.
"""

import math
from collections.abc import Callable
from statistics import fmean, pstdev, stdev

import numpy as np
import pytest
from scipy import optimize, stats

from membership import attacks, metrics, privacy
from membership.attacks.adversary import Observed
from membership.attacks.rmia import base_score

A, DELTA, ERROR = 0.3, 1e-5, 0.05
RECORDS, POPULATION, PAIRS = 60, 80, 4


def drawn() -> dict[str, np.ndarray]:
    """Log-odds of a target, of references, half of which had each record, and of a population."""
    rng = np.random.default_rng(7)
    hard, hard_z = rng.normal(1, 1.5, RECORDS), rng.normal(1, 1.5, POPULATION)
    member = np.arange(RECORDS) % 2 == 0
    inside = np.array([rng.permutation(2 * PAIRS) < PAIRS for _ in range(RECORDS)]).T
    noise = rng.normal(0, 0.6, (2 * PAIRS + 1, RECORDS + POPULATION))
    return {
        "own": hard + member + noise[0, :RECORDS],
        "others": hard + inside + noise[1:, :RECORDS],
        "inside": inside,
        "z": hard_z + noise[0, RECORDS:],
        "z_others": hard_z + noise[1:, RECORDS:],
    }


SEEN = drawn()
MEMBER = np.arange(RECORDS) % 2 == 0
P = {name: 1 / (1 + np.exp(-SEEN[name])) for name in ("own", "others", "z", "z_others")}


def of_each(score: Callable, own: np.ndarray, others: np.ndarray, *more) -> np.ndarray:
    """A score of the target's signal and the lists of those of models with and without a record."""
    found = []
    for one, signals, inside in zip(own, others.T, SEEN["inside"].T, strict=True):
        found.append(score(one, [*signals[inside]], [*signals[~inside]], *more))
    return np.array(found)


# Likelihood ratios.


def both(one, inside, out, spread_in=stdev, spread_out=stdev):
    """A spread is a number, or made of the record's own list."""
    ends = [
        stats.norm.logpdf(one, fmean(side), spread(side) if callable(spread) else spread)
        for side, spread in ((inside, spread_in), (out, spread_out))
    ]
    return ends[0] - ends[1]


def above(one, inside, out, spread=stdev):
    """How unlikely a model without the record is to be surer."""
    return stats.norm.cdf(one, fmean(out), spread(out) if callable(spread) else spread)


def apart(one, inside, out, spread):
    return -stats.norm.logpdf(one, fmean(out), spread)


def online(*spreads):
    return of_each(both, SEEN["own"], SEEN["others"], *spreads)


def offline(score, *spreads):
    return of_each(score, SEEN["own"], SEEN["others"], *spreads)


def spread_of_all(side: int) -> float:
    """Between models and between records."""
    lists = of_each(lambda one, *sides: sides[side], SEEN["own"], SEEN["others"])
    return pstdev(lists.ravel())


def mean_of_spreads(side: int) -> float:
    lists = of_each(lambda one, *sides: sides[side], SEEN["own"], SEEN["others"])
    return fmean(map(stdev, lists))


# RMIA and BASE.


def share_beaten(expected: Callable, lists, z_lists) -> np.ndarray:
    """The share of population records whose ratio a record's ratio is above."""
    z = [p / expected(known) for p, known in zip(P["z"], z_lists, strict=True)]
    x = [p / expected(known) for p, known in zip(P["own"], lists, strict=True)]
    return np.array([fmean(one > each for each in z) for one in x])


def mixed(known) -> float:
    return (1 + A) / 2 * fmean(known) + (1 - A) / 2


def meter(kept: int) -> np.ndarray:
    """Of a population record, which no model had, the largest signals are kept."""
    out = of_each(lambda one, inside, out: out, P["own"], P["others"])
    z = [sorted(one, reverse=True)[:kept] for one in P["z_others"].T]
    return share_beaten(mixed, out, z)


def leakpro_base(temperature: float, scale: float | None) -> np.ndarray:
    """Of two classes, whose logits differ by the log-odds; offline the threshold is scaled."""

    def score(own, inside, out):
        sure = [-math.log1p(math.exp(-s / temperature)) for s in (own, *out, *inside)]
        known = sure[1:] if scale is None else sure[1 : 1 + len(out)]
        return sure[0] - (scale or 1) * math.log(fmean(map(math.exp, known)))

    return of_each(score, SEEN["own"], SEEN["others"])


def lira(**options) -> np.ndarray:
    return attacks.lira(SEEN["own"], SEEN["others"], SEEN["inside"], **options)


def base(temperature: float, online: bool) -> np.ndarray:
    name = "log_odds" if temperature == 1 else "halved_log_odds"
    seen = {name: SEEN["own"] / temperature, f"references.{name}": SEEN["others"] / temperature}
    seen["references.member"] = SEEN["inside"]
    return base_score(Observed(np.arange(RECORDS), MEMBER, seen, {}), name, online)


def rmia() -> np.ndarray:
    signals = [P[name] for name in ("own", "others", "z", "z_others")]
    return attacks.rmia(*signals, A, reference_member=SEEN["inside"])


def online_rmia() -> np.ndarray:
    """The share made of our ratio; a population record has no models that were trained on it."""
    own = attacks.rmia_ratio(P["own"], P["others"], reference_member=SEEN["inside"], online=True)
    z = attacks.rmia_ratio(P["z"], P["z_others"], 1.0)
    return np.array([(one > z).mean() for one in own])


EQUAL = {
    "LiRA online, PrivacyGuard": (lambda: online(), lambda: lira()),
    "RMIA offline, LeakPro": (lambda: meter(2 * PAIRS), rmia),
    "RMIA online, PrivacyGuard": (
        lambda: share_beaten(fmean, P["others"].T, P["z_others"].T),
        online_rmia,
    ),
    "BASE online, LeakPro": (lambda: leakpro_base(1, None), lambda: base(1, True)),
    "BASE online at T = 2, LeakPro": (lambda: leakpro_base(2, None), lambda: base(2, True)),
    "BASE offline at T = 2, LeakPro": (lambda: leakpro_base(2, 0.33), lambda: base(2, False)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_scores_are_those_of_the_peer(name: str) -> None:
    theirs, ours = (score() for score in EQUAL[name])
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


SAME_ORDER = {
    # A tail, or its log; ours is the place in standard deviations, which does not round to 1.
    "LiRA offline, sacroml": (lambda: offline(above, pstdev), lambda: lira(mode="offline")),
    "LiRA offline of one spread, LeakPro": (
        lambda: np.log(offline(above, spread_of_all(1))),
        lambda: lira(mode="offline", variance="global"),
    ),
    "LiRA offline of two sides, PrivacyGuard": (
        lambda: offline(apart, stdev(SEEN["own"])),
        lambda: lira(mode="offline", variance="global", sided="two"),
    ),
}


@pytest.mark.parametrize("name", SAME_ORDER)
def test_records_are_ordered_as_by_the_peer(name: str) -> None:
    theirs, ours = (score() for score in SAME_ORDER[name])
    assert (np.diff(theirs[np.argsort(ours)]) > -1e-12).all()
    assert np.unique(theirs.round(12)).size > RECORDS - 10


OTHERWISE = {
    # Spreads of a record divided by n in the place of n - 1.
    "LiRA online, sacroml": (lambda: online(pstdev, pstdev), lira, 19.569, 0.7967, 0.7967),
    # One spread that also has the differences between records in it.
    "LiRA online of one spread, LeakPro and sacroml": (
        lambda: online(spread_of_all(0), spread_of_all(1)),
        lambda: lira(variance="global"),
        *(8.129, 0.8967, 0.8922),
    ),
    # The mean of the records' spreads in the place of the root of the mean of their squares.
    "LiRA online of one spread, PrivacyGuard": (
        lambda: online(mean_of_spreads(0), mean_of_spreads(1)),
        lambda: lira(variance="global"),
        *(1.391, 0.8922, 0.8922),
    ),
    # The half of a population record's models that are surest stand for all of them.
    "RMIA offline, ml_privacy_meter and PrivacyGuard": (
        lambda: meter(PAIRS),
        rmia,
        *(0.125, 0.7789, 0.7783),
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_where_equal_is_not_meant_both_numbers_are_known(name: str) -> None:
    """The largest difference of a record's scores, and the AUC of theirs and of ours."""
    theirs, ours, *known = OTHERWISE[name]
    scores = theirs(), ours()
    areas = [metrics.auc(score, MEMBER) for score in scores]
    assert [np.abs(scores[0] - scores[1]).max(), *areas] == pytest.approx(known, abs=6e-4)


# Bounds on epsilon of scores of 400 records.


def scored() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    member = rng.random(400) < 0.5
    return rng.normal(size=400) + 1.5 * member, member


def upper(count: int, total: int, error: float) -> float:
    return 1.0 if count == total else stats.beta.ppf(1 - error, count + 1, total - count)


def corners(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of a concave curve through counts of misses and of right rejections."""
    kept: list[tuple[int, int]] = []
    for x, y in points:
        while len(kept) > 1:
            (a, b), (c, d) = kept[-2:]
            if (d - b) * (x - c) > (y - d) * (c - a):
                break
            kept.pop()
        kept.append((x, y))
    return kept


def clopper_pearson(both_ways: bool) -> float:
    """The best of all thresholds, each rate with a limit of its own.

    PrivacyGuard looks both ways, and its limits pay for no choice; those of jax_privacy share the
    error among the corners of the curve.
    """
    score, member = scored()
    cuts = [*sorted(score), math.inf]
    points = [(int((score[member] < t).sum()), int((score[~member] < t).sum())) for t in cuts]
    if not both_ways:
        points = corners(points)
    n_in, n_out = int(member.sum()), int((~member).sum())
    error = ERROR / 2 / (1 if both_ways else len(points))
    found = 0.0
    for missed, rejected in points:
        fn, fp = upper(missed, n_in, error), upper(n_out - rejected, n_out, error)
        for miss, alarm in ((fn, fp), (fp, fn))[: 1 + both_ways]:
            if 1 - miss > DELTA:
                found = max(found, math.log((1 - miss - DELTA) / alarm))
    return found


def one_run(guessed: int) -> float:
    """jax_privacy's: the p-value of so many right guesses, half of them of members."""
    score, member = scored()
    order = member[np.argsort(score)]
    right = int(order[-guessed // 2 :].sum() + (~order[: guessed // 2]).sum())

    def excess(epsilon: float) -> float:
        q = 1 / (1 + math.exp(-epsilon))
        alone = stats.binom.sf(right - 1, guessed, q)
        moved = max(
            (stats.binom.sf(right - i - 1, guessed, q) - alone) / i for i in range(1, right + 1)
        )
        return min(alone + moved * DELTA * 2 * member.size, 1) - ERROR

    return optimize.brentq(excess, 0, 20, xtol=1e-9)


@pytest.mark.parametrize("guessed", [40, 120])
def test_one_run_with_the_same_guesses_is_jax_privacys(guessed: int) -> None:
    ours = privacy.one_run_epsilon(*scored(), delta=DELTA, guesses=guessed)
    assert ours == pytest.approx(one_run(guessed), rel=1e-6)
    assert ours > 0.5


@pytest.mark.parametrize(
    ("peer", "theirs", "ours"),
    [
        # A bound too, and smaller: two limits and more thresholds pay for one error.
        ("jax_privacy", 1.2571, 1.8472),
        # No bound: the best of all thresholds, and nothing pays for the choice.
        ("PrivacyGuard", 1.9605, 1.8472),
    ],
)
def test_limits_of_clopper_and_pearson_prove_otherwise(
    peer: str, theirs: float, ours: float
) -> None:
    assert clopper_pearson(peer == "PrivacyGuard") == pytest.approx(theirs, abs=1e-4)
    assert privacy.epsilon_lower_bound(*scored(), delta=DELTA) == pytest.approx(ours, abs=1e-4)
