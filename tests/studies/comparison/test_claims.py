"""The chapter's claims on a tiny run, and on numbers altered so that they should turn."""

import pytest

from membership.published import outcomes
from membership.studies.comparison.claims import CLAIMS
from tests.studies.altered import Altered

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


def _both(*changes):
    def change(table):
        for one in changes:
            table = one(table)
        return table

    return change


def _thresholds(one, five):
    rows = [
        _set(rate, attack=attack, **{"nominal FPR": word, "metric": "realised FPR (%)"})
        for word, rate in (("1%", one), ("5%", five))
        for attack in ("LiRA", "LiRA offline", "Attack-R")
    ]
    return _both(*rows)


def _nulls(share):
    def change(table):
        chosen = table["null"] == "membership permuted"
        return table.assign(
            value=table["value"].where(~chosen, share),
            n_repeats=table["n_repeats"].where(~chosen, 2000),
        )

    return change


ABOVE = "records with an FPR above 20% (%)"
CONFORMAL = {"p-values": "LiRA offline, conformal by references", "metric": "false discoveries (%)"}
TURNS = [
    ("o01", "tab-5", _set(99.0, metric="lower bound on mu"), CONTRADICTED),
    ("o01", "tab-5", _set(0.1, metric="lower bound on mu"), SUPPORTED),
    ("o02", "ctl-4", _nulls(5.0), SUPPORTED),
    ("o02", "ctl-4", _nulls(30.0), CONTRADICTED),
    ("o03", "ctl-3", _set(40.0, attack="LOSS - LiRA offline", metric=ABOVE), SUPPORTED),
    ("o03", "ctl-3", _set(-40.0, attack="LOSS - LiRA offline", metric=ABOVE), CONTRADICTED),
    ("o04", "tab-3", _thresholds(1.0, 5.0), SUPPORTED),
    ("o04", "tab-3", _thresholds(1.0, 9.0), CONTRADICTED),
    ("o05", "tab-6", _set(4.0, **CONFORMAL), SUPPORTED),
    ("o05", "tab-6", _set(40.0, **CONFORMAL), CONTRADICTED),
]


@pytest.mark.parametrize(("name", "exhibit", "change", "word"), TURNS)
def test_a_claim_turns_with_its_numbers(name, exhibit, change, word, source):
    claim = BY_ID[name]
    assert claim.outcome(source).word in outcomes.WORDS
    assert claim.outcome(Altered(source, f"comparison-{exhibit}", change)).word == word


def test_the_test_that_was_not_paired_stays(source):
    swapped = _both(
        _set(1.0, attack="LOSS", metric=ABOVE), _set(40.0, attack="LiRA offline", metric=ABOVE)
    )
    altered = Altered(source, "comparison-ctl-3", swapped)
    assert BY_ID["o03"].former_outcome(altered).word == CONTRADICTED


def test_without_a_private_target_its_claim_is_not_tested(source):
    def change(table):
        return table[~table["metric"].str.startswith("stated")]

    found = BY_ID["o01"].outcome(Altered(source, "comparison-tab-5", change))
    assert found.word == outcomes.NOT_TESTED
