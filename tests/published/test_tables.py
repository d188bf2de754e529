from importlib.resources import files

import pandas as pd
import pytest

from membership import published
from membership.errors import InputError
from membership.published import tables


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
    for file in files("membership.published").iterdir():
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
