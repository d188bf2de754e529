"""The last layer of a network as arrays; draws of its logits have the law they are drawn from."""

import numpy as np
import pytest
import torch

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
    mean = last_layer_problem.query @ last_layer_problem.weight.T + last_layer_problem.bias
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
    with pytest.raises(InputError, match="weight and bias were not given"):
        bare.sample(last_layer_problem.query, 2)
    assert bare.log_marginal_likelihood is None


def test_a_covariance_beyond_memory_is_refused(last_layer_problem, monkeypatch):
    posterior = fit(last_layer_problem, "kron")
    monkeypatch.setattr("membership.memory.available", lambda device: 10.0)
    with pytest.raises(InputError, match="query fewer records at once"):
        posterior.covariance(last_layer_problem.query)
