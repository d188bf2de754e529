"""Attacks are timed several times, and the table says only what the machine did."""

import numpy as np
import pytest

from membership.book import exhibits
from membership.book.studies.iha import costs, subjects
from membership.book.studies.iha.settings import Settings


def test_every_attack_is_timed_several_times(trained, settings):
    found = costs.measured(trained, settings)
    shape = (len(costs.CASES), costs.REPEATS)
    assert all(found[name][1].shape == shape for name in ("before", "each", "held", "held_after"))
    before = dict(zip(costs.CASES, found["before"][1], strict=True))
    each = dict(zip(costs.CASES, found["each"][1], strict=True))
    assert all((times > 0).all() for times in each.values())
    assert (before["IHA"] > 0).all()
    assert not before["LOSS"].any()
    assert not before["IHA (Approx)"].any()
    # Many models in one program take less time than one after the other.
    assert np.median(before["LiRA"]) > np.median(before["LiRA, side by side"])


@pytest.mark.parametrize("at_once", [1, 4])
def test_lira_pays_for_every_reference_model_and_its_answers(
    trained, settings, at_once, monkeypatch
):
    """Seconds that are given: of the models, of the answers of those that are there, of the fit."""
    told = iter([3.0, 5.0, 0.25])
    monkeypatch.setattr(costs, "_timed", lambda work: (work(), next(told), 0.0))
    cost = costs._lira(trained, settings.model_copy(update={"n_models": 128}), at_once)
    epochs = trained.task.config.epochs / costs.TIMED_EPOCHS
    assert cost.before == pytest.approx(3.0 * epochs * 128 / at_once)
    queries = min(costs.QUERIES, len(trained.queries))
    assert queries * cost.each == pytest.approx(5.0 / len(trained.ensemble) * 128 + 0.25)
    assert len(trained.ensemble) != 128


def test_a_hessian_that_is_not_positive_enough_is_damped_more(trained, monkeypatch):
    tried = []

    def factorised(matrix):
        tried.append(float(matrix.diagonal().sum()))
        return len(tried) > 2

    monkeypatch.setattr(costs, "factorised", factorised)
    assert costs._exact(trained, 0.1).before > 0
    steps = np.diff(tried)
    np.testing.assert_allclose(steps, [steps[0], 2 * steps[0]])


def test_seconds_and_bytes_of_table_6_are_those_of_the_timings(source, settings):
    timed = source.evidence("costs-digits").copy(deep=True)
    case = list(timed["attack"].values).index("LiRA")
    timed["before"].values[case], timed["each"].values[case] = [10.0, 20.0, 30.0], 0.001
    timed["held"].values[case], timed["held_after"].values[case] = [1e6, 3e6, 0.0], 2e6
    exact = list(timed["attack"].values).index("IHA")
    timed["before"].values[exact], timed["each"].values[exact] = 1.0, 0.009
    table = costs.table_6([timed])
    rows_of = table[table["attack"] == "LiRA"].set_index("metric")
    assert rows_of.loc["precompute time (s)", "value"] == pytest.approx(20.0)
    assert rows_of.loc["precompute time (s)", "n_repeats"] == 3
    assert rows_of.loc["time for 1000 samples (s)", "value"] == pytest.approx(21.0)
    assert rows_of.loc[subjects.RATIO, "value"] == pytest.approx(2.1)
    assert rows_of.loc["memory precompute (MB)", "value"] == 3.0
    assert rows_of.loc["memory max (MB)", "value"] == 3.0
    (declared,) = (one for one in exhibits.declared("iha") if one.id == "iha-tab-6")
    assert "2.1 times as long as exact IHA" in declared.says(table)


def test_the_papers_size_is_timed_at_paper_size_only():
    assert (
        subjects.timed(Settings.from_values({"profile": "quick"}))[0].name == "purchase_like:2000"
    )
    (found,) = subjects.timed(Settings.from_values({"profile": "paper"}))
    assert (found.name, found.most_parameters) == ("purchase_like:160000", 22_532)
    own = Settings.from_values({"profile": "paper", "also_datasets": ["digits"]})
    assert subjects.timed(own)[0].name == "digits"
