"""Attacks as others run them: their scores by hand, and that they are of the bench's targets."""

import numpy as np
import pytest
from scipy import stats

from membership import metrics
from membership.book.studies.comparison import names, outside
from membership.book.studies.comparison.outside import DRAWS, EPSILON, public_score
from membership.book.studies.comparison.scores import read
from membership.book.studies.comparison.settings import Settings
from membership.errors import InputError


def test_the_public_score_is_its_codes_record_by_record():
    rng = np.random.default_rng(0)
    target, drawn = rng.normal(size=7), rng.normal(size=(DRAWS, 7))
    for record, score in enumerate(public_score(target, drawn)):
        less = [target[record] - draw for draw in drawn[:, record]]
        mean = sum(less) / DRAWS
        deviation = (sum((one - mean) ** 2 for one in less) / DRAWS) ** 0.5
        t = mean / (deviation / DRAWS**0.5 + EPSILON)
        assert score == pytest.approx(stats.t(DRAWS - 1).cdf(t))


def test_the_public_score_saturates_where_the_statistic_does_not():
    drawn = np.random.default_rng(0).normal(size=(DRAWS, 3))
    assert public_score(np.array([0.0, 40.0, 80.0]), drawn)[1:].tolist() == [1.0, 1.0]


@pytest.mark.slow
def test_both_are_set_beside_the_benchs_own_on_the_same_targets(source):
    table = source.table("comparison-ctl-8")
    (cell,) = names.outside(source.settings)
    (evidence,) = (one for one in read(source) if one.cell == cell)
    value = table.set_index(["attack", "metric"])["value"]
    areas = [
        metrics.auc(score, member)
        for score, member in zip(evidence.table.score["qmia"], evidence.table.member, strict=True)
    ]
    assert value["QMIA", "AUC"] == pytest.approx(np.mean(areas[: names.OUTSIDE_TARGETS]))
    gain = value[names.BOOSTED, "AUC"] - value["QMIA", "AUC"]
    assert value["QMIA by trees less QMIA", "AUC"] == pytest.approx(gain)


@pytest.mark.slow
def test_targets_that_are_not_the_benchs_are_refused(source):
    source.table("comparison-ctl-8")
    (cell,) = names.outside(source.settings)
    (evidence,) = (one for one in read(source) if one.cell == cell)
    found = source.gatherers()[f"outside-{cell.word}"]()
    outside.together(evidence, found)
    with pytest.raises(InputError, match="differ from those of the cell"):
        outside.together(evidence, found.assign(log_odds=found["log_odds"] + 1))


def test_wide_tables_have_no_trees(source, monkeypatch):
    monkeypatch.setattr(names, "MOST_COLUMNS", 63)
    assert names.outside(source.settings) == ()
    found = outside.outside(source)
    assert found["attack"].tolist() == ["none"]
    assert "here none is" in outside.outside_said(found)
    assert [one.set for one in names.outside(Settings.from_values({"profile": "paper"}))] == []
