"""The attacks by what they need: the registry's, with numbers as the committed tables have them."""

import pytest

from membership import attacks
from membership.attacks import KNOWLEDGE
from membership.book import exhibits
from membership.book.site import attack_finder


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


def test_numbers_are_those_of_the_bench(found):
    for name, exhibit in (("lira", "comparison-tab-1"), ("iha", "comparison-tab-2")):
        table = exhibits.load(exhibit)[0]
        rows = table[table["attack"] == found[name].attack.display]
        numbers = rows.set_index("metric")["value"]
        reached = found[name].reached
        assert (reached.auc, reached.tpr) == (numbers["AUC"], numbers["TPR@1%FPR(%)"])
        assert (reached.exhibit, reached.cells) == (exhibit, rows["cells"].iloc[0])
    assert found["glir"].reached is None


def test_every_attack_of_the_bench_is_found(found):
    displays = {case.attack.display for case in found.values()}
    for exhibit in attack_finder.TABLES:
        assert set(exhibits.load(exhibit)[0]["attack"]) <= displays


def test_the_chapter_is_that_of_the_paper_or_where_it_is_measured(found):
    assert found["glir"].chapter == "gmip"
    assert found["qmia"].chapter == "comparison"
