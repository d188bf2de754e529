"""Table 3's stand-in on made-up networks, where the answer is known, and on tiny ones."""

import itertools

import numpy as np
import pytest

from membership import evidence, metrics, signals
from membership.book.studies.bayes_optimal import augmentation, names
from membership.book.studies.bayes_optimal.claims import CLAIMS
from membership.book.studies.bayes_optimal.evidence import sources
from membership.book.studies.bayes_optimal.settings import Settings

TRIED = ("none", "flip, shift", "flip, crop")


def made(leads=(3.0, 2.0, 1.0), n_targets=3, n_records=400):
    """Outputs of networks whose members' log-odds are higher by so much, by augmentation."""
    rng = np.random.default_rng(0)
    half = np.stack([rng.permutation(n_records) < n_records // 2 for _ in range(n_targets)])
    member = np.tile(half, (len(leads), 1))
    log_odds = rng.normal(size=member.shape) + np.repeat(leads, n_targets)[:, None] * member
    return evidence.dataset(
        "outputs",
        {"log_odds": log_odds, "correct": log_odds > 0, "member": member},
        targets=list(range(len(member))),
        augmentations=list(TRIED[: len(leads)]),
        set="made",
        data={},
        recipe={},
        setup={"architecture": "made", "members": n_records // 2, "data": "made"},
        sizes={},
        deviations=["made up"],
        device="cpu",
    )


def test_numbers_agree_with_a_loop_over_targets():
    found = made()
    table = augmentation.by_augmentation([found])
    value = table.set_index(["augmentation", "attack", "metric"])["value"]
    loss = signals.loss_of_log_odds(found["log_odds"].values)
    malt = {name: [] for name in TRIED}
    for row in range(9):
        name, first = TRIED[row // 3], row // 3 * 3
        others = [one for one in range(first, first + 3) if one != row]
        member = found["member"].values
        cut = metrics.best_threshold(-loss[others].ravel(), member[others].ravel())
        said = -loss[row] >= cut
        right = [np.mean(said[member[row]]), np.mean(~said[~member[row]])]
        malt[name].append(100 * np.mean(right))
    for name, numbers in malt.items():
        assert value[name, "MALT", "attack_accuracy(%)"] == pytest.approx(np.mean(numbers))
        gap = (
            value[name, "(model)", "train_accuracy(%)"] - value[name, "(model)", "test_accuracy(%)"]
        )
        assert value[name, "0-1", "attack_accuracy(%)"] == pytest.approx(50 + gap / 2)
    for name in TRIED[1:]:
        less = np.subtract(malt[name], malt["none"])
        row = table.set_index(["augmentation", "attack"]).loc[(name, augmentation.LESS)]
        assert row["value"] == pytest.approx(less.mean())
        assert row["standard_error"] == pytest.approx(less.std(ddof=1) / np.sqrt(3))
    for weaker, name in itertools.pairwise(TRIED):
        row = table.set_index(["augmentation", "attack"]).loc[(name, augmentation.NEXT)]
        assert row["value"] == pytest.approx(np.mean(malt[weaker]) - np.mean(malt[name]))
    assert (table["attack"] == augmentation.NEXT).sum() == 2


def claim(number):
    (found,) = (one for one in CLAIMS if one.id == f"bayes-optimal-{number}")
    return found


class Made:
    """A run whose networks are made up."""

    settings = Settings(profile="tiny").resolve()

    def __init__(self, found):
        self.found = found

    def table(self, exhibit_id):
        assert exhibit_id == "bayes-optimal-ctl-14"
        return augmentation.by_augmentation([self.found])


@pytest.mark.parametrize(
    ("leads", "word"),
    [((3.0, 2.0, 1.0), "supported"), ((1.0, 2.0, 3.0), "contradicted"), ((2, 2, 2), "undecided")],
)
def test_the_order_of_augmentations_decides_what_is_said_of_them(leads, word):
    said = claim("c17").outcome(Made(made(leads)))
    assert f"3 targets): {word}" in said.reason
    assert said.word == "undecided"


def test_malt_is_weighed_against_0_1():
    # Losses of members are lower, but no decision turns: only MALT sees it.
    found = made((3.0, 3.0, 3.0))
    found["correct"].values[:] = True
    assert "3 targets): supported" in claim("c16").outcome(Made(found)).reason
    # Decisions say who is a member, losses do not.
    other = made((0.0, 0.0, 0.0))
    other["correct"].values[:] = other["member"].values
    assert "3 targets): contradicted" in claim("c16").outcome(Made(other)).reason


def test_two_targets_or_one_augmentation_are_too_few():
    few = claim("c16").outcome(Made(made(n_targets=2)))
    assert (few.word, few.reason) == ("not tested here", "it takes 3 targets; there are 2")
    alone = claim("c17").outcome(Made(made((1.0,))))
    assert (alone.word, "no numbers for" in alone.reason) == ("not tested here", True)


def gathered(**changes):
    values = {"profile": "tiny", "cnn_records": "30", "cnn_epochs": "2", "n_reference": "4"}
    return sources(Settings.from_strings(values | changes))


def test_every_augmentation_has_the_same_members_and_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    found = gathered()[names.AUGMENTED]()
    assert found.attrs["augmentations"] == list(TRIED)
    member = found["member"].values.reshape(3, 3, 60)
    assert (member == member[0]).all()
    assert (member.sum(2) == 30).all()
    # Each of three is attacked with what the two others tell.
    assert found.attrs["setup"]["reference_models"] == member.shape[1] - 1
    log_odds = found["log_odds"].values.reshape(3, 3, 60)
    assert not np.allclose(log_odds[0], log_odds[1])
    assert not np.allclose(log_odds[1], log_odds[2])


def test_without_augmentation_they_are_networks_of_table_2(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    found, networks = (gathered()[name]() for name in (names.AUGMENTED, names.NETWORKS))
    for name in ("log_odds", "member", "correct"):
        np.testing.assert_array_equal(found[name].values[:3], networks[name].values[:3])


def test_tabular_records_are_not_augmented(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    path = tmp_path / "own.npz"
    np.savez(path, x=rng.normal(size=(300, 5)).astype(np.float32), y=rng.integers(0, 2, 300))
    found = gathered(dataset=str(path), n_records="[60]")[names.AUGMENTED]()
    assert found.attrs["augmentations"] == ["none"]
    table = augmentation.by_augmentation([found])
    assert set(table["augmentation"]) == {"none"}
    assert augmentation.LESS not in set(table["attack"])


def test_the_residual_network_is_for_the_papers_images_at_paper_size():
    assert names.augmented(Settings(profile="quick").resolve()) == (names.AUGMENTED,)
    own = Settings(profile="paper", dataset="digits").resolve()
    assert names.augmented(own) == (names.AUGMENTED,)
    assert names.augmented(Settings(profile="paper").resolve()) == (names.AUGMENTED, names.RESIDUAL)


@pytest.mark.slow
def test_a_residual_network_is_trained_on_fewer_records(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    monkeypatch.setattr(augmentation, "RECORDS", 24)
    monkeypatch.setattr(augmentation, "EPOCHS", 1)
    settings = Settings.from_strings({"profile": "tiny", "cnn_records": "30"})
    found = augmentation.outputs(names.RESIDUAL, settings)
    assert found["log_odds"].shape == (9, 24)
    assert found.attrs["setup"]["architecture"] == "ResNet-18"
    assert np.isfinite(found["log_odds"].values).all()
