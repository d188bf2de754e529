"""Networks of linear layers: forward passes by hand, their random start."""

import numpy as np
import pytest
import torch

from membership import models


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


def test_it_is_matrix_products_with_the_activation_between():
    torch.manual_seed(0)
    model = models.scaled_mlp(12, 2, 7, 3)
    x = np.random.default_rng(0).normal(size=(5, 3, 2, 2)).astype(np.float32)
    hidden = x.reshape(5, 12).astype(np.float64)
    for layer in (model.features[1], model.features[3]):
        assert layer.bias is None
        hidden = np.maximum(hidden @ layer.weight.detach().double().numpy().T, 0)
    expected = hidden @ model.classifier.weight.detach().double().numpy().T
    np.testing.assert_allclose(model(torch.from_numpy(x)).detach().numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(("activation", "w_std"), [("relu", 2**0.5), ("gelu", 1.9822)])
def test_weights_have_the_stated_variance(activation, w_std):
    torch.manual_seed(1)
    model = models.scaled_mlp(100, 2, 300, 2, activation, w_std)
    for weight in (model.features[1].weight, model.features[3].weight):
        count = weight.numel()
        variance = float(weight.detach().var()) * weight.shape[1] / w_std**2
        assert variance == pytest.approx(1, abs=5 * (2 / count) ** 0.5)


def test_fan_in_changes_the_scale_of_the_first_layer_alone():
    starts = []
    for fan_in in (None, 6, 24):
        torch.manual_seed(2)
        starts.append(models.scaled_mlp(6, 2, 5, 2, fan_in=fan_in))
    default, same, four_times = (list(start.parameters()) for start in starts)
    for one, other in zip(default, same, strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(four_times[0], default[0] / 2)
    for one, other in zip(default[1:], four_times[1:], strict=True):
        torch.testing.assert_close(one, other)
