import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from membership import metrics
from membership.errors import InputError


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=20))
def test_without_units_the_summary_is_students(values):
    found = metrics.summary(values)
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    assert (found["low"], found["high"]) == pytest.approx(
        (np.mean(values) - half, np.mean(values) + half), abs=1e-9
    )
    assert found["value"] == pytest.approx(np.mean(values), abs=1e-12)
    assert (found["degrees_of_freedom"], found["n_repeats"]) == (len(values) - 1, len(values))


def test_ten_targets_that_are_five_units_are_five():
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=5), 2) + np.tile([0.1, -0.1], 5)
    found = metrics.summary(values, np.arange(10) // 2)
    alone = metrics.summary(values.reshape(5, 2).mean(axis=1))
    assert found == pytest.approx(alone)
    assert found["degrees_of_freedom"] == 4


@pytest.mark.slow
def test_units_of_other_sizes_keep_the_mean_and_the_coverage():
    """Shared noise within a unit: 95% of the intervals hold the mean, within 3 standard errors."""
    rng, units, repeats = np.random.default_rng(1), np.array([0, 0, 1, 1, 2, 2, 3, 3, 4]), 4_000
    hits = 0
    for _ in range(repeats):
        values = rng.normal(size=5)[units] + 0.02 * rng.normal(size=9)
        found = metrics.summary(values, units)
        assert found["value"] == pytest.approx(values.mean())
        hits += found["low"] <= 0 <= found["high"]
    assert hits / repeats == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / repeats) + 0.01)


def test_one_unit_has_no_interval():
    found = metrics.summary([0.4, 0.6], [0, 0])
    assert found["value"] == 0.5
    assert found["degrees_of_freedom"] == 0
    assert math.isnan(found["low"])
    assert math.isnan(found["standard_error"])


def test_the_interval_is_cut_and_the_standard_error_is_not():
    found = metrics.summary([0.0, 0.1, 0.0, 0.2], lowest=0, highest=1)
    assert found["low"] == 0
    assert found["standard_error"] == pytest.approx(np.std([0, 0.1, 0, 0.2], ddof=1) / 2)


def test_five_zeros_are_not_exact():
    found = metrics.summary([0.0] * 5, asked=500, scale=100, lowest=0)
    p = 0.5 / 501
    assert found["standard_error"] == pytest.approx(100 * math.sqrt(p * (1 - p) / 500))
    assert metrics.summary([1.0, 2.0], asked=500, scale=100)["standard_error"] < 0.51
    assert metrics.summary([0.0] * 5)["standard_error"] == 0


def test_an_exact_number_has_no_width():
    found = metrics.exactly(2.5)
    assert (found["low"], found["high"], found["standard_error"]) == (2.5, 2.5, 0.0)
    assert found["degrees_of_freedom"] == math.inf


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="values"):
        metrics.summary([])
    with pytest.raises(InputError, match="values"):
        metrics.summary([1.0, math.nan])
    with pytest.raises(InputError, match="units"):
        metrics.summary([1.0, 2.0], [0])
