"""The papers' numbers as their tables print them, each with its place and what a verdict needs."""

import math
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from membership.book import published
from membership.book.published import tables
from membership.book.published.tables import misprints
from membership.errors import InputError
from tests.book.exhibits.papers import of_the_papers


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("bayes_optimal_table1", 45), ("bayes_optimal_table2", 4), ("bayes_optimal_table3", 12)],
)
def test_a_table_holds_every_number_of_the_paper(name, numbers):
    table = published.table(name)
    assert len(table) == numbers
    assert table["value"].between(50, 100).all()
    assert not table.duplicated(["row", "table", "attack", "metric"]).any()


def test_the_numbers_are_as_printed():
    table = published.table("bayes_optimal_table1")
    row = table[(table["row"] == 1) & (table["attack"] == "MATT")]
    assert dict(zip(row["metric"], row["value"], strict=True)) == {
        "attack_accuracy(%)": 57.0,
        "mAP_test(%)": 60.1,
        "mAP_train(%)": 57.1,
    }


def test_the_0_1_column_agrees_with_the_accuracies_of_its_models():
    """Half of 1 + train - test, to the rounding of the three numbers (0.1)."""
    table = published.table("bayes_optimal_table1")
    values = table[table["table"] == "1-top"].pivot_table("value", "row", ["attack", "metric"])
    train = values["(model)", "train_accuracy(%)"]
    test = values["(model)", "validation_accuracy(%)"]
    expected = (100 + train - test) / 2
    assert ((expected - values["0-1", "attack_accuracy(%)"]).abs() <= 0.1 + 1e-9).all()


def test_only_an_empty_cell_is_missing():
    for file in files("membership.book.published").iterdir():
        if file.name.endswith(".csv"):
            read = published.table(file.name.removesuffix(".csv"))
            text = pd.read_csv(file, dtype=str, keep_default_na=False)
            assert read.shape == text.shape
            assert (read.isna().to_numpy() == (text == "").to_numpy()).all(), file.name


def test_an_unknown_table_is_named_beside_the_known_ones():
    with pytest.raises(InputError, match=r"'bayes_optimal_table9'.*bayes_optimal_table1"):
        published.table("bayes_optimal_table9")
    with pytest.raises(InputError, match="no published table"):
        published.table("../published/iha_table2")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("attack_accuracy(%)", "attack accuracy (%)"),
        ("attack_accuracy_other_threshold(%)", "accuracy, threshold from other records (%)"),
        ("mAP_test(%)", "mAP test (%)"),
        ("auc(%)", "AUC (%)"),
        ("AUC", "AUC"),
        ("TPR@1%FPR(%)", "TPR at 1% FPR (%)"),
        ("TPR@0.1%FPR (%)", "TPR at 0.1% FPR (%)"),
        ("TPR(%)@FPR=1%, less BMIA's", "TPR at 1% FPR (%), less BMIA's"),
        ("auc(%), less BMIA's", "AUC (%), less BMIA's"),
        ("std_ratio", "ratio of standard deviations"),
        ("rank_correlation", "rank correlation"),
        ("P(member)", "P(member)"),
    ],
)
def test_metrics_are_spelt_out(metric, words):
    assert published.metric_words(metric) == words


def test_a_chapter_s_tables_are_not_those_of_one_whose_name_begins_the_same():
    assert "bayes_optimal_table1" in tables.table_names("bayes_optimal")
    assert "iha_sec4_1" in tables.table_names("iha")
    assert tables.table_names("bayes") == []


TABLES = [
    *(f"bayes_optimal_table{n}" for n in (1, 2, 3)),
    *("bmia_table1", "bmia_table2", "gmip_table5"),
    *(f"iha_table{n}" for n in ("2", "3", "4", "5a", "5b", "6", "7", "8", "9")),
    *("iha_appD1", "iha_sec4_1", "iha_sec4_4"),
]


@pytest.mark.parametrize("name", TABLES)
def test_every_number_has_a_margin_of_at_least_its_rounding_and_a_set_up(name):
    found = published.reference(name)
    judged = found[~found["seconds"]]
    assert (judged["margin"] >= 1.1 * 10.0 ** -judged["decimals"] - 1e-12).all()
    assert found["setup"].isin(list(published.setup(found["chapter"].iloc[0]))).all()
    assert len(found) == published.table(name).filter(["value", "tau"]).notna().sum().sum()


