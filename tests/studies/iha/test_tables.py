"""Every exhibit's table: keys, published numbers beside, and what it says of its origin."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from membership import exhibits, metrics, published
from membership.studies.iha import (
    against_references,
    inversion,
    score_taken_apart,
    subjects,
)
from membership.studies.iha import evaluation as reading
from membership.studies.iha import scores as rows
from membership.studies.iha.settings import Settings

KEYS = ["dataset", "attack", "metric"]


@pytest.mark.parametrize(
    "study",
    [
        against_references.table_2,
        score_taken_apart.table_4,
        against_references.control_1,
        against_references.control_3,
    ],
)
def test_keys_tell_rows_apart_and_intervals_hold_their_numbers(study, evaluations, settings):
    table = study(evaluations)
    assert not table.duplicated(KEYS).any()
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert set(table["dataset"]) == {"Digits-Odd", "Digits"}
    assert table.attrs["setup"]["Digits"]["paired_targets"]
    assert any("complements" in text for text in table.attrs["deviations"])


def test_an_entry_is_the_mean_over_the_targets(evaluations, settings):
    evaluation = evaluations[0]
    table = against_references.table_2(evaluations).set_index(KEYS)["value"]
    each = [
        metrics.auc(s, m) for s, m in zip(evaluation.scores("IHA"), evaluation.member, strict=True)
    ]
    assert table["Digits-Odd", "IHA (Exact)", "AUC"] == pytest.approx(np.mean(each))


def test_all_terms_together_are_the_attack(evaluations, settings):
    table = score_taken_apart.table_4(evaluations).set_index(KEYS)["value"]
    whole = against_references.table_2(evaluations).set_index(KEYS)["value"]
    for metric in rows.METRICS:
        for evaluation in evaluations:
            key = (evaluation.label, "IHA[All]", metric)
            assert table[key] == pytest.approx(whole[evaluation.label, "IHA (Exact)", metric])


def test_the_coin_has_full_knowledge_at_fraction_one(source, settings):
    table = score_taken_apart.table_9(reading.read(source, subjects.KNOWN, subjects.subjects))
    table = table[(table["fraction"] == 1) & (table["metric"] == "AUC")]
    for _, part in table.groupby("dataset"):
        assert part["value"].nunique() == 1
        assert len(part) == 3


def test_each_data_set_is_judged_by_its_own_deviations(evaluations, settings):
    """One data set called the paper's own, the other not: two kinds of verdict in one table."""
    table = against_references.table_2(evaluations)
    papers = _papers_own(table.attrs["setup"]["Digits-Odd"], "MNIST-Odd")
    others = {**table.attrs["setup"]["Digits"], "published": "FashionMNIST"}
    table.attrs["setup"] = {"Digits-Odd": papers, "Digits": others}
    judged = against_references.table_2_judged(table)
    verdicts = judged[judged["published"].notna()].groupby("dataset")["verdict"].unique()
    assert set(verdicts["Digits-Odd"]) <= {"agrees", "compatible", "differs"}
    assert set(verdicts["Digits"]) == {"not comparable"}
    assert len(judged) == len(table)


def test_control_3_stands_beside_the_published_numbers_without_verdicts(evaluations, settings):
    table = against_references.control_3(evaluations)
    papers = _papers_own(table.attrs["setup"]["Digits-Odd"], "MNIST-Odd")
    table.attrs["setup"] = {"Digits-Odd": papers}
    judged = against_references.control_3_judged(table)
    assert judged["published"].notna().any()
    assert set(judged["verdict"]) == {""}


def _papers_own(own, name):
    stated = published.setup("iha")[name]
    stated = {key: value for key, value in stated.items() if key != "uses_references"}
    return {**own, **stated, "published": name, "queried_non_members": 10_000}


@pytest.mark.parametrize(
    ("name", "dataset", "attack"),
    [
        ("iha_table4", "Purchase-100(S)", score_taken_apart.TERMS),
        ("iha_table8", "MNIST-Odd", inversion.CONDITIONINGS),
        ("iha_table2", "MNIST-Odd", against_references.TABLE_2),
        ("iha_table7", "Purchase-100", against_references.TABLE_7),
    ],
)
def test_attacks_are_spelt_as_in_the_published_tables(name, dataset, attack):
    printed = published.table(name)
    assert set(attack) <= set(printed[printed["dataset"] == dataset]["attack"])


