"""The claims on the committed results, and on numbers altered so that they should flip."""

import numpy as np
import pytest

from membership import privacy
from membership.published import outcomes
from membership.studies.gmip import audit as auditing
from membership.studies.gmip import formula_tests
from membership.studies.gmip.claims import CLAIMS
from tests.studies.altered import Altered, committed_run, moved, swap

BY_ID = {claim.id: claim for claim in CLAIMS}
SUPPORTED, CONTRADICTED = outcomes.SUPPORTED, outcomes.CONTRADICTED


@pytest.fixture(scope="module")
def committed():
    return committed_run("gmip")


def on_the_curve(table):
    """GLiR exactly at Corollary 5.1."""
    for panel, (d, n, _) in auditing.ABLATIONS.items():
        rows = (table["panel"] == panel) & (table["series"] == "GLiR")
        exact = privacy.gaussian_tpr(table.loc[rows, "fpr"], privacy.mip_mu_step(d, n, d))
        table.loc[rows, ["tpr", "low", "high"]] = np.stack([exact] * 3, axis=1)
        table.loc[rows, "standard_error"] = 0.0
    return table


FLIPS = [
    ("gmip-c01", "gmip-ctl-1", moved(0.05), CONTRADICTED),
    ("gmip-c03", "gmip-fig-2", moved(0.6, series="GLiR", panel="one step"), CONTRADICTED),
    ("gmip-c04", "gmip-fig-2", moved(0.2, series="GLiR", panel="d ="), CONTRADICTED),
    ("gmip-c07", "gmip-ctl-4", moved(60, attack="less that of one step"), CONTRADICTED),
    ("gmip-c09", "gmip-fig-6", swap("series", "GLiR", "loss (LiRA)"), CONTRADICTED),
    ("gmip-c06", "gmip-ctl-2", moved(30, quantity="all steps less one"), CONTRADICTED),
    ("gmip-c11", "gmip-fig-4", on_the_curve, SUPPORTED),
    ("gmip-c11-laws", "gmip-fig-4", moved(0.2, series="GLiR", panel="uniform"), CONTRADICTED),
    ("gmip-c13", "gmip-ctl-9", moved(0, 0.1, method="Equation 10"), CONTRADICTED),
    ("gmip-c14", "gmip-tab-5", moved(0.05), CONTRADICTED),
    ("gmip-c16", "gmip-ctl-18", moved(-90, quantity="AUC lost"), CONTRADICTED),
    ("gmip-c17", "gmip-ctl-18", moved(5, quantity="greatest TPR"), CONTRADICTED),
    ("gmip-o01", "gmip-ctl-2", moved(1, quantity="rank, least"), outcomes.UNDECIDED),
    ("gmip-o06", "gmip-ctl-9", swap("method", "Equation 10", "numerical"), CONTRADICTED),
    ("gmip-o16", "gmip-ctl-4", moved(-60, attack="less that of one step"), CONTRADICTED),
]


@pytest.mark.parametrize(("name", "exhibit", "change", "word"), FLIPS, ids=lambda x: str(x)[:8])
def test_a_claim_flips_when_its_numbers_do(name, exhibit, change, word, committed):
    claim = BY_ID[name]
    assert exhibit in claim.exhibits
    before = claim.outcome(committed)
    assert before.word != word
    assert claim.outcome(Altered(committed, exhibit, change)).word == word


def test_c18_flips_where_the_two_notions_change_places(committed):
    claim = BY_ID["gmip-c18"]
    assert claim.outcome(committed).word == SUPPORTED
    swapped = Altered(committed, "measured-", lambda one: one.assign_coords(notion=["gdp", "mip"]))
    assert claim.outcome(swapped).word == CONTRADICTED


def test_the_order_of_another_score_contradicts_the_neyman_pearson_claim(committed, monkeypatch):
    claim = BY_ID["gmip-c08-record"]
    assert claim.outcome(committed).word == SUPPORTED
    monkeypatch.setattr(formula_tests, "glir_from_distance", lambda distance, *_: distance)
    assert claim.outcome(committed).word == CONTRADICTED


def test_levels_that_need_more_noise_contradict_less_noise(committed):
    def change(table):
        words = table["metric"].str.replace("(MIP)", "(X)").str.replace("(DP)", "(MIP)")
        return table.assign(metric=words.str.replace("(X)", "(DP)"))

    claim = BY_ID["gmip-c15"]
    assert claim.outcome(committed).word == SUPPORTED
    assert claim.outcome(Altered(committed, "gmip-tab-5", change)).word == CONTRADICTED


def test_a_simulation_is_told_and_decides_nothing(committed):
    def without_real(table):
        return table[table["data"] == "simulated"]

    claim = BY_ID["gmip-c07"]
    found = claim.outcome(Altered(committed, "gmip-ctl-4", without_real))
    assert found.word == outcomes.NOT_TESTED
    assert "simulation: contradicted" in found.reason
    swapped = swap("attack", "joint test", "one step")
    alike = Altered(committed, "gmip-ctl-4", lambda table: swapped(without_real(table)))
    assert "simulation: supported" in claim.outcome(alike).reason
