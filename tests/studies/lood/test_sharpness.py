"""The learning rate: that of the committed runs as it was, and small enough for short records."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine

from membership import data, evidence, paths
from membership.studies.lood import networks
from membership.studies.lood.evidence import influence
from membership.studies.lood.experiment import load
from membership.studies.lood.networks import sharpness
from membership.studies.lood.settings import Settings


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(("n_features", "depth"), [(13, 2), (300, 3)])
def test_it_is_a_quarter_of_the_mean_squared_gradient_at_the_start(activation, n_features, depth):
    """Over many starts of wide networks, by autograd."""
    width, sigma = 256, networks.NETWORK_W_STD[activation]
    x = np.random.default_rng(0).uniform(size=(1, n_features)).astype(np.float32)
    settings = SimpleNamespace(depth=depth, network_width=width)
    shaped = SimpleNamespace(shape=(n_features,), dataset=SimpleNamespace(n_classes=2))
    torch.manual_seed(0)
    starts = [networks.factory(shaped, settings, activation)() for _ in range(60)]
    found = np.mean([influence.tangent_kernel(start, x)[0, 0] for start in starts]) / 4
    expected = sharpness(float((x**2).sum()), n_features, depth, width, activation, sigma)
    assert found == pytest.approx(expected, rel=0.1)


def test_of_relu_networks_it_has_a_closed_form():
    """Each layer but the first reads as many units as the network is wide."""
    for n_features, depth, width in ((13, 2, 64), (3072, 9, 1024), (1, 1, 1)):
        expected = 5.0 * (1 + depth * width / n_features) / 2
        found = sharpness(5.0, n_features, depth, width, "relu", 2**0.5)
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("profile", ["tiny", "quick"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_digits_have_the_rate_that_they_had(activation, profile, seed):
    settings = Settings.from_values({"profile": profile, "seed": seed})
    records = load(settings).first(settings.network_records)
    size = np.square(records.inputs()).sum(axis=1).mean()
    found = networks.recipe(records, settings, activation).learning_rate
    assert found == float(f"{networks.LEARNING_RATE / size:.2g}")


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_committed_networks_have_the_rate_that_they_had(activation):
    """From what the evidence says, without its pictures."""
    folder = paths.results_dir() / "paper" / "lood"
    said = evidence.load(folder / f"pairs-{activation}.evidence").attrs["recipe"]
    size = networks.LEARNING_RATE / said["learning_rate"]
    network = (said["depth"], said["width"], activation, networks.NETWORK_W_STD[activation])
    steepest = networks.STEEPEST[activation] / sharpness(size, 3 * 32 * 32, *network)
    assert steepest > 1.5 * said["learning_rate"]


@pytest.mark.slow
@pytest.mark.parametrize(("activation", "depth"), [("relu", 2), ("gelu", 2), ("gelu", 10)])
def test_networks_of_few_features_learn(activation, depth, tmp_path, monkeypatch):
    """With 64 units on 13 features they died or diverged."""
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    file = data.save(data.from_arrays(load_wine()), tmp_path / "wine.npz")
    given = {"dataset": str(file), "depth": depth, "n_networks": 4, "n_retrained": 4}
    settings = Settings.for_run({**given, "n_jobs": 1})
    found = networks.retrain(load(settings), settings, activation)
    answers = found.inside.logits(found.records.dataset.x).numpy().argmax(axis=-1)
    assert (answers == found.records.dataset.y).mean(axis=1).min() > 0.9
