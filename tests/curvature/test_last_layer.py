"""The last layer of a network as arrays; draws of its logits have the law they are drawn from."""

import numpy as np
import pytest
import torch
from scipy import special
from torch import nn
from torch.nn.utils import parametrizations

from membership import models
from membership.curvature import last_layer, last_layer_laplace
from membership.errors import InputError


def test_it_is_the_networks_own_answer():
    torch.manual_seed(0)
    model = models.mlp(6, (5,), 3)
    x = torch.randn(10, 6)
    layer = last_layer(model, x, batch_size=4)
    with torch.no_grad():
        expected = model(x).numpy()
    np.testing.assert_allclose(layer.logits, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(layer.features @ layer.weight.T + layer.bias, layer.logits)
    assert layer.features.shape == (10, 5)
    assert all(part.dtype == np.float64 for part in vars(layer).values())


def test_batch_normalisation_is_read_in_evaluation_mode():
    torch.manual_seed(0)
    model = models.resnet(18, 3, in_channels=1).train()
    x = torch.randn(4, 1, 8, 8)
    together = last_layer(model, x).features
    apart = np.concatenate([last_layer(model, x[i : i + 1]).features for i in range(4)])
    np.testing.assert_allclose(together, apart, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_a_layer_of_any_network_goes_by_its_name(bias):
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 2), torch.nn.Flatten())
            self.head = torch.nn.Linear(27, 4, bias=bias)

        def forward(self, x):
            return self.head(self.body(x).tanh())

    torch.manual_seed(0)
    model, x = Two(), torch.randn(7, 1, 4, 4)
    layer = last_layer(model, x, batch_size=3, layer="head")
    with torch.no_grad():
        np.testing.assert_allclose(layer.logits, model(x).numpy(), rtol=1e-5, atol=1e-6)
        assert (layer.bias is not None) == bias
        np.testing.assert_allclose(
            layer.features, model.body(x).tanh().numpy(), rtol=1e-5, atol=1e-6
        )
    alone = torch.nn.Linear(16, 2)
    np.testing.assert_array_equal(last_layer(alone, x.reshape(7, 16)).features, x.reshape(7, 16))


def test_bad_input_is_named():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2))
    with pytest.raises(InputError, match=r"'classifier' is no linear layer .*: 0, 2"):
        last_layer(model, np.zeros((1, 2)))
    with pytest.raises(InputError, match="the model's answer is not what this layer gives"):
        last_layer(model, np.zeros((1, 2)), layer="0")
    with pytest.raises(InputError, match="leave out a softmax"):
        last_layer(torch.nn.Sequential(*model, torch.nn.Softmax(1)), np.ones((1, 2)), layer="2")
    with pytest.raises(InputError, match="x: some values are not finite"):
        last_layer(models.mlp(2, (2,), 2), np.array([[np.nan, 0.0]]))


class Head(nn.Module):
    """Some features, a last layer, and how it is called."""

    def __init__(self, head, call=lambda head, x: head(x)):
        super().__init__()
        self.body, self.head, self.call = nn.Sequential(nn.Linear(6, 8), nn.ReLU()), head, call

    def forward(self, x):
        return self.call(self.head, self.body(x))


class Changed(nn.Linear):
    """A linear layer whose forward is another's."""

    def __init__(self, how):
        super().__init__(8, 3)
        self.how = how

    def forward(self, x):
        return self.how(self, x)


def changed(how):
    return lambda: Changed(how)


def cosine(layer, x):
    normalised = nn.functional.normalize
    return 10 * nn.functional.linear(normalised(x), normalised(layer.weight))


class Adapted(nn.Linear):
    """As loralib writes it: two thin matrices beside a linear layer."""

    def __init__(self, scale=1.0):
        super().__init__(8, 3)
        self.up, self.down = nn.Parameter(torch.randn(3, 2)), nn.Parameter(torch.randn(2, 8))
        self.scale = scale

    def forward(self, x):
        return super().forward(x) + self.scale * x @ self.down.T @ self.up.T


def with_hook(hook, pre=False):
    def make():
        layer = nn.Linear(8, 3)
        (layer.register_forward_pre_hook if pre else layer.register_forward_hook)(hook)
        return layer

    return make


