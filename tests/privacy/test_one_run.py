"""Bounds of one run with fair coins: exact references, closed forms, and how often they hold."""

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy import special

from membership import privacy
from membership.privacy import one_run
from membership.privacy.one_run import Guesses

RUNS = 400
SLACK = 3 * np.sqrt(0.05 * 0.95 / RUNS)
"""Three standard errors of a rate of 5% among so many runs."""
Drawn = tuple[np.ndarray, np.ndarray]


def gaussian(mu: float, n: int, seed: int) -> Drawn:
    """A Gaussian mechanism releases each coin with noise of 1 / mu."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    return rng.normal(size=n) + mu * member, member


def rounded(mu: float, n: int, seed: int) -> Drawn:
    score, member = gaussian(mu, n, seed)
    return score.round(), member


def randomised_response(epsilon: float, n: int, seed: int) -> Drawn:
    """Each coin is told truly with odds exp(epsilon): no mechanism lets one guess better."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    right = rng.random(n) < special.expit(epsilon)
    return np.where(right, member, ~member).astype(float), member


def all_or_nothing(delta: float, n: int, seed: int) -> Drawn:
    """(0, delta)-DP at its worst: a coin is told with a chance of delta, and known to be."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    told = rng.random(n) < delta
    return np.where(told, np.where(member, 2.0, -2.0), rng.random(n)), member


def subsampled(mu: float, n: int, seed: int) -> Drawn:
    """A tenth of the members shows, far above all others: a leak of one side."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    return rng.normal(size=n) + mu * (member & (rng.random(n) < 0.1)), member


def one_in_twenty(epsilon: float, n: int, seed: int) -> Drawn:
    """Said of few that they are members, and seldom wrongly: two values, and epsilon exactly."""
    rng = np.random.default_rng(seed)
    member = rng.random(n) < 0.5
    rate = 0.05 * np.where(member, 1, np.exp(-epsilon))
    return (rng.random(n) < rate).astype(float), member


def by_summation(m: int, r: int, v: int, q: Fraction, delta: Fraction) -> Fraction:
    """The chance of v right guesses as Theorem 5.2 has it, in exact fractions."""
    mass = [comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
    moved = max((sum(mass[v - i : v], Fraction(0)) / i for i in range(1, v + 1)), default=0)
    return min(sum(mass[v:], Fraction(0)) + 2 * m * delta * moved, Fraction(1))


def by_arrays(m: int, c: int, right: int, mu: float, error: float) -> bool:
    """The recursion as it is printed, in full, without an early end."""
    r, h = np.zeros(right + 1), np.zeros(right + 1)
    r[right], h[right] = error * right / m, error * (c - right) / m
    for i in range(right - 1, -1, -1):
        h[i] = max(h[i + 1], special.ndtr(special.ndtri(min(r[i + 1], 1.0)) - mu))
        r[i] = r[i + 1] + i / (c - i) * (h[i] - h[i + 1])
    return bool(r[0] + h[0] > c / m)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**5), Fraction(1, 100)])
@pytest.mark.parametrize(("m", "r"), [(10, 1), (10, 7), (100, 40)])
def test_the_chance_is_that_of_exact_fractions(m: int, r: int, delta: Fraction) -> None:
    for odds in (1, 2, 9):
        for v in range(r + 1):
            exact = by_summation(m, r, v, Fraction(odds, odds + 1), delta)
            found = one_run.chance(m, r, v, log(odds), float(delta))
            assert found == pytest.approx(float(exact), rel=1e-9)


def test_the_example_of_the_paper() -> None:
    """Steinke et al., Appendix D: 75 of 100 right among 1,000, delta 1e-4, prove .673 at 95%."""
    assert one_run.chance(1000, 100, 75, 0.672, 1e-4) < 0.05
    assert one_run.chance(1000, 100, 75, 0.674, 1e-4) > 0.05