def test_the_margins_are_those_of_the_rule():
    rates = published.reference("iha_table2").set_index(["dataset", "attack", "metric"])
    assert (rates.xs("AUC", level="metric")["margin"] == 0.01).all()
    one = rates.loc[("MNIST-Odd", "LiRA", "TPR@1%FPR (%)")]
    assert one["margin"] == pytest.approx(2.77 / 4)
    least = rates.loc[("Purchase-100", "LOSS", "TPR@0.1%FPR (%)")]
    assert (least["value"], least["margin"]) == (0.0, 0.05)
    accuracy = published.reference("iha_sec4_1").set_index("metric")["margin"]
    assert accuracy["test accuracy (%)"].iloc[0] == pytest.approx(1.1)
    assert accuracy["test loss (MSE)"] == pytest.approx(0.05 * 0.078)


def test_digits_are_those_of_the_column_as_printed():
    table_5 = published.reference("gmip_table5")
    assert (table_5["value"] == 0).any()
    assert (table_5["decimals"] == 2).all()
    assert table_5["margin"].to_numpy() == pytest.approx(0.011)


def test_a_printed_spread_becomes_a_sample_standard_deviation():
    found = published.reference("iha_table2").set_index(["dataset", "attack", "metric"])
    row = found.loc[("FashionMNIST", "IHA (Exact)", "AUC")]
    assert row["spread"] == pytest.approx(0.018 * math.sqrt(10 / 9))
    assert row["n_models"] == 10
    assert math.isnan(found.loc[("FashionMNIST", "IHA (Exact)", "TPR@1%FPR (%)"), "spread"])


def test_a_bare_number_takes_its_spread_from_the_table_that_prints_it():
    found = published.reference("iha_table8").set_index(["dataset", "attack"])["spread"]
    assert found["FashionMNIST", "IHA (damping eps=2e-1)"] == pytest.approx(0.018974, abs=1e-6)
    assert np.isnan(found["FashionMNIST", "IHA (damping eps=1e-1)"])


def test_the_papers_repeats_stand_where_no_spread_is_printed():
    assert (published.reference("bayes_optimal_table1")["n_models"] == 100).all()
    assert (published.reference("bayes_optimal_table2")["n_models"] == 1).all()
    assert published.reference("bmia_table1")["spread"].isna().all()


def test_seconds_have_no_margin():
    found = published.reference("iha_table6")
    assert found[found["seconds"]]["margin"].isna().all()
    assert set(found[found["seconds"]]["metric"]) == {"precompute time (s)", "time per sample (s)"}


def test_a_table_without_results_is_refused():
    with pytest.raises(InputError, match="no results"):
        published.reference("gmip_table3")
    with pytest.raises(InputError, match="no published table"):
        published.reference("iha_table99")


@pytest.mark.parametrize("chapter", published.papers)
def test_every_number_has_a_place_of_its_own(chapter):
    found = published.printed(chapter)
    assert found["printed_at"].is_unique
    assert not found.duplicated(["exhibit", "what", "metric"]).any()
    known = set(of_the_papers(chapter)["id"]) | {""}
    assert set(found["exhibit"]) <= known


def test_numbers_are_as_the_tables_print_them():
    found = published.printed("iha").set_index(["exhibit", "what", "metric"])
    row = found.loc["iha-tab-2", "MNIST-Odd, LiRA", "AUC"]
    assert (row["value"], row["decimals"], row["printed_at"]) == (0.568, 3, "iha_table2:21")
    in_text = found.loc[""]
    assert set(in_text["printed_at"].str.partition(":")[0]) == {
        *("iha_appD1", "iha_sec4_1", "iha_sec4_4")
    }


def test_a_comparison_says_where_the_published_number_is():
    reference = published.reference("gmip_table5")
    table = reference[["dataset", "method", "mu", "metric", "value"]].assign(
        low=reference["value"], high=reference["value"]
    )
    table.loc[0, "mu"] = 99.0
    table.attrs["setup"] = {"formula": {}}
    judged = published.compare(table, reference, ["dataset", "method", "mu", "metric"], by="")
    assert judged["printed_at"].tolist() == ["", *reference["printed_at"][1:]]


def test_the_data_sets_of_a_paper():
    assert published.data_sets("lood") == ["cifar10"]
    assert all(published.data_sets(chapter) for chapter in published.papers)


def test_what_is_printed_twice_is_read_from_the_tables():
    table = misprints("iha").set_index("quantity")
    first = table.loc["LOSS on Purchase-100, AUC"]
    assert first["printed"] == 0.531
    assert first["printed there"] == 0.529
    assert first["difference"] == pytest.approx(0.002)
    (order,) = (q for q in table.index if q.startswith("TPR at FPR 0.3"))
    assert table.loc[order, "difference"] < 0
