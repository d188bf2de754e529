"""The attack beside others: tables with published numbers beside, pictures, and two together."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from membership import metrics
from membership.book import published
from membership.book.studies.iha import against_references, inversion, score_taken_apart, subjects
from membership.book.studies.iha import evaluation as reading
from membership.book.studies.iha.against_references import (
    AHEAD,
    FALSE,
    LESS,
    PAIR,
    TRUE,
    compared_said,
    together,
)


@pytest.mark.parametrize("ties", [False, True])
def test_both_accuse_what_each_accuses(ties: bool) -> None:
    rng = np.random.default_rng(5)
    member = rng.random(800) < 0.5
    pair = [rng.normal(size=800) + member for _ in range(2)]
    pair = [np.round(score, 1) for score in pair] if ties else pair
    accused = []
    for score in pair:
        outside = score[~member]
        levels = [t for t in outside if (outside > t).mean() <= 0.05]
        accused.append([value > min(levels) for value in score])
    both = [a and b for a, b in zip(*accused, strict=True)]
    false = sum(both[i] for i in range(800) if not member[i]) / (~member).sum()
    true = sum(both[i] for i in range(800) if member[i]) / member.sum()
    numbers = together(pair, member, 0.05)
    assert numbers[FALSE] == pytest.approx(100 * false)
    assert numbers[TRUE] == pytest.approx(100 * true)
    assert numbers[AHEAD] == pytest.approx(100 * (true - false))
    for name, score in zip(PAIR, pair, strict=True):
        alone = metrics.tpr_at_fpr(score, member, false + 1e-9)
        less = numbers[LESS.format(attack=name)]
        assert less == pytest.approx(100 * (true - alone))


def test_the_coin_has_full_knowledge_at_fraction_one(source, settings):
    table = against_references.table_9(reading.read(source, subjects.KNOWN, subjects.subjects))
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


NAMES = {"A": "A", "B": "B"}


def _two(a, b):
    rows = [("X", "A", "AUC", *a), ("X", "B", "AUC", *b)]
    return pd.DataFrame(rows, columns=["dataset", "attack", "metric", "low", "high"])


def test_a_sentence_follows_the_intervals():
    low, high = (0.5, 0.6), (0.7, 0.8)
    assert compared_said(_two(high, low), NAMES) == "By AUC, A is above B on X."
    assert compared_said(_two(low, high), NAMES) == "By AUC, A is below B on X."
    wide = (0.55, 0.75)
    assert "intervals of the two overlap" in compared_said(_two(wide, high), NAMES)


def test_the_first_curve_at_one_percent_is_named():
    grid = np.array([0.001, 0.01, 0.1])
    parts = [
        pd.DataFrame({"panel": "X", "series": name, "fpr": grid, "tpr": tpr})
        for name, tpr in (("A", [0.5, 0.1, 0.2]), ("B", [0.1, 0.2, 0.3]))
    ]
    assert against_references.figure_1_said(pd.concat(parts)).endswith("B's on X.")
