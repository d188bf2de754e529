"""How the Hessian is inverted: conditionings beside each other, and solvers that approximate."""

import numpy as np
import pandas as pd
import pytest

from membership import metrics
from membership.book import published
from membership.book.studies.iha import evaluation, inversion, subjects
from membership.book.studies.iha.scores import KEYS, METRICS


def test_published_dampings_are_points_of_the_sweep():
    table = pd.DataFrame({"panel": ["MNIST-Odd: AUC", "Digits: AUC"]})
    points = inversion.published_dampings(table)
    assert points["damping"].tolist() == [0.01, 0.1, 0.2]
    assert points["value"].tolist() == [0.513, 0.535, 0.542]
    assert set(points["panel"]) == {"MNIST-Odd: AUC"}
    assert inversion.published_dampings(table[1:]).empty


def test_table_8_counts_the_few_records_that_all_targets_share_as_well(source, settings):
    swept = evaluation.read(source, subjects.SWEPT, subjects.decomposed)
    table = inversion.table_8(swept, [])
    table = table[table["metric"] == "AUC"]
    assert len(table)
    for one in swept:
        for row in table[table["dataset"] == one.label].to_dict("records"):
            scores = one.scores(inversion.CONDITIONINGS[row["attack"]])
            values = [metrics.auc(*pair) for pair in zip(scores, one.member, strict=True)]
            alone = metrics.summary(values, one.units)
            assert row["standard_error"] >= alone["standard_error"] * (1 - 1e-9)
            assert row["degrees_of_freedom"] <= len(set(one.units)) - 1
            assert (row["low"] + row["high"]) / 2 == pytest.approx(row["value"])


@pytest.mark.slow
def test_both_solvers_agree(source, evaluations, settings):
    solved = [source.evidence(f"solvers-{name}") for name in ("digits-odd", "digits")]
    table = inversion.table_3(evaluations, solved)
    found = table.set_index(list(KEYS))["value"]
    for one in evaluations:
        assert 0 < found[one.label, "IHA (CG)", "largest difference from exact, relative"] < 1e-4
        for metric in METRICS:
            exact, cg = (found[one.label, f"IHA ({s})", metric] for s in ("Exact", "CG"))
            assert cg == pytest.approx(exact, abs=0.01)
        asked = table.attrs["setup"][one.label]
        assert asked["queried_members"] + asked["queried_non_members"] <= 60


@pytest.mark.slow
def test_what_conjugate_gradients_change_is_added_to_the_exact_scores(
    source, evaluations, settings
):
    solved = [
        source.evidence(f"solvers-{name}").copy(deep=True) for name in ("digits-odd", "digits")
    ]
    first, one = evaluations[0], solved[0]
    at = np.searchsorted(first.outputs["record"].values, one["query"].values)
    # A solver that turns every score round has the AUC turned round.
    exact = np.stack([scores[at] for scores in first.scores("IHA")])
    one["difference"].values[:] = -2 * exact
    found = inversion.table_3(evaluations, solved).set_index(list(KEYS))["value"]
    exact, cg = (found[first.label, f"IHA ({s})", "AUC"] for s in ("Exact", "CG"))
    assert cg == pytest.approx(1 - exact, abs=1e-6)


def test_published_times_stand_beside_without_a_verdict(evaluations):
    label = evaluations[0].label
    table = published.table("iha_table6").assign(dataset=label, low=0.0, high=1e6)
    table.attrs = {"setup": {label: {"published": "Purchase-100(S)"}}}
    judged = inversion.beside_judged(table, "iha_table6")
    assert judged["published"].notna().all()
    is_time = judged["metric"].isin(["precompute time (s)", "time per sample (s)"])
    assert set(judged.loc[is_time, "verdict"]) == {"seconds of another machine"}
    assert set(judged.loc[~is_time, "verdict"]) == {"not comparable"}
