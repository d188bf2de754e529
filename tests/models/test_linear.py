"""Logistic regression and the multilayer perceptron, against matrix products written out."""

import numpy as np
import pytest
import torch

from membership import models
from membership.errors import InputError


def _weights(layer):
    return layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()


def test_logistic_regression_is_one_affine_map():
    torch.manual_seed(0)
    model = models.logistic_regression(6, 3)
    x = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    weight, bias = _weights(model.classifier)
    logits = model(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(logits, x.astype(np.float64) @ weight.T + bias, atol=1e-6)


@pytest.mark.parametrize(
    ("activation", "function"), [("relu", lambda z: np.maximum(z, 0)), ("tanh", np.tanh)]
)
def test_mlp_is_affine_maps_with_the_activation_between(activation, function):
    torch.manual_seed(1)
    model = models.mlp(12, (7, 4), 3, activation)
    x = np.random.default_rng(1).normal(size=(5, 3, 2, 2)).astype(np.float32)
    hidden = x.reshape(5, 12).astype(np.float64)
    for layer in (model.features[1], model.features[3]):
        weight, bias = _weights(layer)
        hidden = function(hidden @ weight.T + bias)
    weight, bias = _weights(model.classifier)
    np.testing.assert_allclose(
        model.features(torch.from_numpy(x)).detach().numpy(), hidden, atol=1e-6
    )
    np.testing.assert_allclose(
        model(torch.from_numpy(x)).detach().numpy(), hidden @ weight.T + bias, atol=1e-6
    )


def test_parameter_count_of_the_purchase_mlp():
    model = models.mlp(600, (32,), 100)
    assert sum(p.numel() for p in model.parameters()) == 600 * 32 + 32 + 32 * 100 + 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, (4,), 2), "n_features = 0: expected a whole number from 1 up"),
        ((4.0, (4,), 2), "n_features = 4.0: expected a whole number"),
        ((4, (4, -1), 2), "hidden = -1: expected a whole number from 1 up"),
        ((4, 4, 2), r"hidden = 4: expected a sequence of widths, such as \(32,\)"),
        ((4, (4,), 1), "n_classes = 1: expected a whole number from 2 up"),
        ((4, (4,), True), "n_classes = True: expected a whole number from 2 up"),
        ((4, (4,), 2, "gelu"), "activation = 'gelu': expected one of relu, tanh"),
        ((4, (4,), 2, ["relu"]), "activation = .'relu'.: expected one of relu, tanh"),
    ],
)
def test_bad_sizes_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        models.mlp(*arguments)
