"""The attacks by what they need: the registry's, with numbers as the committed tables have them."""

import pytest

from membership import attacks
from membership.attacks import KNOWLEDGE
from membership.book import exhibits
from membership.book.site import attack_finder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    return {one.attack.name: one for one in attack_finder.cases()}


def test_every_registered_attack_is_a_case(found):
    assert list(found) == list(attacks.registry())
    assert {one.models for one in found.values()} == set(attack_finder.COSTS)
    assert set(attack_finder.IMPLIED) <= set(KNOWLEDGE)


def test_what_is_implied_is_closed():
    for word, implied in attack_finder.IMPLIED.items():
        for one in implied:
            assert set(attack_finder.IMPLIED.get(one, ())) <= set(implied), word


def test_numbers_are_those_of_the_committed_tables(found):
    reached = {one.exhibit.id: one for one in found["lira"].reached}
    table = exhibits.load("iha-tab-2")[0]
    rows = table[(table["attack"] == "LiRA") & (table["dataset"] == "MNIST-Odd")]
    numbers = rows.set_index("metric")["value"]
    line = next(one for one in reached["iha-tab-2"].lines if one.data == "MNIST-Odd")
    assert line.auc == f"{numbers['AUC']:.3f}"
    assert line.tpr == f"{numbers['TPR@1%FPR (%)']:.1f}%"
    # Percent in this table; with the most reference models it has.
    table = exhibits.load("bmia-tab-1")[0]
    rows = table[(table["attack"] == "LiRA") & (table["metric"] == "auc(%)")]
    most = rows[rows["n_reference"] == rows["n_reference"].max()]
    assert reached["bmia-tab-1"].models == most["n_reference"].iloc[0] > 1
    assert reached["bmia-tab-1"].lines[0].auc == f"{most['value'].iloc[0] / 100:.3f}"


def test_an_average_over_cells_is_called_one_and_not_by_the_first_data_set(found):
    reached = {one.exhibit.id: one for one in found["lira"].reached}
    table = exhibits.load("comparison-tab-1")[0]
    rows = table[(table["attack"] == "LiRA") & (table["metric"] == "AUC")]
    (line,) = reached["comparison-tab-1"].lines
    assert line.data == f"average of {rows['cells'].iloc[0]}"
    assert line.auc == f"{rows['value'].iloc[0]:.3f}"


def test_an_attack_goes_by_the_names_that_tables_give_it(found):
    assert "bayes-optimal-tab-2" in {one.exhibit.id for one in found["loss"].reached}
    assert "iha-tab-2" in {one.exhibit.id for one in found["iha"].reached}
    assert "gmip-ctl-2" in {one.exhibit.id for one in found["glir"].reached}
    # A variant is no other attack.
    assert all(one.exhibit.id != "iha-tab-2" for one in found["lira-global"].reached)


def test_data_come_before_games(found):
    assert "bayes-optimal-ctl-1" not in {one.exhibit.id for one in found["matt"].reached}


def test_the_chapter_is_that_of_the_paper_or_where_it_is_measured(found):
    assert found["glir"].chapter == "gmip"
    assert found["qmia"].chapter == "bmia"
