"""The claims on the committed results, and on numbers altered so that they should flip."""

import numpy as np
import pytest

from membership import privacy
from membership.book.published import outcomes
from membership.book.studies.gmip import audit as auditing
from membership.book.studies.gmip.claims import CLAIMS
from tests.book.studies.altered import Altered, committed_run, moved, swap

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
    ("gmip-c11", "gmip-fig-4", on_the_curve, SUPPORTED),
    ("gmip-o01", "gmip-ctl-2", moved(1, quantity="rank, least"), outcomes.UNDECIDED),
]


@pytest.mark.parametrize(("name", "exhibit", "change", "word"), FLIPS, ids=lambda x: str(x)[:8])
def test_a_claim_flips_when_its_numbers_do(name, exhibit, change, word, committed):
    claim = BY_ID[name]
    assert exhibit in claim.exhibits
    before = claim.outcome(committed)
    assert before.word != word
    assert claim.outcome(Altered(committed, exhibit, change)).word == word


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
