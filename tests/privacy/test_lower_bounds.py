"""Lower bounds on privacy levels: valid after the choice of a threshold, and not empty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from membership import privacy
from membership.errors import InputError
from membership.privacy import lower_bounds

RUNS = 200


def gaussian(mu: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(mu, 1, n), rng.normal(0, 1, n)], np.arange(2 * n) < n


def randomised_response(epsilon: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The attack that meets epsilon exactly: one bit, right with odds exp(epsilon)."""
    rng = np.random.default_rng(seed)
    member = np.arange(2 * n) < n
    right = rng.random(2 * n) < np.exp(epsilon) / (1 + np.exp(epsilon))
    return np.where(right, member, ~member).astype(float), member


def test_the_bounds_hold_as_often_as_they_say() -> None:
    mu = [privacy.mu_lower_bound(*gaussian(1.0, 100, s), seed=s) for s in range(RUNS)]
    epsilon = [
        privacy.epsilon_lower_bound(*randomised_response(1.0, 100, s), seed=s) for s in range(RUNS)
    ]
    # Binomial error of 200 runs at 95%: three times .015.
    assert np.mean(np.array(mu) <= 1.0) >= 0.95 - 0.046
    assert np.mean(np.array(epsilon) <= 1.0) >= 0.95 - 0.046


def test_the_null_proves_nothing_more_often_than_the_level_allows() -> None:
    proved = [privacy.epsilon_lower_bound(*gaussian(0.0, 100, s), seed=s) for s in range(RUNS)]
    assert np.mean(np.array(proved) > 0) <= 0.05 + 0.046


def test_enough_records_prove_nearly_the_truth() -> None:
    assert privacy.epsilon_lower_bound(*randomised_response(1.0, 50_000, 0)) == pytest.approx(
        1.0, abs=0.06
    )
    assert 0.8 < privacy.mu_lower_bound(*gaussian(1.0, 20_000, 1)) <= 1.0


def test_one_threshold_by_hand() -> None:
    score = np.array([1.0] * 8 + [0.0] * 2 + [0.0] * 9 + [1.0])
    member = np.arange(20) < 10
    found = lower_bounds._proved(
        score, member, np.array([1.0]), lambda tpr, fpr: np.log(tpr) - np.log(fpr), 0.9
    )
    hits = stats.binomtest(8, 10).proportion_ci(0.9, method="exact").low
    alarms = stats.binomtest(1, 10).proportion_ci(0.9, method="exact").high
    assert found[0, 0] == pytest.approx(np.log(hits / alarms), rel=1e-9)
    refused = stats.binomtest(9, 10).proportion_ci(0.9, method="exact").low
    missed = stats.binomtest(2, 10).proportion_ci(0.9, method="exact").high
    assert found[1, 0] == pytest.approx(np.log(refused / missed), rel=1e-9)


@given(st.integers(0, 100), st.floats(0.1, 3))
def test_only_the_order_of_scores_counts(seed: int, power: float) -> None:
    score, member = gaussian(1.5, 60, seed)
    for bound in (privacy.epsilon_lower_bound, privacy.mu_lower_bound):
        assert bound(score, member) == bound(np.exp(power * score), member)


def test_delta_weakens_what_is_proved() -> None:
    score, member = randomised_response(2.0, 2000, 3)
    plain = privacy.epsilon_lower_bound(score, member)
    assert plain > privacy.epsilon_lower_bound(score, member, delta=0.1) > 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"delta": 1.0}, "delta is 1.0"),
        ({"delta": -0.1}, "delta is -0.1"),
        ({"level": 1.0}, "level is 1.0"),
    ],
)
def test_bad_parameters(changed: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        privacy.epsilon_lower_bound(*gaussian(1.0, 10, 0), **changed)


def test_too_few_records() -> None:
    with pytest.raises(InputError, match="at least 4"):
        privacy.mu_lower_bound(*gaussian(1.0, 3, 0))


def test_halves_are_even_and_each_seed_has_its_own() -> None:
    member = np.arange(1001) % 3 == 0
    halves = [lower_bounds._half(member, seed) for seed in range(20)]
    assert {int(half[member].sum()) for half in halves} == {int(member.sum()) // 2}
    assert {int(half[~member].sum()) for half in halves} == {int((~member).sum()) // 2}
    shared = [(halves[0] == half).mean() for half in halves[1:]]
    assert 0.44 < min(shared) < max(shared) < 0.56  # four standard deviations
    # Nor do neighbours go together.
    assert abs((halves[0][1:] == halves[0][:-1]).mean() - 0.5) < 0.06
