"""Retrained networks, the coordinates that they read records in, and how steep their loss is."""

import copy
import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_wine

from membership import data, evidence, metrics, paths
from membership.book.studies.lood import networks
from membership.book.studies.lood.evidence import networks as gathering
from membership.book.studies.lood.evidence.networks import ASKED, accuracy
from membership.book.studies.lood.experiment import Records, lines, load
from membership.book.studies.lood.networks import Span, sharpness, span
from membership.book.studies.lood.settings import Settings
from membership.errors import InputError


@pytest.fixture(scope="module")
def retrained(records, settings, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMBERSHIP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield networks.retrain(records, settings)


def test_only_the_left_out_record_is_missing(retrained, settings):
    n, n_networks = settings.network_records, settings.n_networks
    assert retrained.inside.membership.shape == (n_networks, n)
    assert retrained.inside.membership.all()
    missing = ~retrained.outside.membership
    expected = np.repeat(retrained.left_out, n_networks)
    np.testing.assert_array_equal(missing.sum(axis=1), 1)
    np.testing.assert_array_equal(missing.argmax(axis=1), expected)
    seeds = [*retrained.inside.seeds, *retrained.outside.seeds]
    assert len(set(seeds)) == len(seeds)


def test_logits_belong_to_the_record_that_was_left_out(retrained, settings):
    assert retrained.space.basis is not None
    queries = np.concatenate([retrained.own_queries, retrained.own_queries / 2], axis=1)
    inside, outside = retrained.logits(queries)
    shape = (settings.n_retrained, settings.n_networks, 2, 2)
    assert inside.shape == outside.shape == shape
    record, network = 2, 3
    module = retrained.outside.module(record * settings.n_networks + network)
    own = torch.tensor(retrained.space.coordinates(queries[record]))
    with torch.no_grad():
        expected = module(own)
    np.testing.assert_allclose(outside[record, network], expected, atol=1e-5)
    with torch.no_grad():
        expected = retrained.inside.module(network)(own)
    np.testing.assert_allclose(inside[record, network], expected, atol=1e-5)


def test_fitted_auc_finds_that_of_two_normal_laws():
    rng = np.random.default_rng(0)
    n = 4000
    inside, outside = rng.normal(1.0, 1, (n, 2)), rng.normal(0, 1, (n, 2))
    value, spread = networks.fitted_auc(inside, outside, 0)
    assert value == pytest.approx(norm.cdf(1.0), abs=0.02)
    assert 0 < spread < 0.02
    value, _ = networks.fitted_auc(outside[: n // 2], outside[n // 2 :], 0)
    assert value == pytest.approx(0.5, abs=0.03)


def one_split_at_a_time(inside, outside, seed):
    rng, half, found = np.random.default_rng(seed), len(inside) // 2, []
    for _ in range(networks.SPLITS):
        sides = [side[rng.permutation(len(side))] for side in (inside, outside)]
        laws = []
        for side in sides:
            covariance = np.cov(side[:half], rowvar=False)
            width = networks.RIDGE * np.trace(covariance) / len(covariance) + 1e-12
            noise = width * np.eye(len(covariance))
            laws.append(multivariate_normal(side[:half].mean(axis=0), covariance + noise))
        score = [laws[0].logpdf(side[half:]) - laws[1].logpdf(side[half:]) for side in sides]
        member = np.repeat([True, False], [len(score[0]), len(score[1])])
        found.append(metrics.auc(np.concatenate(score), member))
    return np.mean(found), np.std(found, ddof=1)


@pytest.mark.parametrize(("n", "m", "logits"), [(8, 8, 2), (21, 16, 5)])
def test_fitted_auc_is_that_of_the_splits_one_by_one(n, m, logits):
    rng = np.random.default_rng(n)
    inside, outside = rng.normal(0.3, 1, (n, logits)), rng.normal(0, 1.2, (m, logits))
    expected = one_split_at_a_time(inside, outside, 7)
    assert networks.fitted_auc(inside, outside, 7) == pytest.approx(expected, rel=1e-12)


def test_too_few_networks_fit_no_law():
    with pytest.raises(InputError, match="half of 3 networks: it takes 4"):
        networks.fitted_auc(np.zeros((3, 2)), np.zeros((3, 2)), 0)


def test_influence_equals_its_definition(retrained):
    """The Hessian and its inverse written out, with all parameters of a small network."""
    module = retrained.inside.module(0)
    seen = retrained.space.seen(retrained.records)
    x, y = seen.x, seen.y
    names, parameters = zip(*module.named_parameters(), strict=True)

    def outputs(*state):
        return torch.func.functional_call(
            module, dict(zip(names, state, strict=True)), (torch.tensor(x),)
        )

    jacobians = torch.autograd.functional.jacobian(outputs, parameters)
    jacobian = torch.cat([j.flatten(2) for j in jacobians], dim=2).double().numpy()
    kernel = gathering.tangent_kernel(module, x)
    odds = jacobian[:, 1] - jacobian[:, 0]
    np.testing.assert_allclose(kernel, odds @ odds.T, atol=1e-3)
    with torch.no_grad():
        p = module(torch.tensor(x)).double().softmax(-1).numpy()
    curvature = p[:, :, None] * np.eye(2) - p[:, :, None] * p[:, None]
    hessian = np.einsum("ncp,ncd,ndq->pq", jacobian, curvature, jacobian, optimize=True) / len(x)
    gradient = np.einsum("ncp,nc->np", jacobian, p - np.eye(2)[y])[retrained.left_out]
    solved = np.linalg.solve(hessian + gathering.DAMPING * np.eye(len(hessian)), gradient.T)
    exact, stopped = gathering._of_model(retrained, module)
    np.testing.assert_allclose(exact, np.einsum("rp,pr->r", gradient, solved), rtol=1e-3)
    v = gradient.T
    for _ in range(gathering.RELEASED_STEPS):
        v = gradient.T + (1 - gathering.DAMPING) * v - hessian @ v / gathering.RELEASED_SCALE
    expected = np.einsum("rp,pr->r", gradient, v) / gathering.RELEASED_SCALE
    np.testing.assert_allclose(stopped, expected, rtol=1e-3)


def test_tracin_adds_learning_rate_times_squared_gradients(retrained, settings):
    found = gathering.influence(retrained, settings)
    assert set(found) == {"influence function", "LiSSA as released", "TracIn"}
    for values in found.values():
        assert values.shape == (settings.n_retrained,)
        assert (values > 0).all()


def test_evidence_answers_as_the_networks_do(retrained, gathered):
    pairs = gathered("pairs-relu")
    np.testing.assert_array_equal(pairs["record"].values, retrained.left_out)
    inside, outside = retrained.logits(retrained.own_queries)
    own = pairs["answer"].values[:, :, :, 0]
    np.testing.assert_allclose(own[:, 0], inside[:, :, 0], rtol=1e-5)
    np.testing.assert_allclose(own[:, 1], outside[:, :, 0], rtol=1e-5)
    assert sorted(pairs.attrs["offsets"]) == list(range(-50, 51, 5))


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
    found = np.mean([gathering.tangent_kernel(start, x)[0, 0] for start in starts]) / 4
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
