"""One small convolutional network on digits, gathered as the paper-size one is."""

import numpy as np
import pytest
import torch

from membership import data, metrics
from membership.book.studies.bmia import (
    by_model,
    convolutional,
    evidence,
    experiment,
    posteriors,
    scores,
)
from membership.book.studies.bmia.scores import Seen
from membership.book.studies.bmia.settings import Settings


@pytest.fixture(scope="module")
def table(source):
    return source.table("bmia-ctl-18")


@pytest.fixture(scope="module")
def seen(source):
    return Seen(*(source.evidence(name) for name in evidence.CONVOLUTIONAL[:2]))


def value(table, attack, n, metric):
    part = table[(table["attack"] == attack) & (table["n_reference"] == n)]
    return part.set_index("metric")["value"][metric]


def images(n, name):
    """Noise in the place of pictures."""
    x = np.random.default_rng(0).random((n, 3, 8, 8)).astype(np.float32)
    return data.Dataset(x, np.arange(n) % 4, name, 4, "noise", digest="none")


def test_the_paper_size_run_is_the_papers_recipe_with_flips_and_crops(monkeypatch):
    dataset = images(200, "cifar10")
    monkeypatch.setattr(experiment.patches, "load", lambda name, root: dataset)
    world = convolutional.convolutional(Settings.from_values({"profile": "paper"}))
    config = world.config
    assert world.architecture == "resnet18"
    assert config.augmentation == "flip-and-crop"
    drops = (config.epochs // 2, 3 * config.epochs // 4)
    assert (config.schedule, config.milestones) == ("milestones", drops)
    assert (config.learning_rate, config.momentum, config.weight_decay) == (0.1, 0.9, 1e-4)
    assert world.targets.sum(axis=1).tolist() == [40] * 5
    assert len(world.queries) == len(world.pool) == 80


def test_a_view_is_a_shifted_or_mirrored_image():
    class Remembered:
        def __init__(self):
            self.asked = []

        def logits(self, x):
            self.asked.append(np.asarray(x))
            level = torch.as_tensor(np.asarray(x)).double().mean((1, 2, 3))
            return torch.stack([level, torch.zeros_like(level)], -1)[None]

    x, ensemble = images(5, "own").x, Remembered()
    found = by_model.on_average(ensemble, x, np.zeros(5, dtype=int))
    padded = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
    moved = [padded[:, :, 2:-2, 2:-2], padded[:, :, :-4, 2:-2], padded[:, :, 4:, 2:-2]]
    moved += [padded[:, :, 2:-2, :-4], padded[:, :, 2:-2, 4:]]
    expected = [*moved, *(one[..., ::-1] for one in moved)]
    for one, other in zip(ensemble.asked, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    level = np.mean([one.mean((1, 2, 3), dtype=float) for one in expected], axis=0)
    np.testing.assert_allclose(found.hinge[0], level, rtol=1e-6)
    np.testing.assert_allclose(found.log_odds[0], level, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "n", "registered"),
    [
        ("BMIA", 1, "bmia"),
        ("BMIA, mixture", 8, "bmia-mixture"),
        ("Attack-P", 0, "attack-p"),
        ("QMIA, normal", 0, "qmia"),
        ("hinge difference", 1, "difference"),
        ("Attack-R", 4, "attack-r"),
        ("RMIA", 8, "rmia-share"),
        ("LiRA, a variance a record", 8, "lira-offline"),
        ("LiRA, one variance", 4, "lira-offline-global"),
    ],
)
def test_attacks_are_the_registered_ones(table, seen, attack, n, registered):
    each = [metrics.auc(*pair) for pair in seen.attack(registered, max(n, 1))]
    assert value(table, attack, n, "auc(%)") == pytest.approx(100 * np.mean(each), abs=1e-3)


@pytest.mark.slow
def test_structures_are_compared_on_the_same_queries(table, source):
    one, law, some = (source.evidence(name) for name in evidence.CONVOLUTIONAL[:3])
    asked = Seen(one, law).on(some["record"].values)
    full, kron = (
        [metrics.auc(*pair) for pair in posteriors.scored(asked, some, one)]
        for one in ("full", "kron")
    )
    found = value(table, "BMIA, full posterior", 1, "auc(%), less BMIA's")
    assert found == pytest.approx(100 * np.mean(np.subtract(full, kron)))


@pytest.mark.slow
def test_accuracies_are_those_of_the_targets(table, source):
    held = source.evidence("outputs-convolutional")["held_hinge"].values[:2]
    found = value(table, "none: the targets", 0, scores.ON_OTHERS)
    assert found == pytest.approx(100 * (held > 0).mean())
