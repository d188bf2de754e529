"""Rows of tables against SciPy's own intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from membership import metrics
from membership.book.exhibits import rows


def test_a_row_for_each_combination_of_keys_in_the_order_of_the_table():
    table = pd.DataFrame(
        {"attack": ["b", "a", "b", "a"], "n": [1, 1, 1, 1], "value": [1.0, 5.0, 3.0, 6.0]}
    )
    first, second = rows.over_units(table, ["attack", "n"])
    assert first == {"attack": "b", "n": 1, **metrics.summary([1.0, 3.0])}
    assert second == {"attack": "a", "n": 1, **metrics.summary([5.0, 6.0])}
    cut = rows.over_units(table, ["attack"], lowest=0.0)
    assert (cut[0]["low"], cut[0]["value"]) == (0.0, 2.0)


def test_a_row_for_each_of_several_numbers():
    values = [0.0, 4.0]
    assert rows.of_each({"n": 3}, "metric", {"AUC": values}, highest=2.5) == [
        {"n": 3, "metric": "AUC", **metrics.summary(values, highest=2.5)}
    ]
    assert rows.of_each({}, ("attack", "metric"), {("MALT", "AUC"): values}) == [
        {"attack": "MALT", "metric": "AUC", **metrics.summary(values)}
    ]


@pytest.mark.parametrize(("count", "n"), [(0, 7), (3, 7), (7, 7)])
def test_a_share_has_the_limits_at_which_its_tail_has_a_fortieth(count, n):
    found = rows.share(np.arange(n) < count)
    low, high = found["low"] / 100, found["high"] / 100
    assert found["value"] == pytest.approx(100 * count / n)
    assert low == 0 if count == 0 else stats.binom.sf(count - 1, n, low) == pytest.approx(0.025)
    assert high == 1 if count == n else stats.binom.cdf(count, n, high) == pytest.approx(0.025)


def test_correlations_have_the_intervals_of_scipy():
    x, y = np.random.default_rng(0).standard_normal((2, 40))
    y = y + x
    theirs = stats.pearsonr(x, y)
    ends = theirs.confidence_interval(0.95)
    found = rows.correlation(x, y)
    assert list(found.values()) == pytest.approx([theirs.statistic, ends.low, ends.high])
    assert rows.rank_correlation(x, np.exp(y))["value"] == pytest.approx(
        stats.spearmanr(x, y).statistic
    )
    one = rows.correlation(x, 2 * x)
    assert one["low"] <= one["value"] <= one["high"]


def test_a_number_with_its_error_makes_the_row_that_its_repeats_make():
    whole = metrics.summary([61.0, 64.0, 70.0], highest=70.0)
    value, error, degrees = (
        whole[name] for name in ("value", "standard_error", "degrees_of_freedom")
    )
    made = rows.of_error(value, error, 3, degrees, highest=70.0)
    assert made == pytest.approx(whole)
    assert list(made) == list(whole)
