"""Several models of one training: what is stored and said of them, and what they show together."""

import numpy as np
import pytest
from torch import nn

from membership import attacks, audit, data, metrics, signals
from membership.errors import InputError
from tests.audit.test_observe import MEMBER, SMALL, X, Y, linear

RECORDS = np.arange(300)[:, None].repeat(2, axis=1).astype(float)
LABEL = np.arange(300) % 2
HARD = np.random.default_rng(4).normal(size=300)


def three(x, y, seed):
    return [linear(x, y, 1000 * number + seed) for number in range(3)]


class Answers:
    """A model of two classes that has these log-odds of its records' labels."""

    def __init__(self, odds: np.ndarray) -> None:
        self.odds = odds

    def __call__(self, x):
        rows = x[:, 0].astype(int)
        return (self.odds[rows] * (2 * LABEL[rows] - 1))[:, None]


def updated(x, y, seed):
    """Models before and after an update that moves what it adds a little, and all by chance."""
    rng, inside = np.random.default_rng(seed), np.isin(np.arange(300), x[:, 0])
    before = HARD + rng.normal(scale=1.0, size=300)
    return [Answers(before), Answers(before + 0.3 * inside + rng.normal(scale=0.2, size=300))]


def test_what_each_model_answers_is_stored_and_the_last_is_attacked_alone(capsys) -> None:
    models = three(X, Y, 77)
    found = audit.gather(X, Y, three, model=models, member=MEMBER, held=(X[:30], Y[:30]), **SMALL)
    assert found["sequence_log_odds"].shape == (4, 3, 120)
    for number, model in enumerate(models):
        wanted = signals.scaled_logit(model, X, Y)[0]
        np.testing.assert_allclose(found["sequence_log_odds"][0, number], wanted, rtol=1e-5)
    np.testing.assert_array_equal(found["log_odds"], found["sequence_log_odds"][:, -1])
    np.testing.assert_allclose(found["hinge"][0], signals.hinge(models[-1], X, Y)[0], rtol=1e-5)
    assert found["held_hinge"].shape == (4, 30)
    assert found.attrs["sequence"] == {"models": 3, "question": "any"}
    said = capsys.readouterr().err
    assert (
        "4 trainings of 3 models each are asked about 150 records: 1,560 answers, 422 of them"
        in said
    )
    assert "2 more trainings of 3 models each, about" in said
    seen = attacks.observe(found)
    assert seen["references.sequence.log_odds"].shape == (3, 3, 120)


def test_a_model_alone_is_no_sequence() -> None:
    found = audit.gather(X, Y, linear, **SMALL)
    assert "sequence_log_odds" not in found
    assert "sequence" not in found.attrs
    report = audit.compare(found)
    assert report["setup"]["sequence"] == 1
    (lacks,) = (one for one in report["left_out"] if one["name"] == "score-difference")
    assert lacks["takes"] == "several models of one training, such as checkpoints"


def test_checkpoints_that_say_nothing_more_are_not_said_to() -> None:
    report = audit.compare(audit.gather(X, Y, three, n_reference=4, n_targets=2))
    assert any(text.endswith("give more away is not shown by that.") for text in report["meaning"])


def test_an_update_tells_what_the_model_after_it_does_not() -> None:
    found = audit.gather(RECORDS, LABEL, updated, n_reference=8, question="added")
    report = audit.compare(found)
    area = {one["name"]: one["auc"]["value"] for one in report["attacks"]}
    best = max(value for name, value in area.items() if name not in TOGETHER)
    assert min(area[name] for name in TOGETHER) > best + 0.1
    assert report["attacks"][0]["name"] in TOGETHER
    assert "A member is a record that the update added." in report["meaning"][0]
    assert any("Who sees of the released models what" in text for text in report["meaning"])
    (gain,) = (text for text in report["meaning"] if "the first attack that compares" in text)
    assert gain.endswith("That the earlier models give more away is shown by that.")
    listed = {one["text"]: one["status"] for one in report["checklist"]}
    assert listed["The first model of each training had seen none of these records."] == "assumed"
    assert listed["Other models of this training, such as checkpoints between these."]


TOGETHER = ("lira-sequence", "score-difference")


def game(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    halves = data.random_halves(4, 400, seed)
    member = np.concatenate([halves[:1], *np.stack([halves, ~halves], axis=1)])
    early = rng.normal(size=400) + rng.normal(size=member.shape)
    late = early + 0.5 * member + rng.normal(scale=0.3, size=member.shape)
    return np.stack([early, late], axis=1), member


def test_one_model_is_judged_as_lira_does() -> None:
    phi, member = game()
    for variance in ("global", "per-record"):
        found = attacks.lira_sequence(phi[0, 1:], phi[1:, 1:], member[1:], variance)
        wanted = attacks.lira(phi[0, 1], phi[1:, 1], member[1:], variance=variance)
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_a_model_twice_one_that_is_the_same_for_all_and_its_unit_move_nothing(scale) -> None:
    phi, member = game()
    wanted = attacks.lira_sequence(phi[0], phi[1:], member[1:])
    base = np.full_like(phi[:, :1], 0.1)
    more = np.concatenate([base, phi, phi[:, 1:]], axis=1) * scale
    found = attacks.lira_sequence(more[0], more[1:], member[1:])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def test_both_models_say_more_than_either() -> None:
    phi, member = game()
    both = metrics.auc(attacks.lira_sequence(phi[0], phi[1:], member[1:]), member[0])
    for number in (0, 1):
        alone = attacks.lira(phi[0, number], phi[1:, number], member[1:], variance="global")
        assert both > metrics.auc(alone, member[0]) + 0.1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda phi, member: (phi[0], phi[1:, :1], member[1:]), r"give \(models, 2 checkpoints"),
        (lambda phi, member: (phi[0, 1], phi[1:], member[1:]), "target has shape"),
        (lambda phi, member: (phi[0], phi[1:], member[1:] & False), "fewer than 1 IN models"),
        (lambda phi, member: (phi[0], phi[1:] * 0, member[1:]), "the same mean at every"),
        (lambda phi, member: (phi[0], phi[1:], member[1:], "none"), "variance"),
    ],
)
def test_what_does_not_fit_is_refused(change, said) -> None:
    with pytest.raises(InputError, match=said):
        attacks.lira_sequence(*change(*game()))


def test_a_folder_of_one_model_a_training_is_not_taken_for_several(tmp_path) -> None:
    audit.gather(X, Y, linear, keep=tmp_path, **SMALL)
    with pytest.raises(InputError, match="name another folder, or remove this one"):
        audit.gather(X, Y, three, keep=tmp_path, **SMALL)


def test_a_list_that_grows_or_of_other_classes_is_named_by_its_training() -> None:
    def growing(x, y, seed):
        return three(x, y, seed)[: 2 + seed % 2]

    with pytest.raises(InputError, match=r"training \d of 5 .*: train gives \d models where"):
        audit.gather(X, Y, growing, **SMALL)

    def wider(x, y, seed):
        return [nn.Linear(6, 4).double(), linear(x, y, seed)]

    with pytest.raises(InputError, match=r"model 0 of 2 answers \(120, 4\) and the last \(120, 3"):
        audit.gather(X, Y, wider, **SMALL)
