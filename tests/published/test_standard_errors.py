"""Standard errors of committed tables, taken back from their intervals."""

import math

import numpy as np
import pytest

from membership import metrics
from membership.published.standard_errors import standard_error

PLAIN = {"rate": math.nan, "scale": "value"}


def row(values, lowest=-math.inf, highest=math.inf, **more):
    found = metrics.summary(values, lowest=lowest, highest=highest)
    kept = {name: found[name] for name in ("value", "low", "high", "n_repeats")}
    return {**PLAIN, **kept, **more}, found["standard_error"]


def test_the_columns_are_used_where_they_stand():
    known = {"standard_error": 0.1, "degrees_of_freedom": 4}
    assert standard_error({**row([1.0, 2.0])[0], **known}, {}) == (0.1, 4)


@pytest.mark.parametrize(("lowest", "highest"), [(-math.inf, math.inf), (0, 1), (0, 100)])
def test_an_interval_gives_its_standard_error_back(lowest, highest):
    numbers, error = row([0.01, 0.02, 0.3, 0.05], lowest, highest)
    assert standard_error(numbers, {}) == pytest.approx((error, 3))


def test_an_interval_cut_at_both_ends_tells_nothing():
    numbers, _ = row([0.1, 0.9], 0, 1)
    assert (numbers["low"], numbers["high"]) == (0, 1)
    assert np.isnan(standard_error(numbers, {})).all()


def test_a_model_and_its_complement_are_one_unit():
    numbers, error = row(np.linspace(0.5, 0.6, 10))
    assert standard_error(numbers, {"paired_targets": True}) == pytest.approx((error, 4))
    alone, _ = row([0.5, 0.6])
    assert np.isnan(standard_error(alone, {"paired_targets": True})).all()


def test_an_exact_number_has_no_error_and_a_single_run_an_unknown_one():
    exact = {**PLAIN, "value": 2.0, "low": 2.0, "high": 2.0}
    assert standard_error(exact, {}) == (0.0, math.inf)
    single = {**PLAIN, "value": 2.0, "low": 1.0, "high": 3.0, "n_repeats": 0}
    assert np.isnan(standard_error(single, {})).all()


def test_rates_that_are_all_equal_are_not_exact():
    numbers, _ = row([0.0] * 5, rate=0.01, scale="percent")
    error, degrees = standard_error(numbers, {"queried_members": 100})
    p = 0.5 / 501
    assert error == pytest.approx(100 * math.sqrt(p * (1 - p) / 500))
    assert degrees == 4
    assert np.isnan(standard_error(numbers, {})[0])
