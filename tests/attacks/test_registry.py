"""Every registered attack is put through the same checks: a new one is tested by being entered."""

import re
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membership import attacks, evidence, metrics
from membership.attacks.adversary import references_of
from membership.errors import InputError
from tests.attacks.games import games
from tests.attacks.slow import SLOW

registered = sys.modules["membership.attacks.registry"]
GAMES = games()
TOGETHER = ("outputs", "white_box", "posterior")
# A signal of one kind hides that of the next, so each attack gets the kinds that it reads.
SETS = (("outputs", "posterior"), ("white_box",), ("pairs",), ("steps",))
BOOK = Path(__file__).parents[2] / "book"
BIBLIOGRAPHY = (files("membership.book.published") / "references.bib").read_text(encoding="utf-8")
ATTACKS = list(attacks.registry().values())
every_attack = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


def evidence_for(attack, found=None):
    """The first set of evidence that has what the attack needs."""
    found = found or GAMES
    for kinds in SETS:
        chosen = [found[kind] for kind in kinds]
        if not attacks.observe(*chosen).lacking(attack.needs):
            return chosen
    raise AssertionError(f"no game has what {attack.name} needs: add it to games.py")


def rows_of(dataset):
    return "query" if dataset.attrs["kind"] == "white_box" else "record"


@pytest.mark.slow
@every_attack
def test_members_score_higher_in_an_easy_game(attack):
    area = []
    for seed in range(3):
        seen = attacks.observe(*evidence_for(attack, games(seed)))
        area.append(metrics.auc(attack.of(seen), seen.member))
    # Chance has a standard deviation of 0.04 in the mean of three games of 40 and 40.
    assert np.mean(area) > 0.62


@every_attack
def test_the_order_of_records_does_not_matter(attack):
    chosen = evidence_for(attack)
    order = np.random.default_rng(1).permutation(chosen[0].sizes[rows_of(chosen[0])])
    moved = [one.isel({rows_of(one): order}) for one in chosen]
    before, after = attacks.observe(*chosen), attacks.observe(*moved)
    rows = np.concatenate([order + shift for shift in range(0, before.record.size, order.size)])
    np.testing.assert_array_equal(after.record, before.record[rows])
    np.testing.assert_allclose(attack.of(after), attack.of(before)[rows], rtol=1e-9, atol=1e-12)


@every_attack
def test_it_agrees_with_a_slow_reference(attack):
    found = attack.on(*evidence_for(attack))
    assert found.dtype == np.float64
    assert np.isfinite(found).all()
    assert attack.name in SLOW, f"tests/attacks/slow.py: SLOW lacks {attack.name}"
    np.testing.assert_allclose(found, SLOW[attack.name](GAMES), rtol=1e-6, atol=1e-9)


@every_attack
def test_evidence_that_lacks_something_is_told_what(attack):
    seen = attacks.observe(*evidence_for(attack))
    for need in attack.needs:
        left = {k: v for k, v in seen.arrays.items() if k not in need.split("|")}
        with pytest.raises(InputError, match=re.escape(need)):
            attack.of(replace(seen, arrays=left))


@every_attack
def test_what_it_reads_is_what_it_needs(attack):
    seen = attacks.observe(*evidence_for(attack))
    named = {one for need in attack.needs for one in need.split("|")}
    left = {k: v for k, v in seen.arrays.items() if k in named}
    np.testing.assert_array_equal(attack.of(replace(seen, arrays=left)), attack.of(seen))


@every_attack
def test_a_target_and_its_complement_are_no_references(attack):
    chosen = evidence_for(attack)
    if chosen[0].attrs["kind"] != "outputs":
        return
    changed = chosen[0].copy(deep=True)
    for name in ("log_odds", "hinge", "held_log_odds"):
        changed[name][1] += 5.0
    changed["member"][1] = ~changed["member"][1]
    np.testing.assert_array_equal(attack.on(changed, *chosen[1:]), attack.on(*chosen))


@pytest.mark.parametrize(
    "attack", [one for one in ATTACKS if one.single_reference], ids=lambda attack: attack.name
)
def test_a_single_reference_is_all_that_it_takes(attack):
    chosen = evidence_for(attack)
    np.testing.assert_array_equal(attack.on(*chosen, references=1), attack.on(*chosen))


@every_attack
def test_only_leave_one_out_knowledge_reads_the_truth(attack):
    seen = attacks.observe(*evidence_for(attack))
    turned = attack.of(replace(seen, member=~seen.member))
    assert np.array_equal(turned, attack.of(seen)) != ("recipe" in attack.knowledge)


