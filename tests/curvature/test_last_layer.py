"""The last layer of a network as arrays."""

import numpy as np
import pytest
import torch

from membership import models
from membership.curvature import last_layer
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
