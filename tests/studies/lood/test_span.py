"""Networks in fewer coordinates are those of the records themselves."""

import copy
import dataclasses

import numpy as np
import pytest
import torch

from membership.studies.lood import networks
from membership.studies.lood.evidence.networks import ASKED, accuracy
from membership.studies.lood.experiment import Records, lines, load
from membership.studies.lood.networks import Span, span

EPOCHS = 4


@pytest.fixture
def many_features(records):
    """Records of more features than there are records and lines."""
    x = np.random.default_rng(0).uniform(size=(12, 3, 4, 4)).astype(np.float32)
    few = records.first(12)
    own = dataclasses.replace(few.dataset, x=x).select(np.arange(12))
    return Records(own, few.label, few.targets)


def test_records_and_lines_lie_in_the_space(many_features, settings):
    x, left_out = many_features.dataset.x.astype(np.float64), np.array([3, 7])
    space = span(many_features, left_out, settings)
    assert space.dimensions == 14
    np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(14), atol=1e-12)
    asked = np.concatenate([x, *lines(x[left_out], settings)]).reshape(-1, 48)
    np.testing.assert_allclose(asked @ space.basis @ space.basis.T, asked, atol=1e-10)


def test_as_many_features_are_read_as_they_are(many_features, settings):
    few = dataclasses.replace(
        many_features,
        dataset=dataclasses.replace(
            many_features.dataset, x=many_features.dataset.x[:, :1, :3, :3]
        ),
    )
    space = span(few, [0], settings)
    assert space == Span(9)
    np.testing.assert_array_equal(space.coordinates(few.dataset.x), few.dataset.x)
    assert space.seen(few) is few.dataset


def descended(model, x, y, rate):
    """Full-batch gradient descent in float64."""
    for _ in range(EPOCHS):
        loss = torch.nn.functional.cross_entropy(model(torch.tensor(x)), torch.tensor(y))
        slopes = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for weight, slope in zip(model.parameters(), slopes, strict=True):
                weight.sub_(rate * slope)
    return model


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_training_in_the_space_is_training_on_the_records(many_features, settings, activation):
    """With the same start seen in both, whatever the start does outside of the space."""
    left_out = np.array([3, 7])
    space = span(many_features, left_out, settings)
    small = networks.factory(many_features, settings, activation, space.dimensions)().double()
    large = networks.factory(many_features, settings, activation)().double()
    basis = torch.tensor(space.basis)
    with torch.no_grad():
        first = large.features[1].weight
        outside = first - first @ basis @ basis.T
        first.copy_(outside + small.features[1].weight @ basis.T)
        large.features[3].weight.copy_(small.features[3].weight)
        large.classifier.weight.copy_(small.classifier.weight)
    x, y = many_features.dataset.x.astype(np.float64), many_features.dataset.y
    coordinates = x.reshape(12, -1) @ space.basis
    start = copy.deepcopy(large)
    large, small = descended(large, x, y, 0.5), descended(small, coordinates, y, 0.5)
    asked = lines(x[left_out], settings).reshape(-1, *x.shape[1:])
    with torch.no_grad():
        expected = large(torch.tensor(asked)).numpy()
        found = small(torch.tensor(asked.reshape(len(asked), -1) @ space.basis)).numpy()
        before = start(torch.tensor(asked)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert np.abs(expected - before).max() > 0.01


def test_the_start_follows_the_law_of_the_features(many_features, settings):
    torch.manual_seed(0)
    starts = [networks.factory(many_features, settings, "relu", 14)() for _ in range(40)]
    weights = torch.stack([start.features[1].weight for start in starts]).detach()
    assert weights.shape[2] == 14
    variance = float(weights.var()) * 48 / networks.NETWORK_W_STD["relu"] ** 2
    assert variance == pytest.approx(1, abs=5 * (2 / weights.numel()) ** 0.5)


def test_expanded_weights_are_those_of_the_space_and_a_start_elsewhere(many_features, settings):
    space = span(many_features, [3], settings)
    rng, deviation = np.random.default_rng(1), 0.3
    weights = rng.normal(size=(400, space.dimensions))
    whole = space.expanded(weights, deviation, seed=5)
    inside = many_features.dataset.x.reshape(12, -1).astype(np.float64)
    np.testing.assert_allclose(whole @ inside.T, weights @ (inside @ space.basis).T, atol=1e-10)
    other = rng.uniform(size=48)
    outside = other - space.basis @ (space.basis.T @ other)
    # Normal with the deviation that a start has along this direction, one draw a unit.
    assert np.std(whole @ outside) == pytest.approx(
        deviation * np.linalg.norm(outside), rel=4 / np.sqrt(2 * 400)
    )
    np.testing.assert_array_equal(Span(48).expanded(whole, deviation, 5), whole)


def test_accuracy_is_counted_on_own_and_on_other_records(settings, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    every = load(settings)
    found = networks.retrain(every, settings)
    assert found.space.basis is not None
    right = accuracy(found, settings, "relu")
    assert right.shape == (len(ASKED), settings.n_networks)
    own = found.records.dataset
    answers = found.inside.logits(found.space.coordinates(own.x)).argmax(-1).numpy()
    np.testing.assert_allclose(right[0], 100 * (answers == own.y).mean(axis=1))
    # Ten steps of training: well above chance, no more is known.
    assert (right.mean(axis=1) > 60).all()
    alone = settings.model_copy(update={"n_records": len(own)})
    assert np.isnan(accuracy(found, alone, "relu")[1]).all()


def test_retrained_networks_answer_in_the_space(many_features, settings, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    sizes = {"n_retrained": 2, "n_networks": 4}
    found = networks.retrain(many_features, settings.model_copy(update=sizes))
    assert found.space.basis is not None
    inside, outside = found.logits(found.own_queries)
    assert inside.shape == outside.shape == (2, 4, 1, 2)
    own = torch.tensor(found.space.coordinates(found.own_queries[1]))
    with torch.no_grad():
        expected = found.outside.module(4 + 2)(own)
    np.testing.assert_allclose(outside[1, 2], expected, atol=1e-5)