@every_attack
def test_the_book_knows_it(attack):
    glossary = (BOOK / "glossary.md").read_text(encoding="utf-8").splitlines()
    assert (attack.term or attack.display) in glossary
    assert f"{{{attack.paper}," in BIBLIOGRAPHY
    assert attack.function.__name__ in attacks.__all__
    assert attack.function.__doc__
    assert attack.equation


@pytest.mark.parametrize("kind", GAMES)
def test_numbers_that_are_not_finite_are_refused(kind):
    for name, array in GAMES[kind].data_vars.items():
        if array.dtype.kind != "f":
            continue
        bad = GAMES[kind].copy(deep=True)
        bad[name][(0,) * array.ndim] = np.nan
        alone = () if kind != "posterior" else (GAMES["outputs"],)
        # The replicate, target and reference asked are those of the first number.
        target = 0
        if kind == "posterior":
            bad[name][:] = np.nan
        with pytest.raises(InputError, match="not finite"):
            attacks.scores(*alone, bad, target=target)


def test_all_attacks_of_evidence_and_what_the_others_lack():
    found = attacks.scores(*(GAMES[kind] for kind in TOGETHER))
    assert set(found.score) | set(found.lacking) == set(attacks.registry())
    assert found.lacking["l-attack"] == "leave_one_out.log_odds, leave_one_out.member"
    assert found.lacking["glir"] == "steps.distance, steps.susceptibility"
    without = attacks.scores(GAMES["outputs"].drop_vars(["hinge", "held_log_odds"]))
    assert without.lacking["difference"] == "hinge, references.hinge"
    assert "held.log_odds" in without.lacking["rmia-share"]


def test_what_is_there_but_will_not_do_is_said_too():
    alone = attacks.scores(GAMES["outputs"], references=1)
    assert "fewer than 2" in alone.lacking["lira-offline"]
    assert "mast" not in alone.score
    assert "loss" in alone.score


def test_records_are_those_that_all_evidence_has():
    part = GAMES["white_box"].isel(query=slice(10, 50))[{"query": np.arange(40)[::-1]}]
    both = attacks.observe(GAMES["outputs"], part, target=2)
    np.testing.assert_array_equal(both.record, GAMES["outputs"]["record"].values[10:50])
    full = attacks.registry()["iha"].on(GAMES["white_box"], target=2)
    own = replace(both, arrays={k: v for k, v in both.arrays.items() if k != "log_odds"})
    np.testing.assert_allclose(attacks.registry()["iha"].of(own), full[10:50])
    with pytest.raises(InputError, match="no record in common"):
        attacks.observe(GAMES["outputs"].isel(record=slice(5)), part)


def test_a_target_is_asked_its_own_records():
    asked = np.zeros(GAMES["outputs"]["member"].shape, bool)
    asked[0, ::2] = asked[2, ::4] = True
    some = GAMES["outputs"].assign(asked=(("model", "record"), asked))
    np.testing.assert_array_equal(attacks.observe(some).record, some["record"].values[::2])
    table = attacks.score_table(some, targets=(0, 2))
    assert table.member.shape == table.score["lira"].shape == (2, 40)
    assert np.isnan(table.score["lira"][1]).sum() == 20
    pair = metrics.paired_interval(
        "auc", table.score["lira"], table.score["loss"], table.member, resamples=20
    )
    assert pair.units == 2


def test_whatever_is_named_a_target_and_its_complement_are_no_references():
    rng = np.random.default_rng(0)
    member = rng.random((6, 40)) < 0.5
    member[2] = ~member[1]
    made = evidence.dataset(
        "outputs",
        {"log_odds": rng.normal(size=member.shape), "member": member},
        **{"set": "s", "data": {}, "recipe": {}, "targets": [0], "references": [1, 2, 3, 4, 5]},
    )
    for target, expected in (
        (0, [1, 2, 3, 4, 5]),
        (1, [3, 4, 5]),
        (2, [3, 4, 5]),
        (3, [1, 2, 4, 5]),
    ):
        assert references_of(made, target) == expected
        seen = attacks.observe(made, target=target)
        np.testing.assert_array_equal(seen["references.member"], member[expected])
    # One complement a model is read as well as one a target.
    each = made.assign_attrs(references=[], complements=[5, None, None, None, None, 0])
    assert references_of(each, 0) == [1, 2, 3, 4]
    assert references_of(each, 4) == [0, 1, 2, 3, 5]
    with pytest.raises(InputError, match="complements: 2 are named for 1 targets and 6 models"):
        references_of(made.assign_attrs(complements=[1, 2]), 0)
    with pytest.raises(InputError, match="references = 9: the evidence has model"):
        attacks.observe(made.assign_attrs(references=[9]), target=0)


