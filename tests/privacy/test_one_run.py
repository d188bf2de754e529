"""Bounds of one run with fair coins: exact references, closed forms, and how often they hold."""

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from scipy import special

from membership import privacy
from membership.privacy import lower_bounds

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
            found = lower_bounds.chance(m, r, v, log(odds), float(delta))
            assert found == pytest.approx(float(exact), rel=1e-9)


def test_the_example_of_the_paper() -> None:
    """Steinke et al., Appendix D: 75 of 100 right among 1,000, delta 1e-4, prove .673 at 95%."""
    assert lower_bounds.chance(1000, 100, 75, 0.672, 1e-4) < 0.05
    assert lower_bounds.chance(1000, 100, 75, 0.674, 1e-4) > 0.05


@pytest.mark.parametrize("m", [10, 60])
def test_the_recursion_is_that_of_the_paper(m: int) -> None:
    answers = set()
    for c in range(1, m + 1, 3):
        for right in range(c // 2, c + 1):
            for mu in (0.0, 0.3, 1.0, 2.0):
                found = lower_bounds.recursion(m, c, right, mu, 0.05)
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


@pytest.mark.parametrize("guessed", [1, 7, 20, 41])
def test_ties_count_as_the_worst_order_of_rows_would(guessed: int) -> None:
    score, member = rounded(1.0, 41, 3)
    found = lower_bounds.right_guesses(score, member, guessed)
    high = (guessed + 1) // 2

    def of_order(rows: np.ndarray, low: np.ndarray) -> int:
        top = rows[np.argsort(-score[rows], kind="stable")][:high]
        end = low[np.argsort(score[low], kind="stable")][: guessed - high]
        return int(member[top].sum() + (~member[end]).sum())

    worst = of_order(np.argsort(member, kind="stable"), np.argsort(~member, kind="stable"))
    assert found == worst
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = rng.permutation(41)
        assert lower_bounds.right_guesses(score[rows], member[rows], guessed) == found
        assert of_order(rows, rows) >= found


HOLDS = [
    (randomised_response, "epsilon", 0.0, 0.0),
    (randomised_response, "epsilon", 1.0, 0.0),
    (randomised_response, "epsilon", 3.0, 0.0),
    (randomised_response, "epsilon", 1.0, 1e-5),
    (gaussian, "mu", 0.0, 0.0),
    (gaussian, "mu", 1.0, 0.0),
    (gaussian, "mu", 2.0, 0.0),
    (rounded, "mu", 1.0, 0.0),
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
        errors.append(lower_bounds.chance(n, n, right, epsilon, 0.0) <= 0.05)
    assert 0.05 - SLACK <= np.mean(errors) <= 0.05 + SLACK


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
