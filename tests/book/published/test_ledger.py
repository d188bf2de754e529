"""Nothing that was fixed of a claim is taken out: today answers for all that was ever committed."""

import itertools

import pytest

from membership.book.published import claims, subjects
from tests.book.published import history

WHOLE = pytest.mark.skipif(
    not history.is_whole(), reason="not looked at: this is no checkout with all of its history"
)
# A claim of Appendix C.2 had been taken out after its numbers, and others had been changed.
BEFORE_IT_WAS_BACK = "f2582434"
TAKEN_OUT = {"iha-c20", "iha-c21"}
CHANGED_WITHOUT_A_WORD = {"bmia-c12", "bmia-c16", "lood-c19", "loss-enough-c10"}


@WHOLE
def test_every_claim_that_was_committed_stands_or_is_accounted_for():
    missing = history.unanswered(history.committed(), history.listed(), history.ledger())
    assert not missing, "say it again, show it as the former test, or list it in ledger.toml"


@WHOLE
def test_what_had_been_taken_out_is_found():
    claims_then = history.listed(BEFORE_IT_WAS_BACK)
    missing = history.unanswered(
        history.committed(BEFORE_IT_WAS_BACK), claims_then, history.ledger()
    )
    found = {part.claim for part in missing}
    assert found >= TAKEN_OUT | CHANGED_WITHOUT_A_WORD
    words = {part.words for part in missing if part.claim == "iha-c20"}
    assert any("thus proportional to the negative of the loss function" in word for word in words)
    assert any("is above .9 over all records" in word for word in words)


@WHOLE
def test_claims_were_looked_for_where_they_were_code_too():
    first = {part.commit[:8] for part in history.committed() if part.claim == "bmia-c07"}
    assert "54084393" in first


@WHOLE
def test_what_is_listed_was_committed():
    seen = {(part.claim, part.commit[:8]) for part in history.committed()}
    listed = [entry for entries in history.ledger().values() for entry in entries]
    # Of lood-c10 a function changed, and no word.
    unseen = {(one["claim"], one["commit"]) for one in listed} - seen
    assert unseen == {("lood-c10", "d50db9b2")}
    assert all(entry["reason"] for entry in listed)


def test_an_entry_is_of_one_form_of_one_claim():
    listed = [entry for entries in history.ledger().values() for entry in entries]
    places = [(entry["claim"], entry["commit"]) for entry in listed]
    assert len(set(places)) == len(places)
    retired = list(itertools.chain(*map(claims.retired, subjects)))
    assert len(retired) == len(history.ledger()["retired"])


FIRST = {"id": "x-c01", "quote": "It is.", "statement": "It is above .9.", "test": "above"}
PARTS = (
    history.Part("x-c01", "c0ffee00", "quote", "It is."),
    history.Part("x-c01", "c0ffee00", "statement", "It is above .9."),
)
WEAKER = {**FIRST, "statement": "It is above .5."}
BESIDE = {**WEAKER, "former": "above", "former_statement": "It is above .9."}
RETIRED = {
    "claim": "x-c01",
    "commit": "c0ffee00",
    "quote": "It is.",
    "statement": "It is above .9.",
}


@pytest.mark.parametrize(
    ("now", "answers", "missing"),
    [
        ([FIRST], {}, 0),
        ([], {}, 2),
        ([WEAKER], {}, 1),
        ([BESIDE], {}, 0),
        ([{**FIRST, "quote": "It is. Always."}], {}, 0),
        ([{**FIRST, "quote": "It may be."}], {}, 1),
        ([{**FIRST, "id": "x-c02"}], {}, 2),
        ([{**FIRST, "id": "x-c02"}], {"moved": [{**RETIRED, "now": "x-c02"}]}, 0),
        ([{**WEAKER, "id": "x-c02"}], {"moved": [{**RETIRED, "now": "x-c02"}]}, 1),
        ([WEAKER], {"reworded": [RETIRED]}, 0),
        ([], {"reworded": [RETIRED]}, 2),
        ([], {"retired": [RETIRED]}, 0),
        ([], {"retired": [{**RETIRED, "statement": "It is above .5."}]}, 1),
        ([], {"retired": [{**RETIRED, "commit": "beefbeef"}]}, 2),
    ],
)
def test_what_answers_for_a_claim_as_it_was(now, answers, missing):
    claims_now = {entry["id"]: entry for entry in now}
    assert len(history.unanswered(PARTS, claims_now, answers)) == missing
