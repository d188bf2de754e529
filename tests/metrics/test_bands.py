"""ROC curves on a grid are those of the single rates, and bands are Student's."""

import numpy as np
import pytest
from scipy import stats

from membership import metrics

RATES = np.array([0.01, 0.05, 0.1, 0.5])


@pytest.fixture
def repeats():
    rng = np.random.default_rng(0)
    member = np.arange(200) < 100
    return [(np.round(rng.normal(member, 1), 1), member) for _ in range(4)]


def test_a_grid_holds_the_rates_that_one_asks_for_singly(repeats):
    for score, member in repeats:
        each = [metrics.tpr_at_fpr(score, member, rate) for rate in RATES]
        np.testing.assert_array_equal(metrics.tpr_on(score, member, RATES), each)


def test_nobody_is_caught_at_a_rate_of_0_beyond_the_best_and_everybody_at_1():
    found = metrics.tpr_on([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0], np.array([0.0, 1.0]))
    np.testing.assert_array_equal(found, [0.5, 1.0])


def test_a_band_is_students(repeats):
    band = metrics.roc_band(repeats, RATES)
    at_half = [metrics.tpr_at_fpr(*pair, 0.5) for pair in repeats]
    low, high = stats.t.interval(0.95, 3, np.mean(at_half), stats.sem(at_half))
    assert (band["low"][-1], band["high"][-1]) == pytest.approx((low, min(high, 1.0)))
    assert band["standard_error"][-1] == pytest.approx(stats.sem(at_half))
    assert band["n_repeats"] == 4
