"""Every printed number, with where it is printed; runs beside it name the same place."""

import pytest

from membership import published
from tests.exhibits.papers import of_the_papers


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
