"""Lower bounds on privacy levels: valid after the choice of a threshold, and not empty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from membership import privacy
from membership.privacy import lower_bounds

RUNS = 200


def gaussian(
    mu: float, n: int, seed: int, others: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    rng, others = np.random.default_rng(seed), n if others is None else others
    return np.r_[rng.normal(mu, 1, n), rng.normal(0, 1, others)], np.arange(n + others) < n


def rounded(mu: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    score, member = gaussian(mu, n, seed)
    return score.round(), member


def laplace(epsilon: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.laplace(size=2 * n) + epsilon * (np.arange(2 * n) < n), np.arange(2 * n) < n


def randomised_response(epsilon: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The attack that meets epsilon exactly: one bit, right with odds exp(epsilon)."""
    rng = np.random.default_rng(seed)
    member = np.arange(2 * n) < n
    right = rng.random(2 * n) < np.exp(epsilon) / (1 + np.exp(epsilon))
    return np.where(right, member, ~member).astype(float), member


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 1000])
@pytest.mark.parametrize(
    ("drawn", "bound", "truth"),
    [
        (gaussian, "mu", 0.0),
        (gaussian, "mu", 1.0),
        (rounded, "mu", 0.0),
        (rounded, "mu", 1.0),
        (laplace, "epsilon", 1.0),
        (randomised_response, "epsilon", 0.0),
        (randomised_response, "epsilon", 1.0),
        (randomised_response, "epsilon", 3.0),
    ],
)
def test_the_bounds_hold_as_often_as_they_say(drawn, bound: str, truth: float, n: int) -> None:
    found = [getattr(privacy, f"{bound}_lower_bound")(*drawn(truth, n, s)) for s in range(RUNS)]
    # Binomial error of 200 runs at 95%: three times .015.
    assert np.mean(np.array(found) <= truth) >= 0.95 - 0.046


@pytest.mark.slow
def test_they_hold_with_more_of_one_class_and_at_a_delta() -> None:
    epsilon = privacy.gaussian_epsilon(1.0, 0.1)
    for n, others in ((40, 400), (400, 40)):
        scored = [gaussian(1.0, n, s, others) for s in range(RUNS)]
        mu = [privacy.mu_lower_bound(*one) for one in scored]
        assert np.mean(np.array(mu) <= 1.0) >= 0.95 - 0.046
        found = [privacy.epsilon_lower_bound(*one, delta=0.1) for one in scored]
        assert np.mean(np.array(found) <= epsilon) >= 0.95 - 0.046


@pytest.mark.parametrize(
    ("mu", "n", "epsilon_proved", "mu_proved"),
    [
        (0.5, 1000, 0.55, 0.34),
        (1.0, 200, 0.9, 0.65),
        (1.0, 1000, 1.45, 0.83),
        (2.0, 1000, 3.0, 1.8),
    ],
)
def test_what_a_thousand_records_prove_on_average(
    mu: float, n: int, epsilon_proved: float, mu_proved: float
) -> None:
    """At delta 1e-5; jax_privacy's Clopper-Pearson bound: 1.36 at mu 1 and 1,000, .90 at 200."""
    scored = [gaussian(mu, n, s) for s in range(20)]
    found = [privacy.epsilon_lower_bound(*one, delta=1e-5) for one in scored]
    assert np.mean(found) > epsilon_proved
    assert mu_proved < np.mean([privacy.mu_lower_bound(*one) for one in scored]) < mu


def test_enough_records_prove_nearly_the_truth() -> None:
    assert privacy.epsilon_lower_bound(*randomised_response(1.0, 50_000, 0)) == pytest.approx(
        1.0, abs=0.06
    )
    assert 0.95 < privacy.mu_lower_bound(*gaussian(1.0, 20_000, 1)) <= 1.0


SCORE, MEMBER = np.array([5.0, 6, 7, 1, 4, 3, 2, 0]), np.arange(8) < 4
"""Three of four members lie above the highest of four others."""


def test_one_threshold_by_hand() -> None:
    found = privacy.mu_lower_bound(SCORE, MEMBER, level=0.2)

    def chance(mu: float) -> float:
        """Of three members or more above a rate of false alarms that follows Beta(1, 4)."""
        return integrate.quad(
            lambda b: (
                stats.beta.pdf(b, 1, 4)
                * stats.binom.sf(2, 4, stats.norm.cdf(stats.norm.ppf(b) + mu))
            ),
            0,
            1,
        )[0]

    # The error of .8 is shared by the two highest others and the two lowest members.
    assert chance(found) == pytest.approx(0.2, abs=1e-6)


def test_at_the_null_it_is_fishers_exact_test() -> None:
    first, second = lower_bounds._tests(SCORE, MEMBER)
    for test, table in ((first, [[3, 1], [0, 4]]), (second, [[3, 1], [1, 3]])):
        exact = stats.fisher_exact(table, alternative="greater").pvalue
        null = test.chance(lambda z, _: stats.norm.cdf(z), 0.0)
        assert null == pytest.approx(exact, rel=1e-6)


def test_detecting_others_counts_as_much() -> None:
    score, member = gaussian(1.0, 100, 0)
    turned = privacy.mu_lower_bound(-score, ~member)
    assert turned == pytest.approx(privacy.mu_lower_bound(score, member), abs=1e-9)


@pytest.mark.parametrize("n", [4, 50])
def test_one_score_for_all_proves_nothing_and_a_perfect_one_something(n: int) -> None:
    member = np.arange(2 * n) < n
    assert privacy.epsilon_lower_bound(np.ones(2 * n), member) == 0
    assert 0 < privacy.epsilon_lower_bound(member.astype(float), member, level=0.6) < np.log(2 * n)


def test_delta_weakens_what_is_proved() -> None:
    score, member = randomised_response(2.0, 2000, 3)
    plain = privacy.epsilon_lower_bound(score, member)
    assert plain > privacy.epsilon_lower_bound(score, member, delta=0.1) > 0


@given(st.integers(0, 100), st.floats(0.1, 3))
def test_only_the_order_of_scores_counts(seed: int, power: float) -> None:
    score, member = gaussian(1.5, 60, seed)
    for bound in (privacy.epsilon_lower_bound, privacy.mu_lower_bound):
        assert bound(score, member) == bound(np.exp(power * score), member)


def test_the_order_of_rows_does_not_count() -> None:
    score, member = gaussian(1.0, 100, 0)
    rows = np.random.default_rng(0).permutation(200)
    for bound in (privacy.epsilon_lower_bound, privacy.mu_lower_bound):
        assert bound(score[rows], member[rows]) == bound(score, member) > 0
