"""What holds of every chapter's claims: ids, exhibits, tests, and an outcome at paper size."""

import functools
import importlib
import inspect
import itertools
import operator
import re
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from membership.book import published
from membership.book.exhibits import declared
from membership.book.exhibits.chapter import claims_of
from membership.book.published import outcomes
from membership.book.studies.loss_enough import claims as loss_enough
from tests.book.studies.altered import Changed, committed_run

CHAPTERS = list(published.subjects)
# What any claim must hear, tried in this order until one is heard.
CHANGES = (
    np.negative,
    lambda numbers: numbers[::-1],
    lambda numbers: np.full_like(numbers, 0.5),
    lambda numbers: 1000 * numbers,
    np.sort,
    lambda numbers: -np.sort(-numbers),
    lambda numbers: np.random.default_rng(0).permutation(numbers),
    lambda numbers: numbers / 1000,
    lambda numbers: 1 / numbers,
)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_claims_are_numbered_and_rest_on_declared_exhibits(chapter):
    claims, prefix = claims_of(chapter), chapter.replace("_", "-")
    known = {each.id for other in CHAPTERS for each in declared(other)}
    assert all(set(one.exhibits) <= known for one in claims)
    # Of formulas, and of other chapters' tables.
    assert chapter in ("gmip", "loss_enough") or all(one.exhibits for one in claims)
    assert len({one.id for one in claims}) == len(claims)
    for origin, letter in (("paper", "c"), ("ours", "o")):
        own = {one.id for one in claims}
        # A further test of a sentence of the chapter has no number of its own.
        ids = [one.id for one in claims if one.origin == origin and one.variant_of not in own]
        assert ids == [f"{prefix}-{letter}{i:02}" for i in range(1, len(ids) + 1)]
        # What papers say of each other is listed once, with the first chapter on a question.
        assert origin == "ours" or ids or chapter in published.questions


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_test_of_a_claim_belongs_to_one(chapter):
    used = {each for one in claims_of(chapter) for each in (one.test, one.former)}
    claims = importlib.import_module(f"membership.book.studies.{chapter}.claims")
    named = [part for part in vars(claims).values() if inspect.ismodule(part)]
    tests = {
        function
        for module in [claims, *named]
        if module.__name__.startswith("membership.book.studies")
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and list(inspect.signature(function).parameters) == ["source"]
        and not name.startswith("_")
    }
    assert tests <= used


def test_a_sentence_of_a_paper_counts_once():
    of_papers = [one for chapter in CHAPTERS for one in claims_of(chapter) if one.origin == "paper"]
    by_id = {one.id: one for one in of_papers}
    for one in of_papers:
        # What it tests once more is itself a sentence's first test.
        assert not one.variant_of or not by_id[one.variant_of].variant_of
    first = [one for one in of_papers if not one.variant_of]
    for one, other in itertools.permutations(first, 2):
        assert _letters(one.quote) not in _letters(other.quote), (one.id, other.id)


def _letters(quote):
    return "".join(letter for letter in quote.lower() if letter.isalnum())


@functools.cache
def committed_outcomes(chapter):
    """A chapter's committed run, and what each claim makes of it, by the claim's id."""
    run = committed_run(chapter)
    return run, {claim.id: claim.outcome(run) for claim in claims_of(chapter)}


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_claim_has_an_outcome_on_what_is_committed(chapter):
    _, outcome = committed_outcomes(chapter)
    for claim in claims_of(chapter):
        found = outcome[claim.id]
        assert found.word in outcomes.WORDS, claim.id
        if found.word == outcomes.NOT_TESTED:
            assert found.reason, claim.id
            # A row that is looked for in vain would be a mistake of ours.
            assert "no numbers for" not in found.reason, claim.id
            assert "singles out" not in found.reason, claim.id
        else:
            assert found.numbers, claim.id
            assert found.datasets, claim.id
        # "About 521 would decide it" says 521 what.
        assert claim.units or not found.units_needed, claim.id