def test_named_references_rotate_with_the_target():
    named = GAMES["outputs"].assign_attrs(references=[5, 6, 7], complements=[])
    for at, target in enumerate((0, 1, 2)):
        seen = attacks.observe(named, target=target, references=2)
        expected = [[5, 6, 7][(at + k) % 3] for k in range(2)]
        values = GAMES["outputs"]["log_odds"].values
        np.testing.assert_array_equal(seen["references.log_odds"], values[expected])


@pytest.mark.parametrize(
    ("kinds", "options", "message"),
    [
        (("outputs", "pairs"), {}, "give pairs or steps alone"),
        (("outputs", "outputs"), {}, "one each"),
        ((), {}, "one each"),
        (("outputs",), {"target": 99}, "target = 99"),
        (("outputs",), {"references": 0}, "references is 0"),
        (("posterior",), {}, "who is a member"),
    ],
)
def test_evidence_that_does_not_go_together_is_named(kinds, options, message):
    with pytest.raises(InputError, match=message):
        attacks.scores(*(GAMES[kind] for kind in kinds), **options)


def test_the_vocabulary_of_knowledge_is_closed():
    with pytest.raises(ValueError, match="'everything' is no word for it; give of 'outputs'"):
        replace(ATTACKS[0], knowledge=("everything",))


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_matt_of_a_linear_model_follows_from_what_it_answers(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((12, 4)), rng.choice([-1.0, 1.0], 12)
    theta, theta0 = rng.standard_normal((2, 4))
    f, f0 = y * (x @ theta), y * (x @ theta0)
    gradient = -(y / (1 + np.exp(f0)))[:, None] * x
    hessian = np.eye(4) + x[:6].T @ x[:6]
    h = np.array([row @ np.linalg.solve(hessian, row) for row in x])
    h *= np.exp(f0) / (1 + np.exp(f0)) ** 2
    for found, expected in (
        (attacks.matt_from_log_odds(f, f0), attacks.matt(theta, theta0, gradient)),
        (
            attacks.matt_from_log_odds(f, f0, h, newton=False),
            attacks.matt(theta, theta0, gradient, hessian),
        ),
        (
            attacks.matt_from_log_odds(f, f0, h),
            attacks.matt(theta, theta0, gradient, hessian, h),
        ),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_moments_of_one_reference_or_of_several():
    target, mean, sd = np.array([1.0, 2.0]), np.array([[0.0, 1.0]] * 3), np.full((3, 2), 2.0)
    z = attacks.bmia_from_moments(target, mean[0], sd[0])
    np.testing.assert_allclose(z, [0.5, 0.5])
    covariance = np.full((3, 2), 4.0)
    logits = np.stack([mean, np.zeros((3, 2))], axis=-1)
    expected = attacks.bmia_mixture(target, logits, covariance, [0, 0])
    np.testing.assert_allclose(attacks.bmia_from_moments(target, mean, sd), expected)


@pytest.fixture
def thrown_away(monkeypatch):
    """One more attack: its function and its entry, nothing else."""

    def margin(hinge):
        """Score a record by its hinge alone."""
        return np.asarray(hinge, dtype=np.float64)

    entry = attacks.Attack(
        name="margin",
        display="margin alone",
        function=margin,
        needs=("hinge",),
        knowledge=("logits",),
        references="none",
        paper="liu2025",
        equation="none",
        score=lambda seen: margin(seen["hinge"]),
    )
    monkeypatch.setattr(registered, "ATTACKS", dict(registered.ATTACKS))
    registered.declare(entry)
    return entry


def test_an_entry_is_all_that_a_new_attack_needs(thrown_away):
    assert list(attacks.registry())[-1] == "margin"
    assert attacks.registry()["margin"] is thrown_away
    hinge = GAMES["outputs"]["hinge"].values
    np.testing.assert_array_equal(attacks.scores(GAMES["outputs"]).score["margin"], hinge[0])
    assert "margin" in attacks.score_table(GAMES["outputs"]).score
    assert attacks.scores(GAMES["steps"]).lacking["margin"] == "hinge"
    assert "margin alone" in set(attacks.requirements()["attack"])


def test_a_name_is_given_once_and_the_order_names_no_other(thrown_away):
    with pytest.raises(ValueError, match="attack margin: there is one of this name already"):
        registered.declare(thrown_away)
    # One that the order does not name yet stands last.
    names = tuple(attack.name for attack in ATTACKS)
    assert names[: len(registered.ORDER)] == registered.ORDER
