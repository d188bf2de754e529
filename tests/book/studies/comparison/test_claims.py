"""The chapter's claims on a tiny run, and on numbers altered so that they should turn."""

import pandas as pd
import pytest

from membership.book.published import outcomes
from membership.book.studies.comparison.claims import CLAIMS, SIMULATED
from tests.book.studies.altered import Altered

BY_ID = {claim.id.removeprefix("comparison-"): claim for claim in CLAIMS}
SUPPORTED, CONTRADICTED = outcomes.SUPPORTED, outcomes.CONTRADICTED


def _set(value, error=0.001, **where):
    """The numbers of some rows, with a small error."""

    def change(table):
        chosen = (table[list(where)] == list(where.values())).all(axis=1)
        assert chosen.any()
        table = table.copy()
        table.loc[chosen, ["value", "low", "high"]] = value
        table.loc[chosen, "standard_error"] = error
        table.loc[chosen, "degrees_of_freedom"] = 100.0
        table.loc[chosen, "n_repeats"] = 100
        return table

    return change


def _nulls(share):
    def change(table):
        chosen = table["null"] == "membership permuted"
        return table.assign(
            value=table["value"].where(~chosen, share),
            n_repeats=table["n_repeats"].where(~chosen, 2000),
        )

    return change


def _of_later(value, attack, dataset="Fashion-MNIST"):
    """The first cell's rows as those of a data set that came later, one number set."""

    def change(table):
        first = table[table["target"] == table["target"].iloc[0]]
        later = first.assign(dataset=dataset, target="strongly regularised MLP")
        return _set(value, attack=attack)(later)

    return change


TURNS = [
    ("o01", "tab-5", _set(99.0, metric="lower bound on mu"), CONTRADICTED),
    ("o01", "tab-5", _set(0.1, metric="lower bound on mu"), SUPPORTED),
    ("o02", "ctl-4", _nulls(5.0), SUPPORTED),
    ("o02", "ctl-4", _nulls(30.0), CONTRADICTED),
    ("o06", "fig-1", _of_later(0.02, "BASE less LiRA"), SUPPORTED),
    ("o06", "fig-1", _of_later(-0.02, "BASE less LiRA"), CONTRADICTED),
    ("o07", "fig-1", _of_later(0.04, "LiRA less LOSS"), SUPPORTED),
    ("o07", "fig-1", _of_later(0.01, "LiRA less LOSS"), CONTRADICTED),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "exhibit", "change", "word"), TURNS)
def test_a_claim_turns_with_its_numbers(name, exhibit, change, word, source):
    claim = BY_ID[name]
    assert claim.outcome(source).word in outcomes.WORDS
    assert claim.outcome(Altered(source, f"comparison-{exhibit}", change)).word == word


@pytest.mark.slow
def test_without_a_private_target_its_claim_is_not_tested(source):
    def change(table):
        return table[~table["metric"].str.startswith("stated")]

    found = BY_ID["o01"].outcome(Altered(source, "comparison-tab-5", change))
    assert found.word == outcomes.NOT_TESTED


@pytest.mark.parametrize("name", ["o06", "o07"])
def test_claims_of_later_data_sets_take_these(name, source):
    assert BY_ID[name].outcome(source).word == outcomes.NOT_TESTED


def _base_leads_by(source, **leads):
    """What o06 makes of BASE's lead on each of some data sets."""
    changes = [_of_later(lead, "BASE less LiRA", dataset) for dataset, lead in leads.items()]

    def change(table):
        return pd.concat([of_one(table) for of_one in changes])

    return BY_ID["o06"].outcome(Altered(source, "comparison-fig-1", change)).word


def test_a_simulated_data_set_decides_nothing(source):
    (simulated,) = SIMULATED
    assert _base_leads_by(source, **{simulated: -0.02}) == outcomes.NOT_TESTED
    for lead, word in ((0.02, SUPPORTED), (-0.02, CONTRADICTED)):
        assert _base_leads_by(source, **{"Fashion-MNIST": lead, simulated: -lead}) == word
