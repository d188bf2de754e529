"""The claims on the committed results, and on numbers altered so that they should flip."""

import functools

import numpy as np
import pytest

from membership import evidence
from membership.book.exhibits import declared
from membership.book.published import outcomes
from membership.book.studies.bayes_optimal import names
from membership.book.studies.bayes_optimal.claims import CLAIMS
from membership.book.studies.bayes_optimal.names import SHADOW
from tests.book.studies.altered import Altered, committed_run, moved

EXHIBITS = {exhibit.id: exhibit for exhibit in declared("bayes_optimal")}

BY_ID = {claim.id.removeprefix("bayes-optimal-"): claim for claim in CLAIMS}
SUPPORTED, CONTRADICTED = outcomes.SUPPORTED, outcomes.CONTRADICTED
UNDECIDED, NOT_TESTED = outcomes.UNDECIDED, outcomes.NOT_TESTED


class Once:
    """What is made of a source is made once."""

    @functools.cached_property
    def made(self):
        return functools.cache(lambda make: make(self))

    @functools.cached_property
    def table(self):
        return functools.cache(self._table)


class Gathered(Once):
    """A source of one size of Table 1, or of networks, whose evidence is made up."""

    def __init__(self, committed, datasets):
        self.committed, self.datasets = committed, datasets
        self.settings = committed.settings.model_copy(update={"n_records": [400]})

    def evidence(self, name):
        return self.datasets[name]

    def _table(self, exhibit_id):
        exhibit = EXHIBITS[exhibit_id]
        if self.datasets.keys() & exhibit.evidence(self.settings):
            return exhibit.compute(self)
        return self.committed.table(exhibit_id)


class Observed(Once, Altered):
    """A committed run whose evidence is altered, and its tables with it."""

    def _table(self, exhibit_id):
        exhibit = EXHIBITS[exhibit_id]
        needed = exhibit.evidence(self.settings)
        return exhibit.compute(self) if self.altered in needed else self.source.table(exhibit_id)


@pytest.fixture(scope="module")
def committed():
    return committed_run("bayes_optimal")


def few(networks, count=3000):
    """The first thousands of records: enough to tell what is far apart."""
    return networks.isel(record=slice(count))


def nothing_of_a_record(networks):
    """Every network's answers go to other records: no threshold of a record's own helps."""
    networks = few(networks, 12_000)
    answers = np.random.default_rng(0).permuted(networks["log_odds"].values, axis=1)
    return networks.assign(log_odds=(networks["log_odds"].dims, answers))


@pytest.mark.slow
def test_thresholds_of_their_own_find_nothing_where_answers_are_other_records(committed):
    assert BY_ID["o07"].outcome(committed).word == SUPPORTED
    other = Observed(committed, "networks", nothing_of_a_record)
    assert BY_ID["o07"].outcome(other).word == CONTRADICTED


@pytest.mark.parametrize(
    ("name", "word"),
    [("c09", CONTRADICTED), ("c10", CONTRADICTED), ("c11", SUPPORTED), ("c12", CONTRADICTED)],
)
def test_models_less_accurate_than_the_papers_decide_nothing_about_them(name, word, committed):
    assert BY_ID[name].outcome(committed).word == word
    change = moved(-1.5, metric="validation_accuracy(%)")
    found = BY_ID[name].outcome(Altered(committed, "bayes-optimal-tab-1", change))
    assert found.word == UNDECIDED
    assert "features of other models" in found.reason


def test_sizes_whose_models_agree_with_the_papers_are_told_beside(committed):
    found = BY_ID["c11"].outcome(committed)
    assert found.reason.endswith("agree with the paper's (n = 4000, 6000): supported")
    change = moved(-1.5, metric="validation_accuracy(%)")
    other = BY_ID["c11"].outcome(Altered(committed, "bayes-optimal-tab-1", change))
    assert "agree with the paper's" not in other.reason


def test_the_best_threshold_is_free_on_table_2_s_networks_alone(committed):
    found = BY_ID["c12"].outcome(committed)
    assert "trucks and ships: contradicted; CIFAR-10: supported" in found.reason
    assert len(found.numbers) == 11
    former = BY_ID["c12"].former_outcome(committed)
    assert (former.word, len(former.numbers)) == (CONTRADICTED, 10)


def said_of_networks(committed, **changes):
    """The committed run, whose Table 2 says something else of its networks."""

    class Other(Altered):
        def table(self, exhibit_id):
            table = self.source.table(exhibit_id).copy()
            table.attrs["setup"] = {"networks": table.attrs["setup"]["networks"] | changes}
            return table

    return Other(committed, "bayes-optimal-tab-2", None)


@pytest.mark.parametrize("name", ["c14", "c15"])
def test_eleven_references_decide_nothing_about_thirty(name, committed):
    found = BY_ID[name].outcome(committed)
    assert "of 30" not in found.reason
    undecided = BY_ID[name].outcome(said_of_networks(committed, reference_models=11))
    assert (undecided.word, "11 references of 30" in undecided.reason) == (UNDECIDED, True)
    assert undecided.numbers == found.numbers


def shadow_scores(score):
    """What the shadow attack says of each network's records, from the truth."""

    def change(networks):
        networks = few(networks)
        member = networks["member"].values
        rng = np.random.default_rng(0)
        return networks.assign(shokri=(("model", "record"), score(member, rng).astype(np.float32)))

    return change


@pytest.mark.parametrize(
    ("score", "word"),
    [
        (lambda member, rng: rng.random(member.shape), SUPPORTED),
        (lambda member, rng: np.where(rng.random(member.shape) < 0.9, member, 0.5), CONTRADICTED),
    ],
)
def test_the_shadow_attack_is_weighed_against_malt(score, word, committed):
    found = BY_ID["c13"].outcome(Observed(committed, "networks", shadow_scores(score)))
    assert found.word == word


