"""Intervals for records like these: coverage with a stated Monte Carlo error, and edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from membership import metrics
from membership.errors import InputError

RUNS = 300


def draw(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(1, 1, n), rng.normal(0, 1, m)], np.arange(n + m) < n


@pytest.mark.parametrize(("n", "m"), [(25, 25), (60, 200)])
def test_the_auc_interval_covers(n: int, m: int) -> None:
    truth = stats.norm.cdf(1 / np.sqrt(2))
    found = [metrics.auc_interval(*draw(n, m, s)) for s in range(RUNS)]
    # Three binomial standard errors of 300 runs: .038.
    assert np.mean([low <= truth <= high for low, high in found]) >= 0.95 - 0.038


@pytest.mark.parametrize(("n", "m", "fpr"), [(25, 25, 0.1), (60, 300, 0.01), (60, 300, 0.1)])
def test_the_tpr_interval_covers(n: int, m: int, fpr: float) -> None:
    truth = stats.norm.sf(stats.norm.isf(fpr) - 1)
    found = [metrics.tpr_interval(*draw(n, m, s), fpr) for s in range(RUNS)]
    assert np.mean([low <= truth <= high for low, high in found]) >= 0.95 - 0.038


def test_the_tpr_interval_shrinks_to_the_truth() -> None:
    low, high = metrics.tpr_interval(*draw(40_000, 40_000, 0), 0.1)
    truth = stats.norm.sf(stats.norm.isf(0.1) - 1)
    assert low < truth < high
    assert high - low < 0.04


def test_delong_by_hand() -> None:
    score, member = draw(12, 9, 4)
    wins = score[member][:, None] > score[~member]
    error = np.sqrt(wins.mean(1).var(ddof=1) / 12 + wins.mean(0).var(ddof=1) / 9)
    area = wins.mean()
    low, high = metrics.auc_interval(score, member)
    centre, half = np.log(area / (1 - area)), 1.959964 * error / (area * (1 - area))
    assert np.log(low / (1 - low)) == pytest.approx(centre - half, rel=1e-5)
    assert np.log(high / (1 - high)) == pytest.approx(centre + half, rel=1e-5)


def test_a_perfect_attack_has_an_interval_too() -> None:
    low, high = metrics.auc_interval(np.arange(20), np.arange(20) >= 10)
    assert high == 1.0
    assert low == pytest.approx(0.025 ** (1 / 10))


def test_few_non_members_say_nothing_of_a_low_rate() -> None:
    low, high = metrics.tpr_interval(*draw(50, 20, 0), 0.001)
    assert low == 0.0
    assert high > 0.3


@given(st.integers(0, 50))
def test_only_the_order_of_scores_counts(seed: int) -> None:
    score, member = draw(30, 40, seed)
    assert metrics.auc_interval(score, member) == metrics.auc_interval(np.exp(score), member)
    assert metrics.tpr_interval(score, member, 0.1) == metrics.tpr_interval(score**3, member, 0.1)


def test_ties_count_against_the_attack_below_and_for_it_above() -> None:
    score, member = draw(300, 300, 1)
    tied = np.round(score)
    low, high = metrics.tpr_interval(tied, member, 0.1)
    assert low <= metrics.tpr_interval(score, member, 0.1)[0]
    assert high >= metrics.tpr_at_fpr(tied, member, 0.1)


@pytest.mark.parametrize(
    "function", [metrics.auc_interval, lambda s, m: metrics.tpr_interval(s, m, 0.1)]
)
def test_one_record_of_a_class(function) -> None:
    with pytest.raises(InputError, match="at least two"):
        function(np.arange(5), np.arange(5) < 1)


def test_bad_rates_and_levels() -> None:
    with pytest.raises(InputError, match="fpr is 0"):
        metrics.tpr_interval(*draw(10, 10, 0), 0.0)
    with pytest.raises(InputError, match="level is 2"):
        metrics.auc_interval(*draw(10, 10, 0), level=2)