# Claims on formulas: what they are made of, and what stands in for it.
BY_FORMULA = {
    "bayes-optimal-c03": ("bayes_optimal.posterior.temperature", "_scores_fall"),
    "bayes-optimal-o01": ("bayes_optimal.claims.metrics.peak_accuracy_null", "_half"),
    "bayes-optimal-o06": ("bayes_optimal.posterior.exact_posterior", "_half"),
    "bmia-c06": ("bmia.claims.marginal_tpr", "_rate_of_spread"),
    "bmia-c07": ("bmia.claims._excess", "_no_excess"),
    "bmia-c17": ("bmia.claims._logits", "_bent"),
    "gmip-c02": ("gmip.formula_tests._gap", "_half"),
    "gmip-c08-record": ("gmip.formula_tests.glir_log_ratio", "_up_and_down"),
    "gmip-c12": ("gmip.formula_tests._area", "_half"),
    "lood-c13": ("lood.influenced.sweep", "_no_better_query"),
}
# Heard by an alteration of their own, in their chapters' tests.
BY_CHAPTER = {"bayes-optimal-c17", "bmia-c14", "bmia-o07", "gmip-c11"}
BY_CHAPTER |= {"lood-c08", "lood-c16", "lood-c19"}
BY_CHAPTER |= {"loss-enough-c01", "loss-enough-c04", "loss-enough-c10"}
# Heard, but not the other way round: an identity, two sides that both fail, evidence of models
# that no longer are the paper's. Those whose turn is not plain are turned in their chapters' tests.
NOT_TURNED = {
    *("lood-c06", "lood-o14", "lood-o15", "gmip-o01", "bmia-c02", "bmia-o02", "iha-c22"),
    *(f"loss-enough-{one}" for one in ("o01", "o02", "o05", "o08", "o09")),
    *(f"iha-o{one}" for one in ("02", "06", "12", "19", "29", "33", "34", "40")),
    *(f"bayes-optimal-{one}" for one in ("c07", "c08", "c09", "c10", "c11", "c12", "c13", "c15")),
    *(f"bayes-optimal-{one}" for one in ("c09-models", "c10-difference", "c12-models")),
    *("bayes-optimal-c13-folds", "comparison-o08"),
}
OPPOSITE = {outcomes.SUPPORTED: outcomes.CONTRADICTED, outcomes.CONTRADICTED: outcomes.SUPPORTED}


def _half(*_, **__):
    return 0.5


def _up_and_down(distance, *_):
    return np.resize([0.0, 1.0], distance.shape)


def _rate_of_spread(mean, other_mean, sd, *_):
    return sd / 4


def _bent(features, weights):
    return np.square(features @ np.swapaxes(weights, -1, -2))


def _no_excess(mean, *_):
    return np.zeros(len(mean))


def _scores_fall():
    law = pd.DataFrame({"temperature": [1.0, 2.0, 4.0], "value": [3.0, 2.0, 1.0]})
    return law.assign(metric="score", law="held fixed", z=0.4)


def _no_better_query(settings):
    places = np.array([0.0, 1.0, 10.0])
    return pd.DataFrame(
        {"place": places, "nearest": places, "distance": 0.0, "ratio": 1.0}
        | {"formula": places, "differences": places}
    )


def _said(outcome):
    """The outcome, and those it names of its parts."""
    return [outcome.word, *re.findall("|".join(outcomes.WORDS), outcome.reason)]


def _altered(claim, changed):
    """What is said of altered numbers; nothing where no test foresaw them."""
    for each in changed:
        # Claims on other chapters read their committed tables, wherever the run is.
        other = SimpleNamespace(table=loss_enough.committed, settings=None)
        with mock.patch.object(loss_enough, "committed", Changed(other, each.function).table):
            try:
                yield _said(claim.outcome(each))
            except (ValueError, KeyError):
                continue


def _turned(said, other):
    """Whether the other way round is said of them, or of some of their parts."""
    if said[0] in OPPOSITE:
        return OPPOSITE[said[0]] == other[0]
    parts = {OPPOSITE[word] for word in said if word in OPPOSITE}
    return said != other and (not parts or not parts.isdisjoint(other))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what is altered may be no number any more
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_tested_claim_hears_the_numbers_it_reads_and_turns_with_them(chapter):
    run, outcome = committed_outcomes(chapter)
    deaf, changed = [], [Changed(run, each) for each in CHANGES]
    for claim in claims_of(chapter):
        said = _said(outcome[claim.id])
        if claim.id not in BY_CHAPTER | BY_FORMULA.keys() and said[0] != outcomes.NOT_TESTED:
            hears = operator.ne if claim.id in NOT_TURNED else _turned
            heard = any(hears(said, other) for other in _altered(claim, changed))
            deaf += [] if heard else [claim.id]
    assert not deaf


@pytest.mark.slow
@pytest.mark.parametrize("claim", BY_FORMULA)
def test_a_claim_on_a_formula_hears_the_formula(claim, monkeypatch):
    place, other = BY_FORMULA[claim]
    chapter = place.partition(".")[0]
    [found] = [one for one in claims_of(chapter) if one.id == claim]
    run, outcome = committed_run(chapter), committed_outcomes(chapter)[1]
    said = outcome[claim].word
    assert said in (outcomes.SUPPORTED, outcomes.CONTRADICTED)
    monkeypatch.setattr(f"membership.book.studies.{place}", globals()[other])
    assert found.outcome(run).word not in (said, outcomes.NOT_TESTED)
