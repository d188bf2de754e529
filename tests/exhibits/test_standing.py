"""How near a committed run is to the paper's is declared beside the exhibit."""

import pytest

from membership import published
from membership.exhibits import declared, panels, standing

EXHIBITS = [one for chapter in published.subjects for one in declared(chapter)]


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_what_is_declared_is_known_and_there_where_a_run_has_data(exhibit):
    assert set(exhibit.standing) <= set(standing.DECLARED)
    runs = panels.panels(exhibit, "paper", "")
    assert bool(exhibit.standing) == bool(runs and runs[0].about["data"])


@pytest.mark.parametrize(
    ("exhibit_id", "found"),
    [
        # CIFAR-10 for the paper's ImageNet.
        ("bayes-optimal-ctl-14", (standing.SUBSTITUTE,)),
        # Fixed features of CIFAR-10, and none of the paper's data sets beside it.
        ("bmia-fig-2", (standing.OTHER, standing.SUBSTITUTE)),
        ("iha-tab-2", (standing.AS_PAPER, standing.SUBSTITUTE)),
    ],
)
def test_the_standing_of_a_run_is_the_declared_one(exhibit_id, found):
    exhibit = next(one for one in EXHIBITS if one.id == exhibit_id)
    assert standing.standing(exhibit, panels.panels(exhibit, "paper", "")[0]) == found


def test_without_a_run_a_page_may_say_how():
    exhibit = next(one for one in declared("bayes_optimal") if one.id == "bayes-optimal-tab-3")
    assert standing.standing(exhibit, None) == (standing.RECIPE,)
    other = next(one for one in declared("bayes_optimal") if one.id == "bayes-optimal-tab-1")
    assert standing.standing(other, None) == (standing.NOT_RUN,)


def test_a_run_without_data_is_computed():
    exhibit = next(one for one in declared("gmip") if one.id == "gmip-tab-5")
    run = panels.panels(exhibit, "paper", "")[0]
    assert standing.standing(exhibit, run) == (standing.COMPUTED,)
