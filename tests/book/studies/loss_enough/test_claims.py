"""The claims on the committed results, on numbers altered to flip them, and on made-up ones."""

import numpy as np
import pandas as pd
import pytest

from membership.book.exhibits import declared
from membership.book.exhibits.source import Source
from membership.book.published import outcomes
from membership.book.studies.loss_enough import claims
from membership.book.studies.loss_enough.claims import CLAIMS
from membership.book.studies.loss_enough.games import COMPARED, KNOWLEDGE_LESS_ACCESS
from membership.book.studies.loss_enough.settings import Settings
from membership.errors import InputError
from tests.book.studies.altered import Altered, committed_run, moved

BY_ID = {claim.id: claim for claim in CLAIMS}
SUPPORTED, CONTRADICTED = outcomes.SUPPORTED, outcomes.CONTRADICTED


@pytest.fixture(scope="module")
def committed():
    return committed_run("loss_enough")


def cell(label, by):
    return moved(by, others=COMPARED, attack=label)


FLIPS = [
    ("o05", "tab-1", cell(KNOWLEDGE_LESS_ACCESS, -30), CONTRADICTED),
]


@pytest.mark.parametrize(("name", "exhibit", "change", "word"), FLIPS, ids=lambda x: str(x)[:8])
def test_a_claim_flips_when_its_numbers_do(name, exhibit, change, word, committed):
    claim = BY_ID[f"loss-enough-{name}"]
    assert claim.outcome(committed).word != word
    assert claim.outcome(Altered(committed, f"loss-enough-{exhibit}", change)).word == word


LEAD = "GLiR less LiRA, one variance, at most 16 shadow models"
CORRECTED_RANK = "rank correlation over the root of the reliability"


ELSEWHERE = [
    (
        "c01",
        "iha-ctl-20",
        moved(-0.4, attack="projection less loss ratio"),
        "MNIST-Odd: contradicted",
    ),
    ("c01", "iha-ctl-14", moved(-0.4, attack="loss ratio less IHA"), "clean game: supported"),
    ("c04", "bmia-ctl-12", moved(-90, metric="less BMIA"), "Location-30: supported"),
    ("c10", "comparison-fig-4", moved(-2, metric=CORRECTED_RANK), "MNIST-Odd: contradicted"),
]


@pytest.mark.parametrize(("name", "exhibit", "change", "said"), ELSEWHERE)
def test_a_claim_on_another_chapter_hears_its_table(
    name, exhibit, change, said, committed, monkeypatch
):
    claim, read = BY_ID[f"loss-enough-{name}"], claims.committed
    before = claim.outcome(committed)
    assert before.word != outcomes.NOT_TESTED
    assert said not in before.reason

    def altered(asked):
        return change(read(asked).copy()) if asked == exhibit else read(asked)

    monkeypatch.setattr(claims, "committed", altered)
    assert said in claim.outcome(committed).reason


def test_a_readers_own_run_tests_nothing_that_it_does_not_make():
    settings = Settings.from_values({"profile": "tiny"})
    own = Source(settings, declared("loss_enough"), gather=False)
    for number in range(1, 13):
        found = BY_ID[f"loss-enough-c{number:02}"].outcome(own)
        assert found.word == outcomes.NOT_TESTED
        assert "at paper size" in found.reason


def test_a_table_that_is_not_there_leaves_its_claim_untested(committed, monkeypatch):
    monkeypatch.setattr(claims.exhibits, "load", lambda *_: None)
    found = BY_ID["loss-enough-c11"].outcome(committed)
    assert found.word == outcomes.NOT_TESTED
    assert found.reason == "it takes the full run of lood-fig-1"
    with pytest.raises(InputError, match="bmia-tab-1"):
        claims.committed("bmia-tab-1")


# GMIP's Control 20, made up for each outcome.
ASKED = 10_000
LENGTHS = ("one step", "5 steps", "all epochs")
PROMISED = dict(zip(claims.RATES, (2.0, 8.0, 35.0), strict=True))