def test_a_level_difference_decided_nothing_by_the_test_that_was_fixed(committed):
    claim = BY_ID["c13"]
    assert (claim.outcome(committed).word, claim.former_outcome(committed).word) == (
        CONTRADICTED,
        UNDECIDED,
    )


def test_with_the_threshold_of_half_of_the_records_malt_leads_the_shadow_attack(committed):
    assert BY_ID["c13-folds"].outcome(committed).word == SUPPORTED
    sure = shadow_scores(lambda member, rng: np.where(rng.random(member.shape) < 0.9, member, 0.5))
    assert BY_ID["c13-folds"].outcome(Observed(committed, "networks", sure)).word == CONTRADICTED


def test_a_shadow_attack_of_fewer_outputs_decides_nothing(committed):
    fewer = said_of_networks(committed, attacks={SHADOW: "fewer outputs"})
    found = BY_ID["c13"].outcome(fewer)
    assert (found.word, "shadow attack from fewer outputs" in found.reason) == (UNDECIDED, True)


def test_networks_without_a_shadow_attack_leave_c13_untested(committed):
    bare = Observed(committed, "networks", lambda networks: few(networks).drop_vars("shokri"))
    assert BY_ID["c13"].outcome(bare).word == NOT_TESTED


def splits(shift, n=400, count=6, seed=0):
    """Evidence of a target that knows its members' log-odds `shift` above its reference's."""
    rng = np.random.default_rng(seed)
    member = np.tile(np.arange(n) < n // 2, (count, 1))
    start = 1.5 * rng.standard_normal((count, n)) + 1
    return evidence.dataset(
        "white_box",
        {
            "log_odds": start + 0.3 * rng.standard_normal((count, n)) + shift * member,
            "reference_log_odds": start,
            "leverage": np.full((count, n), 0.1),
            "member": member,
        },
        {"target": list(range(count)), "query": list(range(n))},
        set="made up",
        data={},
        recipe={"inverse_penalty": 1.0},
        inverses=[],
        setup={"data": "made up"},
        deviations=[],
        splits=count,
        seed=0,
        device="cpu",
    )


@pytest.fixture(scope="module")
def gathered(committed):
    """A function that gives the source of made-up splits, one for all claims on them."""
    return functools.cache(
        lambda make, number: Gathered(committed, {names.logistic(400): make(number)})
    )


@pytest.mark.parametrize(("shift", "word"), [(0.5, SUPPORTED), (-0.5, CONTRADICTED)])
@pytest.mark.parametrize(("name", "least"), [("c08", 5), ("c08-accuracy", 0)])
def test_a_reference_helps_or_harms_split_by_split(name, least, shift, word, gathered):
    """Of made-up splits, by AUC and by accuracy: paired, it turns with what the target knows."""
    found = BY_ID[name].outcome(gathered(splits, shift))
    assert f": {word}" in found.reason
    assert len(found.numbers) == 1
    assert abs(found.numbers[0].difference) > least


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({}, SUPPORTED),
        # Members have all the leverage.
        ({"leverage": lambda found: 1e3 * found["member"] + 1e-6}, CONTRADICTED),
    ],
)
def test_the_corrected_term_does_harm_where_members_have_the_leverage(change, word, committed):
    found = splits(0.5)
    made = found.assign({name: make(found) for name, make in change.items()})
    source = Gathered(committed, {names.logistic(400): made.assign_attrs(found.attrs)})
    assert BY_ID["o04"].outcome(source).word == word


def test_targets_far_from_their_tangent_are_no_first_order_term(committed, gathered):
    assert BY_ID["o02"].outcome(gathered(splits, 0.5)).word == SUPPORTED
    found = splits(0.5)
    far = found.assign(log_odds=100 * found["log_odds"]).assign_attrs(found.attrs)
    source = Gathered(committed, {names.logistic(400): far})
    assert BY_ID["o02"].outcome(source).word == CONTRADICTED


def sure_of_members(sign):
    """Splits whose members the model has right with more certainty, or less, than others."""
    odds = splits(0.0)
    far = odds.assign(log_odds=abs(odds["log_odds"]) + 3 + sign * (2 * odds["member"] - 1))
    return far.assign_attrs(odds.attrs)


@pytest.mark.parametrize(("sign", "word"), [(1, SUPPORTED), (-1, CONTRADICTED)])
@pytest.mark.parametrize("name", ["c09", "c09-models"])
def test_malt_leads_0_1_where_low_losses_are_members(name, sign, word, gathered):
    """0-1 has all records right, and is a coin."""
    found = BY_ID[name].outcome(gathered(sure_of_members, sign))
    assert f": {word}" in found.reason


def test_thresholds_that_vary_contradict_c15(committed):
    """Losses that are a record's own difficulty: each has its own threshold."""
    rng = np.random.default_rng(0)
    member = rng.random((9, 500)) < 0.5
    odds = 3 * rng.standard_normal(500) + 0.1 * rng.standard_normal(member.shape) + 0.5 * member
    networks = evidence.dataset(
        "outputs",
        {"log_odds": odds, "member": member, "correct": odds > 0},
        set="made up",
        data={},
        recipe={},
        targets=list(range(9)),
        complements=[None] * 9,
        deviations=[],
        sizes={},
        device="cpu",
        setup={"data": "made up", "members": 250, "reference_models": 8},
    )
    found = BY_ID["c15"].outcome(Gathered(committed, {"networks": networks}))
    assert ": contradicted" in found.reason
    assert BY_ID["c15"].outcome(committed).word == CONTRADICTED