def test_published_dampings_are_points_of_the_sweep():
    table = pd.DataFrame({"panel": ["MNIST-Odd: AUC", "Digits: AUC"]})
    points = inversion.published_dampings(table)
    assert points["damping"].tolist() == [0.01, 0.1, 0.2]
    assert points["value"].tolist() == [0.513, 0.535, 0.542]
    assert set(points["panel"]) == {"MNIST-Odd: AUC"}
    assert inversion.published_dampings(table[1:]).empty


def test_the_correction_is_the_pairwise_difference(evaluations, settings):
    table = score_taken_apart.control_4(evaluations, settings).set_index(["dataset", "quantity"])[
        "value"
    ]
    for evaluation in evaluations:
        gain = table[evaluation.label, "AUC of IHA*"] - table[evaluation.label, "AUC of IHA"]
        assert table[evaluation.label, "AUC, IHA* less IHA"] == pytest.approx(gain)


def test_curves_do_not_reach_below_one_non_member(evaluations, settings):
    curves = against_references.figure_1(evaluations)
    assert curves["fpr"].min() >= 1 / 120
    for _, curve in curves.groupby(["panel", "series"]):
        assert curve["tpr"].is_monotonic_increasing


def test_a_curve_has_the_interval_that_a_table_has_of_one_rate(evaluations, settings):
    curves = against_references.figure_1(evaluations)
    assert set(curves["series"]) == set(against_references.FIGURE_1)
    for evaluation in evaluations:
        fpr = curves.loc[curves["panel"] == evaluation.label, "fpr"].iloc[5]
        here = curves[(curves["panel"] == evaluation.label) & (curves["fpr"] == fpr)]
        for row in here.to_dict("records"):
            pairs = zip(evaluation.scores(row["series"]), evaluation.member, strict=True)
            values = [metrics.tpr_at_fpr(score, truth, fpr) for score, truth in pairs]
            said = metrics.summary(values, np.arange(len(values)) // 2, lowest=0.0, highest=1.0)
            assert row["tpr"] == pytest.approx(said["value"])
            if np.ptp(values):
                assert row["low"] == pytest.approx(said["low"])
                assert row["high"] == pytest.approx(said["high"])


def test_table_8_counts_the_few_records_that_all_targets_share_as_well(source, settings):
    swept = reading.read(source, subjects.SWEPT, subjects.decomposed)
    table = inversion.table_8(swept, [])
    table = table[table["metric"] == "AUC"]
    assert len(table)
    for evaluation in swept:
        for row in table[table["dataset"] == evaluation.label].to_dict("records"):
            scores = evaluation.scores(inversion.CONDITIONINGS[row["attack"]])
            values = [metrics.auc(*pair) for pair in zip(scores, evaluation.member, strict=True)]
            alone = metrics.summary(values, evaluation.units)
            assert row["standard_error"] >= alone["standard_error"] * (1 - 1e-9)
            assert row["degrees_of_freedom"] <= len(set(evaluation.units)) - 1
            assert (row["low"] + row["high"]) / 2 == pytest.approx(row["value"])


def test_table_1_agrees_with_the_papers_where_both_say():
    table = against_references.table_1().set_index("attack")
    paper = {
        "LOSS": ("black-box", False, "no"),
        "LiRA": ("black-box", True, "no"),
        "SIF": ("white-box", False, "no"),
        "L-attack": ("black-box", True, "yes"),
        "LiRA-L": ("black-box", True, "yes"),
        "IHA": ("white-box", False, "yes"),
    }
    for name, (access, references, others) in paper.items():
        assert table.loc[name, "model access"] == access
        assert (table.loc[name, "reference models"] != "none") == references
        assert table.loc[name, "leave-one-out knowledge"] == others


def test_table_1_lists_every_attack_that_the_evidence_allows(monkeypatch):
    listed = set(against_references.table_1()["attack"])
    assert {"MAST", "IHA*", "residual test", "loss likelihood ratio"} <= listed
    assert not {"BMIA", "GLiR", "RMIA, share of a population", "MATT"} & listed
    module = sys.modules["membership.attacks.registry"]
    loss = module.registry()["loss"]
    more = {"a": replace(loss, name="a", display="new"), "b": replace(loss, needs=("hinge",))}
    monkeypatch.setattr(module, "ATTACKS", module.ATTACKS | more)
    assert set(against_references.table_1()["attack"]) == listed | {"new"}


@pytest.mark.slow
def test_both_solvers_agree(source, evaluations, settings):
    solved = [source.evidence(f"solvers-{name}") for name in ("digits-odd", "digits")]
    table = inversion.table_3(evaluations, solved)
    found = table.set_index(KEYS)["value"]
    for evaluation in evaluations:
        assert (
            0
            < found[evaluation.label, "IHA (CG)", "largest difference from exact, relative"]
            < 1e-4
        )
        for metric in rows.METRICS:
            exact, cg = (found[evaluation.label, f"IHA ({s})", metric] for s in ("Exact", "CG"))
            assert cg == pytest.approx(exact, abs=0.01)
        asked = table.attrs["setup"][evaluation.label]
        assert asked["queried_members"] + asked["queried_non_members"] <= 60


@pytest.mark.slow
def test_what_conjugate_gradients_change_is_added_to_the_exact_scores(
    source, evaluations, settings
):
    solved = [
        source.evidence(f"solvers-{name}").copy(deep=True) for name in ("digits-odd", "digits")
    ]
    evaluation, one = evaluations[0], solved[0]
    at = np.searchsorted(evaluation.outputs["record"].values, one["query"].values)
    # A solver that turns every score round has the AUC turned round.
    exact = np.stack([scores[at] for scores in evaluation.scores("IHA")])
    one["difference"].values[:] = -2 * exact
    found = inversion.table_3(evaluations, solved).set_index(KEYS)["value"]
    exact, cg = (found[evaluation.label, f"IHA ({s})", "AUC"] for s in ("Exact", "CG"))
    assert cg == pytest.approx(1 - exact, abs=1e-6)


def test_published_times_stand_beside_without_a_verdict(evaluations):
    label = evaluations[0].label
    table = published.table("iha_table6").assign(dataset=label, low=0.0, high=1e6)
    table.attrs = {"setup": {label: {"published": "Purchase-100(S)"}}}
    judged = inversion.beside(table, "iha_table6")
    assert judged["published"].notna().all()
    assert set(judged["verdict"]) == {"not comparable"}


@pytest.mark.slow
def test_table_6_is_marked_as_measured(source, settings):
    table = inversion.table_6([source.evidence("costs-digits")])
    assert table.attrs["timing"] is True
    printed = set(published.table("iha_table6")["metric"])
    assert printed <= set(table["metric"])
    assert (table["value"] >= 0).all()
    ratio = table[(table["metric"] == subjects.RATIO) & (table["attack"] == "IHA")]
    assert ratio["value"].tolist() == [1.0]
    assert table.attrs["setup"]["Digits"]["reference_models"] == settings.n_models
    assert not any("models (the paper: 128)" in text for text in table.attrs["deviations"][:-2])


def test_seconds_and_bytes_of_table_6_are_those_of_the_timings(source, settings):
    costs = source.evidence("costs-digits").copy(deep=True)
    case = list(costs["attack"].values).index("LiRA")
    costs["before"].values[case], costs["each"].values[case] = [10.0, 20.0, 30.0], 0.001
    costs["held"].values[case], costs["held_after"].values[case] = [1e6, 3e6, 0.0], 2e6
    exact = list(costs["attack"].values).index("IHA")
    costs["before"].values[exact], costs["each"].values[exact] = 1.0, 0.009
    table = inversion.table_6([costs])
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


@pytest.mark.slow
def test_variants_are_larger_and_deeper(source, evaluations):
    variants = reading.read(source, subjects.MAIN, subjects.variants)
    deep = reading.read(source, subjects.SWEPT, subjects.deep)
    table = against_references.table_7(evaluations, variants, deep)
    assert list(table["dataset"].unique()) == ["Digits", "Digits, MLP-4"]
    assert set(subjects.DEEP_DAMPINGS) <= set(table["attack"])
    judged = against_references.table_7_judged(table)
    assert isinstance(judged, pd.DataFrame)
    assert not judged.duplicated(KEYS).any()
    assert judged["published"].isna().all()