def _rows(attack, values, error):
    for steps in LENGTHS:
        for quantity, value in zip(claims.RATES, values, strict=True):
            yield {
                **{"data": "Adult", "steps": steps, "attack": attack, "quantity": quantity},
                **{"value": value, "low": value - 2 * error, "high": value + 2 * error},
                **{"standard_error": error, "degrees_of_freedom": 9.0, "n_repeats": 10},
                **{"asked": ASKED, "found": round(max(value, 0) / 100 * ASKED)},
            }


def table(found=(0.5, 3.0, 20.0), error=0.1, lead=(1.0, 2.0, 3.0)):
    attacks = {*claims.IN_ONE_STEP, *claims.DECIDING}
    rows = [row for attack in sorted(attacks) for row in _rows(attack, found, error)]
    for stated in (*claims.BOUNDS, "promised, Equation 10"):
        rows += list(_rows(stated, PROMISED.values(), 0.0))
    rows += list(_rows(LEAD, lead, error))
    made = pd.DataFrame(rows)
    made.attrs = {"sizes": {"Shadow models": "64"}}
    return made


CASES = [
    ("c07", {}, "supported"),
    ("c07", {"found": (2.0, 8.0, 35.0)}, "supported"),
    ("c07", {"found": (2.4, 8.0, 35.0)}, "undecided"),
    ("c07", {"found": (4.0, 8.0, 35.0)}, "contradicted"),
    # Exact limits alone, which take the threshold for known, contradict nothing.
    ("c07", {"found": (4.0, 8.0, 35.0), "error": 1.5}, "undecided"),
    ("c08", {}, "supported"),
    ("c08", {"found": (1.9, 3.0, 20.0)}, "undecided"),
    ("c08", {"found": (0.5, 12.0, 20.0)}, "contradicted"),
    ("c09", {}, "supported"),
    ("c09", {"lead": (0.1, 2.0, 0.0)}, "undecided"),
    ("c09", {"lead": (-1.0, 2.0, 0.0)}, "contradicted"),
]


@pytest.mark.parametrize(("name", "numbers", "word"), CASES)
def test_an_outcome_follows_from_the_table(name, numbers, word, monkeypatch):
    monkeypatch.setattr(claims, "paper", lambda *_: table(**numbers))
    found = BY_ID[f"loss-enough-{name}"].outcome(None)
    assert found.word == word
    assert found.numbers
    assert found.datasets


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("c09", lambda made: made.assign(data="Purchase-like"), ""),
        ("c08", lambda made: made[made["steps"] != "all epochs"], "all epochs"),
        ("c09", lambda made: made[made["steps"] != "all epochs"], "all epochs"),
    ],
    ids=["simulated", "shorter, c08", "shorter, c09"],
)
def test_simulated_records_and_shorter_trainings_alone_decide_nothing(
    name, change, said, monkeypatch
):
    made = table()
    other = change(made)
    other.attrs = made.attrs
    monkeypatch.setattr(claims, "paper", lambda *_: other)
    found = BY_ID[f"loss-enough-{name}"].outcome(None)
    assert found.word == outcomes.NOT_TESTED
    assert said in found.reason


IN_ONE_STEP = [("c07", attack, "one step", 60.0) for attack in claims.IN_ONE_STEP]


@pytest.mark.parametrize(
    ("name", "attack", "steps", "value"),
    [*IN_ONE_STEP, *(("c09", LEAD, length, -1.0) for length in LENGTHS)],
)
def test_every_attack_and_each_length_counts(name, attack, steps, value, monkeypatch):
    made = table()
    at = (made["attack"] == attack) & (made["steps"] == steps)
    made["value"] = np.where(at, value, made["value"])
    made["found"] = np.where(at, max(value, 0) / 100 * ASKED, made["found"])
    monkeypatch.setattr(claims, "paper", lambda *_: made)
    assert BY_ID[f"loss-enough-{name}"].outcome(None).word == outcomes.CONTRADICTED
