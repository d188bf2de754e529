"""What holds of every chapter's claims: ids, exhibits, tests, and an outcome at paper size."""

import importlib
import inspect

import pytest

from membership import published
from membership.exhibits import declared
from membership.exhibits.chapter import claims_of
from membership.published import outcomes
from tests.studies.altered import committed_run

CHAPTERS = list(published.papers)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_claims_are_numbered_and_rest_on_declared_exhibits(chapter):
    claims, prefix = claims_of(chapter), chapter.replace("_", "-")
    assert all(set(one.exhibits) <= {each.id for each in declared(chapter)} for one in claims)
    assert len({one.id for one in claims}) == len(claims)
    for origin, letter in (("paper", "c"), ("ours", "o")):
        # Two parts of one sentence are one number.
        ids = dict.fromkeys(one.id[: len(prefix) + 4] for one in claims if one.origin == origin)
        assert list(ids) == [f"{prefix}-{letter}{i:02}" for i in range(1, len(ids) + 1)]
        assert origin == "ours" or len(ids) >= 12


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_test_of_a_claim_belongs_to_one(chapter):
    used = {one.test for one in claims_of(chapter)}
    for module in vars(importlib.import_module(f"membership.studies.{chapter}.claims")).values():
        if inspect.ismodule(module) and module.__name__.startswith("membership.studies"):
            tests = {
                one
                for name, one in vars(module).items()
                if inspect.isfunction(one)
                and one.__module__ == module.__name__
                and list(inspect.signature(one).parameters) == ["source"]
                and not name.startswith("_")
            }
            assert tests
            assert tests <= used


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_claim_has_an_outcome_on_what_is_committed(chapter):
    run = committed_run(chapter)
    for claim in claims_of(chapter):
        found = claim.outcome(run)
        assert found.word in outcomes.WORDS, claim.id
        if found.word == outcomes.NOT_TESTED:
            assert found.reason, claim.id
            # A row that is looked for in vain would be a mistake of ours.
            assert "no numbers for" not in found.reason, claim.id
            assert "singles out" not in found.reason, claim.id
        else:
            assert found.numbers, claim.id
            assert found.datasets, claim.id
