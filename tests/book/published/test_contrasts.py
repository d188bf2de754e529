from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from membership import metrics
from membership.book.published.contrasts import Claimed, Contrast, Share
from membership.errors import InputError


def test_the_interval_is_students():
    found = Contrast("d", 0.03, 0.01, 4)
    half = 2.7764451 * 0.01
    assert (found.low, found.high) == pytest.approx((0.03 - half, 0.03 + half), abs=1e-9)
    assert Contrast("d", 0.03, 0.01).interval(0.9)[1] == pytest.approx(0.03 + 0.016448536)
    assert Contrast("exact", 0.03).interval() == (0.03, 0.03)


def test_units_are_averaged_as_scipy_does():
    values = [0.1, 0.4, 0.2, 0.3]
    found = Contrast.of_units(values, "d")
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert found.interval() == pytest.approx((expected.low, expected.high))
    assert found.units == 4


def test_it_takes_what_metrics_give():
    rng = np.random.default_rng(0)
    member = rng.random((3, 80)) < 0.5
    score = rng.standard_normal((3, 80)) + member
    pair = metrics.paired_interval("auc", score, -score, member, resamples=20)
    found = Contrast.of(pair, "d")
    assert (found.difference, *found.interval()) == pytest.approx(
        (pair.difference, pair.low, pair.high)
    )
    assert found.units == 3
    row = SimpleNamespace(
        value=0.5, standard_error=0.1, degrees_of_freedom=float("inf"), n_repeats=float("nan")
    )
    assert Contrast.of(row, "row") == Contrast("row", 0.5, 0.1)


def test_two_that_share_nothing_are_welchs():
    first, second = [0.1, 0.4, 0.2, 0.3], [0.5, 0.1, 0.9]
    found = Contrast.of_units(first, "a").less(Contrast.of_units(second, "b"))
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert found.interval() == pytest.approx((expected.low, expected.high))
    assert found.label == "a less b"


def test_a_share_has_exact_limits():
    found = Share.count(18, 20, "recovered", offset=0.5)
    low, high = stats.beta.ppf([0.025, 0.975], [18, 19], [3, 2])
    assert found.interval() == pytest.approx((low - 0.5, high - 0.5))
    assert found.minus(0.1).difference == pytest.approx(0.9 - 0.6)
    assert found.minus(0.1).low == pytest.approx(found.low - 0.1)


def test_units_needed_are_those_of_the_plan():
    # sd 0.02 in each of 4 units, margin 0.01: (2.8 * 2)^2 = 31.36.
    assert Contrast("d", 0.0, 0.01, 3, 4).units_needed(0.01) == 32
    assert Contrast("d", 0.0, 0.01).units_needed(0.01) is None
    assert Contrast("d", 0.0, 0.01, 3, 4).units_needed(0.0) is None
    # With that many the margin is seen four times in five.
    seen = stats.norm.sf(1.96 - 0.01 / (0.02 / np.sqrt(32)))
    assert 0.8 < seen < 0.82


def test_it_reads_as_a_line():
    assert str(Contrast("AUC", 0.0123)) == "AUC: +0.0123"
    assert str(Contrast("AUC", 0.0123, 0.001, claimed=Claimed("above", 0.0))) == (
        "AUC: +0.0123 [+0.01034, +0.01426], claimed > 0"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Contrast("d", float("nan")), "needs finite numbers"),
        (lambda: Contrast("d", 0, -1), "the error 0 or more"),
        (lambda: Contrast("d", 0, 1, 0), "0 degrees"),
        (lambda: Contrast.of_units([1.0], "d"), "one unit"),
        (lambda: Share.count(3, 2, "d"), "3 of 2 trials"),
    ],
)
def test_bad_numbers_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
