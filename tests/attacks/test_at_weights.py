import numpy as np
import pytest
import torch

from membership import attacks
from membership.attacks.at_weights import iha_at, residual_at

RECIPE = (0.1, 0.9, 0.05)


@pytest.fixture(scope="module")
def game():
    rng = np.random.default_rng(0)
    return rng.standard_normal((12, 3)), rng.standard_normal(12), rng.standard_normal((4, 3))


def squared(output, y):
    return (output[:, 0] - y) ** 2 / 2


def model_at(w):
    layer = torch.nn.Linear(3, 1, bias=False).double()
    layer.weight.data[:] = torch.tensor(w)
    return layer


@pytest.mark.parametrize("stationarity", ["published", "regularised"])
def test_each_weight_gets_the_score_of_the_attack_on_its_model(game, stationarity):
    """The record left out is asked: as many others as the attack divides by."""
    x, y, weights = game
    z, n = 11, 11
    others, error = (weights @ x[:z].T - y[:z]) @ x[:z] / n, weights @ x[z] - y[z]
    hessian = x[:z].T @ x[:z] / n
    seen = (weights, error**2 / 2, error[:, None] * x[z], others, hessian, n, RECIPE)
    found = iha_at(*seen, stationarity, damping=0.2)
    each = iha_at(*seen[:4], np.stack([hessian] * 4), *seen[5:], stationarity, damping=0.2)
    np.testing.assert_allclose(each, found, rtol=1e-12)
    rest = residual_at(weights, error[:, None] * x[z], others, n, RECIPE[2])
    x, y = torch.tensor(x), torch.tensor(y)
    for w, score, norm in zip(weights, found, rest, strict=True):
        told = (model_at(w), squared, (x[:z], y[:z]), (x[z:], y[z:]), [False])
        expected = attacks.iha(*told, *RECIPE, stationarity=stationarity)
        np.testing.assert_allclose(score, expected.score[0], rtol=1e-9)
        np.testing.assert_allclose(norm, attacks.residual(*told, RECIPE[2])[0], rtol=1e-9)
