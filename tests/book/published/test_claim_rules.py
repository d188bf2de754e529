"""Each rule at its edges; what flips when its numbers flip; how often chance is supported."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from membership import metrics
from membership.book.published import claim_rules as rules
from membership.book.published.contrasts import Claimed, Contrast
from membership.book.published.outcomes import (
    OWN_ANSWERS,
    Outcome,
    every,
    overall,
    summed_up,
    untested,
)

S, C, U, N = "supported", "contradicted", "undecided", "not tested here"
M = 0.01


def between(low, high, **more):
    """A contrast with this 95% interval."""
    return Contrast("d", (low + high) / 2, (high - low) / 2 / 1.959963984540054, **more)


def flipped(contrast):
    return replace(contrast, difference=-contrast.difference)


@pytest.mark.parametrize(
    ("rule", "low", "high", "word"),
    [
        (rules.better, 0.001, 0.05, S),
        (rules.better, 0.001, 0.005, S),
        (rules.better, -0.05, -0.001, C),
        (rules.better, -0.009, 0.009, C),
        (rules.better, -0.009, 0.011, U),
        (rules.better, -0.011, 0.009, U),
        (rules.better, -0.001, 0.05, U),
        (rules.much_better, 0.011, 0.05, S),
        (rules.much_better, 0.001, 0.009, C),
        (rules.much_better, -0.05, -0.02, C),
        (rules.much_better, 0.005, 0.05, U),
        (rules.about, -0.0099, 0.0099, S),
        (rules.about, 0.002, 0.009, S),
        (rules.about, 0.011, 0.02, C),
        (rules.about, -0.02, -0.011, C),
        (rules.about, 0.005, 0.011, U),
        (rules.about, -0.05, 0.05, U),
        (rules.chance, -0.05, 0.009, S),
        (rules.chance, 0.001, 0.009, S),
        (rules.chance, 0.011, 0.02, C),
        (rules.chance, -0.01, 0.02, U),
    ],
)
def test_a_rule_at_its_edges(rule, low, high, word):
    assert rule(between(low, high), M).word == word


def test_better_by_less_than_the_margin_says_so():
    assert rules.better(between(0.001, 0.005), M).reason == "by less than the margin"
    assert rules.better(between(0.001, 0.02), M).reason == ""
    # An exact 0 is no lead, and an exact lead is one.
    assert rules.better(Contrast("d", 0.0), M).word == C
    assert rules.better(Contrast("d", 1e-6), M).word == S


def test_the_ends_of_a_margin_belong_to_it():
    assert rules.about(Contrast("d", 0.61 - 0.60), M).word == S
    assert rules.about(Contrast("d", 0.60 - 0.61), M).word == S


def test_bound():
    below = [between(-0.3, -0.2), between(-0.04, -0.02)]
    assert rules.bound(below, M).word == S
    assert rules.bound([*below, between(0.02, 0.09)], M).word == C
    assert rules.bound([*below, between(-0.02, 0.09)], M).word == U
    # Surely above by less than the margin is above.
    assert rules.bound([*below, between(0.004, 0.006)], M).word == C
    # One of twenty points just above 0 is what chance gives.
    edge = between(0.0001, 0.01)
    assert rules.bound([edge], 0.02).word == C
    assert rules.bound([edge] + below * 10, 0.02).word == S


def test_best():
    up, down, open_ = between(0.01, 0.02), between(-0.02, -0.01), between(-0.01, 0.02)
    assert rules.best([up, up]).word == S
    assert rules.best([up, down]).word == C
    assert rules.best([up, open_]).word == U
    assert len(rules.best([up, down]).numbers) == 2
    # Reversed at 95%, but not among ten.
    slightly = between(-0.02, -0.0001)
    assert rules.best([slightly]).word == C
    assert rules.best([slightly] + [up] * 9).word == U


def test_exists():
    high, low, open_ = between(0.02, 0.05), between(-0.05, -0.02), between(-0.02, 0.03)
    assert rules.exists(high, [high, low], M).word == S
    assert rules.exists(low, [low, low], M).word == C
    assert rules.exists(low, [low, open_], M).word == U
    assert rules.exists(open_, [open_, low], M).word == U
    # Without a candidate chosen elsewhere, the family pays for the search.
    barely = between(0.0101, 0.05)
    assert rules.exists(barely, [barely] + [low] * 9, M).word == S
    assert rules.exists(None, [barely], M).word == S
    assert rules.exists(None, [barely] + [low] * 9, M).word == U
    assert rules.exists(None, [high, low], M).word == S


def test_identity():
    assert rules.identity([0, 1e-9], 1e-6, "r").word == S
    assert rules.identity([0, 1e-6], 1e-6, "r").word == S
    assert rules.identity([0, 1e-2], 1e-6, "r").word == U
    assert rules.identity([0, 1e-2], 1e-6, "r", confirm=lambda case: 1e-2 * case).word == C
    assert rules.identity([0, 1e-2], 1e-6, "r", confirm=lambda case: 0.0).word == U
    assert rules.identity([0, 1e-4], 1e-6, "r", confirm=lambda case: 1e-4, refuted=1e-3).word == U
    found = rules.identity([0, 3, 2], 1, "r", confirm=lambda case: (0, 3, 2)[case])
    assert found.reason == "case 1, confirmed in higher precision"
    assert found.numbers[0].difference == 3


def test_an_exact_counterexample_needs_no_confirmation_and_claims_none():
    found = rules.identity([0, 3, 2], 1, "r", exact=True)
    assert (found.word, found.reason) == (C, "case 1")
    assert rules.identity([0, 3], 1, "r", exact=True, refuted=4).word == U


@pytest.mark.parametrize(
    "rule",
    [
        partial(rules.better, margin=M),
        partial(rules.much_better, threshold=0.0),
        lambda c: rules.best([c, c]),
        lambda c: rules.exists(c, [c], 0.0),
        lambda c: rules.bound([flipped(c)], 0.0),
        lambda c: rules.chance(flipped(c), 0.0),
    ],
)
def test_swapped_numbers_flip_the_word(rule):
    lead = between(0.02, 0.05)
    assert (rule(lead).word, rule(flipped(lead)).word) == (S, C)


def test_undecided_prints_the_units_it_would_take():
    wide = Contrast("d", 0.005, 0.01, 9, 10)
    found = rules.better(wide, M)
    assert (found.word, found.units_needed) == (U, 314)
    assert rules.better(Contrast("d", 0.5, 0.01, 9, 10), M).units_needed is None
    assert every([found, rules.better(replace(wide, standard_error=0.02), M)]).units_needed == 1255
    assert every([found, rules.better(replace(wide, units=None), M)]).units_needed is None


def test_what_no_number_of_units_decides_names_none_and_says_why():
    wide = Contrast("d", 0.005, 0.01, 9, 10)
    # The 79,000 records of a test this near its threshold could be had; ten times as many not.
    near, level = (rules.much_better(wide, 0.005 + off) for off in (1e-4 * 10**0.5, 1e-4))
    assert (near.word, near.units_needed, near.closed) == (U, pytest.approx(78400, abs=1), "")
    # A further run may still find it on either side.
    assert (level.word, level.units_needed, level.closed) == (U, None, "")
    assert "no count of units" in level.reason
    assert every([near, level]).units_needed is None
    split = overall(dict(zip(REAL, (Outcome(S), Outcome(C)), strict=True)), REAL)
    assert (split.word, split.closed) == (U, OWN_ANSWERS)
    # What is split stays so, but a part that is still open may contradict the whole.
    assert every([split, Outcome(S)]).closed == OWN_ANSWERS
    assert every([split, near]).closed == every([split, Outcome(C)]).closed == ""


@pytest.mark.parametrize(
    ("rule", "distance"),
    [
        (lambda one: rules.better(one, 0.0), 0.005),
        (lambda one: rules.better(one, 0.009), 0.005),
        (lambda one: rules.better(one, 0.012), 0.007),
        (lambda one: rules.much_better(one, 0.02), 0.015),
        (lambda one: rules.about(one, 0.008), 0.003),
        (lambda one: rules.chance(one, 0.001), 0.004),
        (lambda one: rules.bound([one], 0.012), 0.007),
        (lambda one: rules.exists(None, [one], 0.01), 0.005),
    ],
)
def test_units_are_planned_by_the_distance_to_the_threshold(rule, distance):
    found = rule(Contrast("d", 0.005, 0.01, 9, 10))
    assert found.word == U
    assert found.units_needed == pytest.approx((2.8 / distance) ** 2 * 10 * 0.01**2, abs=1.01)


@pytest.mark.slow
def test_so_many_units_do_decide_four_times_in_five():
    needed = rules.much_better(Contrast("d", 0.005, 0.01, 9, 10), 0.0).units_needed
    rng = np.random.default_rng(0)
    values = rng.normal(0.005, 0.01 * 10**0.5, (4000, needed))
    share = np.mean(
        [rules.much_better(Contrast.of_units(one, "d"), 0.0).word == S for one in values]
    )
    # Four standard errors of the share of 4,000 runs.
    assert share == pytest.approx(0.8, abs=0.025)


def test_the_rule_is_written_beside_the_number():
    assert rules.better(between(0.01, 0.02), M).numbers[0].claimed == Claimed("above", 0.0)
    assert rules.about(between(0.01, 0.02), M).numbers[0].claimed == Claimed("within", M)
    assert rules.chance(between(0.01, 0.02), M).numbers[0].claimed == Claimed("below", M)


def test_parts_are_all_needed_and_one_contradicts():
    up, down = between(0.02, 0.05), between(-0.05, -0.02)
    judged = [rules.better(one, M, parts=2) for one in (up, up, down)]
    assert every(judged[:2]).word == S
    assert every(judged[1:]).word == C
    assert every([judged[0], rules.better(between(-0.05, 0.05), M, parts=2)]).word == U
    assert every([judged[0], untested("no data")]).word == N
    # Contradicted alone, not among three.
    slightly = between(-0.02, -0.0001)
    assert rules.better(slightly, 0.0).word == C
    assert rules.better(slightly, 0.0, parts=3).word == U
    with pytest.raises(ValueError, match="parts is 1; judge each part with parts=2"):
        every([rules.better(up, M), rules.better(down, M)])


REAL = ("MNIST-Odd", "Fashion-MNIST")


def on(**words):
    return {name.replace("_", "-"): Outcome(word, parts=5) for name, word in words.items()}


@pytest.mark.parametrize(
    ("outcomes", "word", "mark"),
    [
        (on(MNIST_Odd=S, Fashion_MNIST=S), S, S),
        (on(MNIST_Odd=S, Fashion_MNIST=U), S, S),
        (on(MNIST_Odd=S, digits=S), S, S),
        (on(MNIST_Odd=S, digits=C), U, U),
        (on(MNIST_Odd=S, Fashion_MNIST=C), U, U),
        (on(MNIST_Odd=C, Fashion_MNIST=U), C, C),
        (on(MNIST_Odd=C, digits=S), U, U),
        (on(MNIST_Odd=U), U, U),
        (on(MNIST_Odd=U, digits=S), U, U),
        (on(MNIST_Odd=N, digits=N), N, N),
        # What substitutes alone say is a mark of its own.
        (on(digits=S), U, "supported on substitute data"),
        (on(digits=S, letters=U), U, "supported on substitute data"),
        (on(digits=C), U, "contradicted on substitute data"),
        (on(digits=C, letters=U), U, "contradicted on substitute data"),
        (on(digits=S, letters=C), U, U),
        (on(digits=U), U, U),
        (on(Purchase_like=S), N, N),
        (on(Purchase_like=C, MNIST_Odd=S), S, S),
        (on(Purchase_like=S, MNIST_Odd=U), U, U),
    ],
)
def test_overall(outcomes, word, mark):
    found = overall(outcomes, REAL, simulated=["Purchase-like"])
    assert (found.word, found.mark) == (word, mark)


def test_always_is_contradicted_by_any_one():
    mixed = on(MNIST_Odd=S, Fashion_MNIST=S, digits=C)
    assert overall(mixed, REAL).word == U
    assert overall(mixed, REAL, always=True).word == C
    assert overall(on(MNIST_Odd=S, Fashion_MNIST=S), REAL, always=True).word == S
    loose = {"digits": rules.better(between(-0.02, -0.01), M), "MNIST-Odd": Outcome(S)}
    with pytest.raises(ValueError, match="parts=2"):
        overall(loose, REAL, always=True)


def test_a_split_names_each_data_set():
    found = overall(on(MNIST_Odd=S, Fashion_MNIST=C), REAL)
    assert found.reason == "split: MNIST-Odd: supported; Fashion-MNIST: contradicted"
    assert "substitute" in overall(on(digits=S), REAL).reason


def test_parts_that_come_nearest_to_failing_are_shown():
    parts = [
        rules.chance(Contrast(text, value, 0.01), 0.1, parts=3)
        for text, value in (("far", -9.0), ("near", 0.05), ("between", -1.0))
    ]
    assert [number.label for number in summed_up(parts).numbers] == ["near", "between"]
    parts = [rules.about(Contrast(str(x), x), 1.0) for x in (0.1, -0.9, 0.8)]
    assert [number.label for number in summed_up(parts).numbers] == ["-0.9", "0.8"]


def test_parts_on_substitute_data_are_summed_up_as_such():
    s, c, u = (overall(on(digits=word), REAL) for word in (S, C, U))
    assert every([s, s]).mark == every([s, Outcome(S)]).mark == "supported on substitute data"
    assert every([s, c]).mark == "contradicted on substitute data"
    assert every([s, u]).mark == U
    assert every([s, Outcome(C)]).mark == C
    assert overall(on(digits=U), REAL).units_needed is None


def test_simulated_data_may_carry_a_claim_about_themselves():
    assert overall(on(simulation=S), ["simulation"]).word == S


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rules.better(between(0, 1), -1), "margin is -1"),
        (lambda: rules.about(between(0, 1), float("nan")), "margin is nan"),
        (lambda: rules.better(between(0, 1), M, parts=0), "parts is 0"),
        (lambda: rules.best([]), "at least one"),
        (lambda: every([]), "at least one"),
        (lambda: overall({}, []), "at least one"),
    ],
)
def test_a_wrong_use_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def scores(rng, lead):
    member = rng.random((5, 200)) < 0.5
    shared = rng.standard_normal(200)
    first, second = (shared + rng.standard_normal((5, 200)) + g * member for g in (1 + lead, 1.0))
    return first, second, member


def judged(first, second, member, seed=0):
    found = metrics.paired_interval("auc", first, second, member, resamples=60, seed=seed)
    return rules.better(Contrast.of(found, "AUC"), M).word


def test_permuted_membership_is_rarely_supported():
    """At most 5% of 200 runs; with a true lead the same rule supports, and swapped contradicts."""
    rng = np.random.default_rng(3)
    words = []
    for seed in range(200):
        first, second, member = scores(rng, lead=1.0)
        member = rng.permuted(member, axis=1)
        words.append(judged(first, second, member, seed))
    assert words.count(S) <= 10
    first, second, member = scores(rng, lead=1.0)
    assert judged(first, second, member) == S
    assert judged(second, first, member) == C


def test_an_attack_is_not_better_than_itself():
    first, _, member = scores(np.random.default_rng(4), lead=0.0)
    assert judged(first, first, member) == C
    pair = metrics.paired_interval("auc", first, first, member, resamples=20)
    assert rules.about(Contrast.of(pair, "AUC"), M).word == S
