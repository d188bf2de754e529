"""Thresholds on scores whose truth is known, and what a flag is worth."""

import numpy as np
import pytest
from scipy import stats

from membership.book.exhibits import files
from membership.book.studies.comparison import thresholds
from tests.book.studies.comparison.conftest import scored


def test_a_records_rates_are_equal_where_scores_are_exchangeable_and_not_otherwise():
    fair = scored(0.0)
    rate, count = thresholds.record_rates(fair.score["loss"], fair.member)
    assert np.average(rate, weights=count) == pytest.approx(0.05, abs=0.002)
    found = thresholds._of_rates(rate, count)
    assert found[thresholds.SPREAD]["low"] < 1
    hard = np.random.default_rng(1).normal(size=400) * 2
    unfair = scored(0.0, offset=hard)
    found = thresholds._of_rates(*thresholds.record_rates(unfair.score["loss"], unfair.member))
    assert found[thresholds.SPREAD]["low"] > 5
    assert found[thresholds.ABOVE]["low"] > found[thresholds.BY_CHANCE]["value"]


@pytest.mark.parametrize("nominal", [0.01, 0.05])
def test_a_threshold_from_references_keeps_its_rate_and_gives_bayes_its_values(nominal):
    table = scored(1.0, (40, 2000))
    found = thresholds.rates(table, "loss", 10, nominal)
    assert found[thresholds.REALISED].mean() == pytest.approx(100 * nominal, rel=0.1)
    tpr = stats.norm.sf(stats.norm.isf(nominal) - 1)
    assert found[thresholds.DETECTED].mean() == pytest.approx(100 * tpr, rel=0.1)
    expected = 100 * 0.1 * tpr / (0.1 * tpr + 0.9 * nominal)
    rates = found[thresholds.REALISED], found[thresholds.DETECTED]
    worth = thresholds.worth([rates[0]], [rates[1]], 0.1, seed=0)
    assert worth["low"] < worth["value"] < worth["high"]
    assert worth["value"] == pytest.approx(expected, rel=0.1)


def test_a_target_without_false_positives_does_not_make_a_flag_certain():
    false, true = np.array([0.0, 2.0]), np.array([1.0, 3.0])
    # Of 1,000 records of which 100 are members: 2 and 9 flagged on average.
    assert thresholds.worth([false], [true], 0.1, seed=0)["value"] == pytest.approx(100 * 2 / 11)
    assert thresholds.worth([0 * false], [0 * true], 0.1, seed=0)["value"] == 0


def test_false_discoveries_of_uniform_p_values_are_kept():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        member = rng.random(500) < 0.5
        p = stats.norm.sf(rng.normal(size=500) + 3 * member)
        found.append(thresholds.of_target(p, member)[thresholds.FALSE])
    # Benjamini and Hochberg keep the level times the share of non-members.
    assert np.mean(found) == pytest.approx(5, abs=1)


def test_a_predictive_value_moves_to_another_share_of_members():
    table, _ = files.load("comparison-tab-3", "paper")
    half, tenth = (
        table[table["metric"] == f"PPV where {share}% are members (%)"] for share in (50, 10)
    )
    for end in ("value", "low", "high"):
        moved = thresholds._moved(half.assign(share=0.5), end, 0.1)
        np.testing.assert_allclose(moved, tenth[end], rtol=1e-6)