@pytest.mark.parametrize("m", [10, 60])
def test_the_recursion_is_that_of_the_paper(m: int) -> None:
    answers = set()
    for c in range(1, m + 1, 3):
        for right in range(c // 2, c + 1):
            for mu in (0.0, 0.3, 1.0, 2.0):
                found = one_run.recursion(m, c, right, mu, 0.05)
                assert found == by_arrays(m, c, right, mu, 0.05)
                answers.add(found)
    assert answers == {True, False}


@pytest.mark.parametrize(("n", "level"), [(10, 0.95), (100, 0.95), (100, 0.5)])
def test_all_right_at_no_delta_is_a_closed_form(n: int, level: float) -> None:
    """q^n is the error."""
    member = np.arange(n) % 2 == 0
    found = privacy.one_run_epsilon(member.astype(float), member, level=level, guesses=n)
    assert found == pytest.approx(special.logit((1 - level) ** (1 / n)), abs=1e-8)


def test_counts_share_the_error() -> None:
    score, member = gaussian(1.0, 400, 0)
    for bound in (privacy.one_run_epsilon, privacy.one_run_mu):
        each = [bound(score, member, level=0.975, guesses=count) for count in (50, 200)]
        assert bound(score, member, guesses=[50, 200]) == pytest.approx(max(each), abs=1e-8)


@pytest.mark.parametrize("guesses", [Guesses(1, 0, 1), Guesses(11, 9, 1), Guesses(0, 41, 1)])
def test_guesses_are_counted_in_an_order_that_no_row_and_no_coin_moves(guesses: Guesses) -> None:
    score, member = rounded(1.0, 41, 3)
    truth = one_run.in_order(score, member)
    by_hand = [*truth[::-1][: guesses.high], *~truth[: guesses.low]]
    assert one_run.right_guesses(truth, guesses) == sum(by_hand)
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = rng.permutation(41)
        assert (one_run.in_order(score[rows], member[rows]) == truth).all()
    for value in np.unique(score):
        ranks = np.flatnonzero(np.sort(score) == value)
        assert truth[ranks].sum() == member[score == value].sum()


def test_ties_are_broken_by_chance() -> None:
    """Of ten members among twenty that tie, the first ten hold five on average, as drawn."""
    found = []
    for seed in range(RUNS):
        n = 20 + seed  # Another number of records below, so another order of those that tie.
        score = np.r_[np.arange(n) - n, np.zeros(20)]
        truth = one_run.in_order(score, np.r_[np.zeros(n + 10), np.ones(10)] == 1)
        found.append(truth[-10:].sum())
    sd = np.sqrt(10 * 0.5 * 0.5 * 10 / 19)  # hypergeometric
    assert abs(np.mean(found) - 5) < 4 * sd / np.sqrt(RUNS)
    assert np.std(found) == pytest.approx(sd, rel=0.2)


def test_what_is_tried_shares_the_error() -> None:
    for records, alone in ((100, 0), (400, 12), (10_000, 312)):
        tries = one_run.tries_for(records)
        assert sum(one.share for one in tries) == pytest.approx(1)
        assert [one.made for one in tries if not (one.high and one.low)] == [alone, alone][
            : 2 * (alone > 0)
        ]
    score, member = subsampled(3.0, 1000, 1)
    alone = one_run.right_guesses(one_run.in_order(score, member), Guesses(31, 0, 1))
    error = 0.05 * one_run.THEIR_ERROR / 2
    found = privacy.one_run_epsilon(score, member)
    assert one_run.chance(1000, 31, alone, found, 0.0) == pytest.approx(error, rel=1e-6)


HOLDS = [
    (randomised_response, "epsilon", 0.0, 0.0),
    (randomised_response, "epsilon", 1.0, 0.0),
    (randomised_response, "epsilon", 3.0, 0.0),
    (randomised_response, "epsilon", 1.0, 1e-5),
    (gaussian, "mu", 0.0, 0.0),
    (gaussian, "mu", 1.0, 0.0),
    (gaussian, "mu", 2.0, 0.0),
    (rounded, "mu", 1.0, 0.0),
    (one_in_twenty, "epsilon", 0.0, 0.0),
    (one_in_twenty, "epsilon", 2.3, 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 400])  # one count of guesses, and three
@pytest.mark.parametrize(("drawn", "bound", "truth", "delta"), HOLDS)
def test_a_bound_is_above_the_truth_no_more_often_than_it_says(
    drawn, bound: str, truth: float, delta: float, n: int
) -> None:
    options = {"delta": delta} if bound == "epsilon" else {}
    runs = [drawn(truth, n, s) for s in range(RUNS)]
    found = [getattr(privacy, f"one_run_{bound}")(*run, **options) for run in runs]
    assert np.mean(np.array(found) > truth) <= 0.05 + SLACK


@pytest.mark.slow
@pytest.mark.parametrize(("n", "delta"), [(50, 0.05), (1000, 0.002)])
def test_a_delta_that_tells_all_is_paid_for(n: int, delta: float) -> None:
    found = [
        privacy.one_run_epsilon(*all_or_nothing(delta, n, s), delta=delta) for s in range(RUNS)
    ]
    assert np.mean(np.array(found) > 0) <= 0.05 + SLACK


@pytest.mark.slow
def test_one_count_of_guesses_errs_nearly_as_often_as_it_may() -> None:
    """Where randomised response is the worst case, and the guesses are all that it told."""
    epsilon, n = 1.0, 2000
    errors = []
    for seed in range(RUNS):
        score, member = randomised_response(epsilon, n, seed)
        right = int((score == member).sum())
        errors.append(one_run.chance(n, n, right, epsilon, 0.0) <= 0.05)
    assert 0.05 - SLACK <= np.mean(errors) <= 0.05 + SLACK


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawn", "of", "before", "least"),
    [
        (randomised_response, 1.0, 0.0, 0.79),
        (subsampled, 3.0, 0.39, 1.2),
        (one_in_twenty, 2.3, 0.18, 0.5),
    ],
)
def test_blind_ties_and_one_side_prove_more(drawn, of: float, before: float, least: float) -> None:
    """What two-sided guesses with ties as if wrong proved of these on average is `before`."""
    runs = [drawn(of, 1000, s) for s in range(100)]
    found = np.mean([privacy.one_run_epsilon(*run, delta=1e-5) for run in runs])
    assert found > least > before


