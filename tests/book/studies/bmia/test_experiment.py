import numpy as np
import pytest

from membership import data
from membership.book.studies.bmia import experiment
from membership.book.studies.bmia.settings import NETWORKS, Settings
from membership.book.studies.bmia.trained import train


def test_the_roles_share_no_record(small):
    world = small.world
    parts = [set(world.pool), set(world.population), set(world.validation)]
    assert len(set.union(*parts)) == sum(map(len, parts)) == len(world.dataset)
    fifth = len(world.dataset) // 5
    assert [len(part) for part in parts[:2]] == [2 * fifth, 2 * fifth]


def test_models_are_trained_on_halves_of_their_own_part(small):
    world = small.world
    for masks, part in ((world.targets, world.pool), (world.references, world.population)):
        assert (masks.sum(axis=1) == len(part) // 2).all()
        outside = np.setdiff1d(np.arange(len(world.dataset)), part)
        assert not masks[:, outside].any()
    assert (world.member.sum(axis=1) == len(world.pool) // 2).all()


@pytest.mark.slow
def test_the_papers_recipe_at_paper_size():
    purchase = data.simulate_purchase(200, 0)
    name, config = experiment.recipe_of(purchase, Settings.from_values({"profile": "paper"}))
    assert name == "mlp-1024-512-256-128"
    assert (config.epochs, config.milestones) == (120, (50, 100))
    assert [config.learning_rate_at(e) for e in (0, 50, 100)] == pytest.approx([0.1, 0.01, 1e-3])
    assert (config.momentum, config.weight_decay) == (0.9, 1e-4)


def test_images_have_their_own_recipe():
    rng = np.random.default_rng(0)
    images = data.Dataset(
        rng.random((40, 3, 8, 8)), np.arange(40) % 4, "cifar10", 4, "noise", digest="none"
    )
    name, config = experiment.recipe_of(images, Settings.from_values({"profile": "paper"}))
    assert (name, config.epochs, config.milestones) == ("resnet50", 300, (150, 225))
    name, _ = experiment.recipe_of(images, Settings.from_values({"profile": "tiny"}))
    assert name == "small-cnn"
    name, _ = experiment.recipe_of(images, Settings.from_values({"architecture": "mlp-8"}))
    assert name == "mlp-8"


def test_the_settings_know_every_network():
    assert tuple(experiment.NETWORKS) == NETWORKS


@pytest.mark.slow
def test_a_network_is_named_with_its_widths():
    network = experiment.factory("mlp-16-8", data.simulate_purchase(200, 0))()
    assert [p.shape[0] for n, p in network.named_parameters() if "weight" in n] == [16, 8, 100]


@pytest.mark.slow
@pytest.mark.parametrize("name", experiment.NETWORKS)
def test_the_papers_networks_take_small_images(name):
    rng = np.random.default_rng(0)
    images = data.Dataset(
        rng.random((4, 3, 32, 32)), np.arange(4), "own", 4, "noise", digest="none"
    )
    network = experiment.factory(name, images)()
    assert network.classifier.out_features == 4


def test_every_world_says_how_it_differs_from_the_papers(small):
    assert "digits: none of the paper's data sets" in small.world.deviations


def test_a_convolutional_network_trains_and_has_a_posterior(settings, monkeypatch, tmp_path):
    """The road that images take on a GPU, at the size of a test."""
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    values = {**settings.parameters(), "architecture": "small-cnn", "epochs": 1, "n_reference": 4}
    found = train(experiment.world("digits", Settings.from_values(values)))
    assert found.layer(2, "queries").features.shape == (len(found.y), 128)
    assert np.isfinite(found.sampled(found.first(0))).all()


def test_of_a_large_pool_some_records_are_asked(settings, cache, monkeypatch):
    monkeypatch.setattr(experiment, "ON_A_CPU", {"digits": ("mlp-8", 1)})
    monkeypatch.setattr(experiment, "ASKED", 300)
    values = {**settings.parameters(), "profile": "paper", "epochs": 1, "n_reference": 4}
    world = experiment.world("digits", Settings.from_values(values))
    found = train(world)
    assert (len(found.y), len(world.validation)) == (300, 150)
    np.testing.assert_array_equal(found.member, world.targets[:, found.records])
    assert world.setup["queried_members"] == found.member.sum(axis=1).min()
    assert world.setup["members"] == len(world.pool) // 2


def test_larger_images_are_averaged_down():
    x = np.arange(28.0 * 28).reshape(1, 1, 28, 28)
    small = experiment.averaged(x, (1, 8, 8))
    assert small.shape == (1, 1, 8, 8)
    assert small[0, 0, 0, 0] == x[0, 0, 2:5, 2:5].mean()
