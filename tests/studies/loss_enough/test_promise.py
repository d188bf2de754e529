"""The tests of claims on GMIP's Control 20, on tables made up for each outcome."""

import numpy as np
import pandas as pd
import pytest

from membership.errors import InputError
from membership.published import outcomes
from membership.studies.loss_enough import promise_tests
from membership.studies.loss_enough.settings import Settings

ASKED = 10_000
LENGTHS = ("one step", "5 steps", "all epochs")
PAIR = "GLiR less LiRA, one variance, at most 16 shadow models"
PROMISED = dict(zip(promise_tests.RATES, (2.0, 8.0, 35.0), strict=True))


def _rows(attack, values, error):
    for steps in LENGTHS:
        for quantity, value in zip(promise_tests.RATES, values, strict=True):
            yield {
                **{"data": "Adult", "steps": steps, "attack": attack, "quantity": quantity},
                **{"value": value, "low": value - 2 * error, "high": value + 2 * error},
                **{"standard_error": error, "degrees_of_freedom": 9.0, "n_repeats": 10},
                **{"asked": ASKED, "found": round(max(value, 0) / 100 * ASKED)},
            }


def table(found=(0.5, 3.0, 20.0), error=0.1, lead=(1.0, 2.0, 3.0)):
    attacks = {*promise_tests.IN_ONE_STEP, *promise_tests.DECIDING}
    rows = [row for attack in sorted(attacks) for row in _rows(attack, found, error)]
    for stated in (*promise_tests.BOUNDS, "promised, Equation 10"):
        rows += list(_rows(stated, PROMISED.values(), 0.0))
    rows += list(_rows(PAIR, lead, error))
    made = pd.DataFrame(rows)
    made.attrs = {"sizes": {"Shadow models": "64"}}
    return made


CASES = [
    ("attacks_below_the_curve", {}, "supported"),
    ("attacks_below_the_curve", {"found": (2.0, 8.0, 35.0)}, "supported"),
    ("attacks_below_the_curve", {"found": (2.4, 8.0, 35.0)}, "undecided"),
    ("attacks_below_the_curve", {"found": (4.0, 8.0, 35.0)}, "contradicted"),
    # Exact limits alone, which take the threshold for known, contradict nothing.
    ("attacks_below_the_curve", {"found": (4.0, 8.0, 35.0), "error": 1.5}, "undecided"),
    ("losses_below_equation_10", {}, "supported"),
    ("losses_below_equation_10", {"found": (1.9, 3.0, 20.0)}, "undecided"),
    ("losses_below_equation_10", {"found": (0.5, 12.0, 20.0)}, "contradicted"),
    ("gradient_before_loss", {}, "supported"),
    ("gradient_before_loss", {"lead": (0.1, 2.0, 0.0)}, "undecided"),
    ("gradient_before_loss", {"lead": (-1.0, 2.0, 0.0)}, "contradicted"),
]


@pytest.mark.parametrize(("name", "numbers", "word"), CASES)
def test_an_outcome_follows_from_the_table(name, numbers, word, monkeypatch):
    monkeypatch.setattr(promise_tests, "paper", lambda *_: table(**numbers))
    found = getattr(promise_tests, name)(None)
    assert found.word == word
    assert found.numbers
    assert found.datasets


def test_simulated_records_decide_nothing(monkeypatch):
    made = table()
    simulated = made.assign(data="Purchase-like")
    simulated.attrs = made.attrs
    monkeypatch.setattr(promise_tests, "paper", lambda *_: simulated)
    assert promise_tests.gradient_before_loss(None).word == outcomes.NOT_TESTED


@pytest.mark.parametrize("name", ["losses_below_equation_10", "gradient_before_loss"])
def test_shorter_trainings_alone_decide_neither(name, monkeypatch):
    made = table()
    shorter = made[made["steps"] != "all epochs"]
    shorter.attrs = made.attrs
    monkeypatch.setattr(promise_tests, "paper", lambda *_: shorter)
    with pytest.raises(InputError, match="all epochs"):
        getattr(promise_tests, name)(None)


def test_each_length_counts_towards_the_lead(monkeypatch):
    for length in LENGTHS:
        made = table()
        at = (made["attack"] == PAIR) & (made["steps"] == length)
        made["value"] = np.where(at, -1.0, made["value"])
        monkeypatch.setattr(promise_tests, "paper", lambda *_, made=made: made)
        assert promise_tests.gradient_before_loss(None).word == outcomes.CONTRADICTED


def test_every_attack_counts_towards_the_bound(monkeypatch):
    for attack in promise_tests.IN_ONE_STEP:
        made = table()
        at = (made["attack"] == attack) & (made["steps"] == "one step")
        made["value"] = np.where(at, 60.0, made["value"])
        made["found"] = np.where(at, 6000, made["found"])
        monkeypatch.setattr(promise_tests, "paper", lambda *_, made=made: made)
        assert promise_tests.attacks_below_the_curve(None).word == outcomes.CONTRADICTED


def test_without_the_table_the_claims_are_not_tested():
    from membership.exhibits import declared
    from membership.exhibits.source import Source
    from membership.studies.loss_enough.claims import CLAIMS

    own = Source(Settings.from_values({"profile": "tiny"}), declared("loss_enough"), gather=False)
    for claim in CLAIMS:
        if claim.id in {"loss-enough-c07", "loss-enough-c08", "loss-enough-c09"}:
            found = claim.outcome(own)
            assert found.word == outcomes.NOT_TESTED
            assert promise_tests.EXHIBIT in found.reason