@pytest.mark.slow
@pytest.mark.parametrize("mu", [1.0, 2.0])
def test_one_side_costs_gaussian_mechanisms_a_tenth_at_most(mu: float) -> None:
    runs = [gaussian(mu, 1000, s) for s in range(50)]
    both = [privacy.one_run_epsilon(*run, delta=1e-5, guesses=[500, 125, 31]) for run in runs]
    found = [privacy.one_run_epsilon(*run, delta=1e-5) for run in runs]
    assert 0 < np.mean(both) - np.mean(found) < 0.1


@pytest.mark.slow
def test_ten_thousand_records_prove_much_and_not_too_much() -> None:
    runs = [gaussian(1.0, 10_000, s) for s in range(5)]
    mu = np.array([privacy.one_run_mu(*run) for run in runs])
    assert 0.6 < mu.mean() < 1
    epsilon = np.array([privacy.one_run_epsilon(*run, delta=1e-5) for run in runs])
    assert 1.2 < epsilon.mean() < privacy.gaussian_epsilon(1.0, 1e-5)


def test_members_and_others_exchanged_prove_the_same() -> None:
    score, member = gaussian(1.0, 400, 0)
    options = {"guesses": [400, 100]}
    for bound in (privacy.one_run_epsilon, privacy.one_run_mu):
        assert bound(-score, ~member, **options) == bound(score, member, **options) > 0


@pytest.mark.parametrize("bound", [privacy.one_run_epsilon, privacy.one_run_mu])
def test_what_proves_nothing_is_0(bound) -> None:
    member = np.arange(100) % 2 == 0
    assert bound(np.ones(100), member) == 0
    assert bound(member[:4].astype(float), member[:4]) == 0
    assert bound(-member.astype(float), member) == 0


def test_a_perfect_score_proves_a_finite_level() -> None:
    member = np.arange(1000) % 2 == 0
    assert 4 < privacy.one_run_epsilon(member.astype(float), member) < log(1000)
    assert 1 < privacy.one_run_mu(member.astype(float), member) < 10


def test_a_delta_of_1_in_the_records_leaves_little() -> None:
    score, member = gaussian(2.0, 1000, 0)
    found = [privacy.one_run_epsilon(score, member, delta=d) for d in (0.0, 1e-5, 1e-3, 0.5)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[1] > found[-1] == 0


def test_a_monotone_change_of_scores_and_the_order_of_rows_change_nothing() -> None:
    score, member = rounded(1.5, 300, 1)
    rows = np.random.default_rng(0).permutation(300)
    for bound in (privacy.one_run_epsilon, privacy.one_run_mu):
        found = bound(score, member)
        assert found > 0
        assert bound(np.exp(score[rows]), member[rows]) == found
