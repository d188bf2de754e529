import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import metrics


@st.composite
def scored(draw):
    n = draw(st.integers(2, 25))
    value = st.one_of(
        st.integers(-4, 4).map(float), st.floats(allow_nan=False, allow_infinity=False)
    )
    score = draw(st.lists(value, min_size=n, max_size=n))
    member = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    member[0], member[1] = True, False
    return np.array(score), np.array(member)


def slow_balanced_accuracy(score, member, threshold):
    right = [s >= threshold if m else s < threshold for s, m in zip(score, member, strict=True)]
    right = np.array(right)
    return (right[member].mean() + right[~member].mean()) / 2


def all_peaks(n_member, n_non_member):
    """Best balanced accuracy in each equally likely order of distinct scores."""
    n = n_member + n_non_member
    for places in itertools.combinations(range(n), n_member):
        member = np.isin(np.arange(n), places)
        tpr = np.r_[0, np.cumsum(member) / n_member]
        fpr = np.r_[0, np.cumsum(~member) / n_non_member]
        yield 0.5 + (tpr - fpr).max() / 2


@given(scored())
def test_no_threshold_beats_the_best(case):
    score, member = case
    best = max(slow_balanced_accuracy(score, member, t) for t in [np.inf, *score])
    threshold = metrics.best_threshold(score, member)
    assert slow_balanced_accuracy(score, member, threshold) == pytest.approx(best, abs=1e-12)
    assert metrics.balanced_accuracy(score, member) == pytest.approx(best, abs=1e-12)


@given(scored())
def test_a_given_threshold_is_used(case):
    score, member = case
    for threshold in (0.0, score[0]):
        expected = slow_balanced_accuracy(score, member, threshold)
        assert metrics.balanced_accuracy(score, member, threshold) == pytest.approx(expected)
        right = np.mean((score >= threshold) == member)
        assert metrics.accuracy(score, member, threshold) == pytest.approx(right)


def test_threshold_lies_halfway_and_prefers_fewer_members():
    member = np.array([True, False, True, False])
    # Accepting one or three records are equally good here.
    assert metrics.best_threshold([4.0, 2.0, 1.0, 0.0], member) == 3.0
    assert metrics.best_threshold([1.0, 2.0, 3.0, 4.0], ~member[::-1]) == np.inf


def test_threshold_between_neighbouring_floats_is_the_upper_one():
    low = 1.0
    high = np.nextafter(low, 2.0)
    assert metrics.best_threshold([low, high], [False, True]) == high


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_null_of_equal_classes_is_the_mean_over_all_orders(n):
    assert metrics.peak_accuracy_null(n, n) == pytest.approx(np.mean(list(all_peaks(n, n))))


@pytest.mark.parametrize("sizes", [(1, 4), (3, 5), (6, 2)])
def test_null_of_unequal_classes_is_within_monte_carlo_error(sizes):
    peaks = list(all_peaks(*sizes))
    error = np.std(peaks) / np.sqrt(2_000)
    assert abs(metrics.peak_accuracy_null(*sizes, seed=1) - np.mean(peaks)) < 4 * error


@pytest.mark.slow
def test_null_of_many_records_agrees_with_random_scores():
    rng = np.random.default_rng(0)
    member = np.arange(400) < 200
    peaks = [metrics.balanced_accuracy(rng.random(400), member) for _ in range(1000)]
    error = np.std(peaks) / np.sqrt(1000)
    assert abs(metrics.peak_accuracy_null(200, 200) - np.mean(peaks)) < 4 * error
    # The limit law of D is Rayleigh's, of mean sqrt(pi / 8) * sqrt(2 / n).
    assert metrics.peak_accuracy_null(10**6, 10**6) == pytest.approx(
        0.5 + np.sqrt(np.pi / 8) * np.sqrt(2 / 10**6) / 2, abs=1e-6
    )


def test_null_repeats_with_its_seed():
    assert metrics.peak_accuracy_null(5, 9, seed=3) == metrics.peak_accuracy_null(5, 9, seed=3)
    assert metrics.peak_accuracy_null(5, 9, seed=3) != metrics.peak_accuracy_null(5, 9, seed=4)