REFUSED = {
    "a cosine head": changed(cosine),
    "an adapter": Adapted,
    "an adapter of small effect": lambda: Adapted(0.01),
    "a temperature": changed(lambda layer, x: nn.Linear.forward(layer, x) / 4),
    "a bias that is not added": changed(lambda layer, x: x @ layer.weight.T),
    "a margin": changed(lambda layer, x: nn.Linear.forward(layer, x) - 0.5),
    "a temperature by a hook": with_hook(lambda layer, given, out: out / 1.01),
    "a hook that centres": with_hook(lambda layer, given, out: out - out.mean(1, keepdim=True)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_layer_that_does_more_than_its_weight_and_bias_say_is_refused(name):
    torch.manual_seed(0)
    model = Head(REFUSED[name]())
    message = r"layer: it answers otherwise than its weight and bias say, by up to .*merge that"
    for dtype in (torch.float32, torch.float64):
        with pytest.raises(InputError, match=message) as error:
            last_layer(model.to(dtype), torch.randn(50, 6), layer="head")
        assert "\n" not in str(error.value)


def tied():
    """A language model's head: its weights are the embedding's."""
    embedding, head = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
    head.weight = embedding.weight
    model = nn.Sequential(embedding, nn.Flatten(), nn.Linear(24, 4), nn.Tanh())
    return nn.Sequential(*model, head)


def in_half(head, x):
    with torch.autocast("cpu", torch.bfloat16):
        return head(x).float()


TAKEN = {
    "plain": lambda: Head(nn.Linear(8, 3)),
    "no bias": lambda: Head(nn.Linear(8, 3, bias=False)),
    "by keyword": lambda: Head(nn.Linear(8, 3), lambda head, x: head(input=x)),
    "one logit, squeezed": lambda: Head(nn.Linear(8, 1), lambda head, x: head(x).squeeze(1)),
    "a subclass that is named": lambda: Head(changed(nn.Linear.forward)()),
    "a hook before": lambda: Head(with_hook(lambda layer, given: (2 * given[0],), pre=True)()),
    "a hook that looks": lambda: Head(with_hook(lambda layer, given, out: None)()),
    "weight norm": lambda: Head(parametrizations.weight_norm(nn.Linear(8, 3))),
    "spectral norm": lambda: Head(parametrizations.spectral_norm(nn.Linear(8, 3))),
    "adapted body": lambda: nn.Sequential(Head(Adapted()), nn.Linear(3, 2)),
    "tied weights": tied,
    "half precision": lambda: Head(nn.Linear(8, 3)).bfloat16(),
    "half precision by autocast": lambda: Head(nn.Linear(8, 3), in_half),
    "wide": lambda: nn.Sequential(nn.Linear(6, 4096), nn.ReLU(), nn.Linear(4096, 3)),
    "far features": lambda: Head(nn.Linear(8, 3), lambda head, x: head(x + 1e4)),
    "a body and a head, frozen": lambda: Head(nn.Linear(8, 3)).requires_grad_(False),
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_honest_last_layers_are_taken_with_the_model_s_own_answers(name):
    torch.manual_seed(0)
    model = TAKEN[name]().eval()
    x = torch.randint(0, 7, (50, 6)) if name == "tied weights" else torch.randn(50, 6)
    layers = [at for at, part in model.named_modules() if isinstance(part, nn.Linear)]
    layer = last_layer(model, x, batch_size=20, layer=layers[-1])
    with torch.no_grad():
        answer = model(x.to(next(model.parameters()).dtype) if x.is_floating_point() else x)
    half = "half" in name
    expected = answer.float().numpy().reshape(layer.logits.shape)
    np.testing.assert_allclose(
        layer.logits, expected, rtol=0.03 if half else 1e-4, atol=0.02 if half else 1e-5
    )
    has_bias = dict(model.named_modules())[layers[-1]].bias is not None
    assert (layer.bias is not None) == has_bias


DRAWS = 20_000


def fit(last_layer_problem, structure):
    layer = {"weight": last_layer_problem.weight, "bias": last_layer_problem.bias}
    return last_layer_laplace(
        last_layer_problem.features, last_layer_problem.logits, 0.7, structure, **layer
    )


@pytest.mark.parametrize("structure", ["full", "kron", "diag"])
@pytest.mark.parametrize("method", ["mc", "lln"])
def test_draws_have_the_posteriors_mean_and_covariance(last_layer_problem, structure, method):
    posterior = fit(last_layer_problem, structure)
    draws = posterior.sample(last_layer_problem.query, DRAWS, seed=1, method=method)
    expected = last_layer_problem.covariance(structure, 0.7)
    sd = np.sqrt(np.einsum("ncc->nc", expected))
    mean = last_layer_problem.answers(last_layer_problem.query)
    # Some 150 comparisons at five standard errors each.
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * sd / np.sqrt(DRAWS)).all()
    for record, v in enumerate(expected):
        error = np.sqrt((np.outer(np.diag(v), np.diag(v)) + v**2) / DRAWS)
        assert (np.abs(np.cov(draws[:, record].T) - v) < 5 * error).all()


@pytest.mark.parametrize("structure", ["full", "kron", "diag"])
def test_records_share_the_weights_in_mc_and_nothing_in_lln(last_layer_problem, structure):
    posterior = fit(last_layer_problem, structure)
    twice = np.vstack([last_layer_problem.query[:1]] * 2)
    shared = posterior.sample(twice, 50, method="mc")
    np.testing.assert_allclose(shared[:, 0], shared[:, 1], rtol=1e-12)
    apart = posterior.sample(twice, DRAWS, method="lln")
    correlation = np.corrcoef(apart[:, 0, 0], apart[:, 1, 0])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(DRAWS)


def test_same_seed_same_draws(last_layer_problem):
    posterior = fit(last_layer_problem, "kron")
    first, again, other = (
        posterior.sample(last_layer_problem.query, 5, seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_queries_are_named(last_layer_problem):
    posterior = fit(last_layer_problem, "kron")
    n = len(last_layer_problem.query)
    with pytest.raises(InputError, match=r"features has \d columns; the last layer reads"):
        posterior.covariance(last_layer_problem.query[:, :1].repeat(9, axis=1))
    with pytest.raises(InputError, match="n_samples = 1: expected a whole number from 2 up"):
        posterior.sample(last_layer_problem.query, 1)
    with pytest.raises(InputError, match="method = 'nn': expected one of mc, lln"):
        posterior.sample(last_layer_problem.query, 2, method="nn")
    with pytest.raises(InputError, match="second: classes 9 to 9 do not fit"):
        posterior.difference_variance(last_layer_problem.query, np.zeros(n), np.full(n, 9))
    bare = last_layer_laplace(last_layer_problem.features, last_layer_problem.logits, 0.7)
    with pytest.raises(
        InputError, match=r"the layer was not given .* give weight, and bias if it has one"
    ):
        bare.sample(last_layer_problem.query, 2)
    assert bare.log_marginal_likelihood is None


def test_a_covariance_beyond_memory_is_refused(last_layer_problem, monkeypatch):
    posterior = fit(last_layer_problem, "kron")
    monkeypatch.setattr("membership.memory.available", lambda device: 10.0)
    with pytest.raises(InputError, match="query fewer records at once"):
        posterior.covariance(last_layer_problem.query)


def test_sampled_probabilities_of_two_classes_are_the_integral():
    rng = np.random.default_rng(4)
    features, weight = rng.normal(size=(30, 3)), rng.normal(size=(2, 3))
    posterior = last_layer_laplace(
        features, features @ weight.T, 0.5, "full", weight=weight, label=np.arange(30) % 2
    )
    query = rng.normal(size=(5, 3))
    mean = np.diff(posterior.mean(query))[:, 0]
    spread = np.sqrt(posterior.difference_variance(query, np.zeros(5), np.ones(5)))
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    exact = special.expit(mean[:, None] + spread[:, None] * points) @ weights / weights.sum()
    found = posterior.probabilities(query, "mc", n_samples=20_000)
    np.testing.assert_allclose(found.sum(1), 1.0)
    # Four standard errors of a number within 0 and 1.
    np.testing.assert_allclose(found[:, 1], exact, atol=4 * 0.5 / np.sqrt(20_000))
    with pytest.raises(InputError, match="method = 'exact'"):
        posterior.probabilities(query, "exact")
