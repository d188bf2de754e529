"""Tasks: whose records, which features, how they are trained."""

import numpy as np
import pytest

from membership import data
from membership.book.studies.gmip import experiment
from membership.errors import InputError
from membership.training.private import record_gradients


def test_a_task_has_disjoint_splits(settings):
    task = experiment.task("digits", settings)
    parts = experiment.split(task, settings, 0)
    members, others, background = (set(p.tolist()) for p in vars(parts).values())
    assert len(members) == len(others) == task.recipe.audit_batch
    assert not members & others
    assert not background & (members | others)
    assert max(others) < task.n_test <= min(members)
    np.testing.assert_allclose(task.features.mean(axis=0), 0, atol=1e-12)


def test_own_data_takes_the_same_way(settings, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "own.npz"
    np.savez(path, x=rng.standard_normal((900, 6)).astype(np.float32), y=rng.integers(3, size=900))
    task = experiment.task(str(path), settings)
    assert task.features.shape == (900, task.recipe.width)
    assert task.dimension == 3 * (task.recipe.width + 1)
    np.savez(path, x=np.eye(20, dtype=np.float32), y=np.arange(20) % 10)
    with pytest.raises(InputError, match="dataset has 20 records"):
        experiment.task(str(path), settings)


@pytest.mark.slow
def test_purchase_has_20_classes_and_128_features(settings, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(40_000, 9)), rng.integers(100, size=40_000)
    made = data.Dataset(x, y, "purchase_like", 100, "made up", data.record_digest(x, y))
    monkeypatch.setattr(data, "load", lambda name, root: made)
    task = experiment.task("purchase_like:40000", settings)
    assert (task.recipe.classes, task.recipe.width, task.dimension) == (20, 128, 2580)
    assert task.published == "Purchase"
    assert any("simulated" in text for text in task.deviations)
    small = data.Dataset(x[:9000], y[:9000], "purchase_like", 100, "made up", "0")
    monkeypatch.setattr(data, "load", lambda name, root: small)
    with pytest.raises(InputError, match="too few to estimate a covariance of rank 2451"):
        experiment.task("purchase_like:9000", settings)


@pytest.mark.slow
def test_cifar_has_64_components_of_a_network_trained_on_other_images(
    settings, monkeypatch, tmp_path
):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    rng = np.random.default_rng(0)
    made = {}
    for name, n in (("cifar10", 1200), ("cifar100_20k", 64)):
        x, y = rng.random((n, 3, 32, 32), dtype=np.float32), np.arange(n) % 10
        made[name] = data.Dataset(x, y, name, 10, "made up", name)
    monkeypatch.setattr(data, "load", lambda name, root: made[name])
    task = experiment.task("cifar10", settings)
    assert (task.features.shape[1], task.dimension) == (64, 650)
    assert task.digests == {"cifar10": "cifar10", "cifar100_20k": "cifar100_20k"}
    assert task.recipe.audit_batch < 500
    assert any("audit batch" in text for text in task.deviations)


def test_the_trajectory_is_adam_on_the_whole_batch(settings):
    task = experiment.task("digits", settings)
    members = np.arange(400, 500)
    first, second = experiment.trajectory(task, members, 2, 0)
    step = record_gradients(first, task.features[members], task.y[members]).mean(axis=0)
    # Adam's first step has the size of the learning rate in every entry, against the gradient.
    expected = -task.recipe.learning_rate * np.sign(step)
    moved = (second - first).ravel()
    large = np.abs(step) > 1e-5
    np.testing.assert_allclose(moved[large], expected[large], rtol=1e-2)
