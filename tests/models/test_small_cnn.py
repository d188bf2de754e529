"""The small convolutional network: its shapes, its rule for kernels, a forward pass by hand."""

import numpy as np
import pytest
import torch
from scipy.signal import correlate

from membership import models
from membership.errors import InputError


@pytest.mark.parametrize(
    ("shape", "kernel", "n_flat"),
    [
        ((3, 32, 32), (5, 5), 32 * 5 * 5),
        ((1, 28, 28), (5, 5), 32 * 4 * 4),
        ((1, 16, 20), (5, 5), 32 * 1 * 2),
        ((1, 15, 40), (3, 3), 32 * 3 * 10),
        ((1, 8, 8), (3, 3), 32 * 2 * 2),
        ((2, 4, 4), (3, 3), 32 * 1 * 1),
    ],
)
def test_every_image_size_fits(shape, kernel, n_flat):
    model = models.small_cnn(shape, 10)
    convolutions = [m for m in model.modules() if isinstance(m, torch.nn.Conv2d)]
    hidden = next(m for m in model.modules() if isinstance(m, torch.nn.Linear))
    assert [c.kernel_size for c in convolutions] == [kernel, kernel]
    assert hidden.in_features == n_flat
    assert model(torch.zeros(2, *shape)).shape == (2, 10)
    assert model.features(torch.zeros(2, *shape)).shape == (2, 128)


def _convolve_and_pool(images, layer):
    """tanh of a 3x3 convolution with one pixel of padding, then the 2x2 maximum; in float64."""
    weight, bias = layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    planes = [
        [
            correlate(image, kernel, mode="valid")[0] + b
            for kernel, b in zip(weight, bias, strict=True)
        ]
        for image in padded
    ]
    z = np.tanh(np.array(planes))
    n, c, h, w = z.shape
    return z.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def test_digits_network_against_a_forward_pass_by_hand():
    torch.manual_seed(0)
    model = models.small_cnn((1, 8, 8), 10)
    x = np.random.default_rng(0).uniform(size=(3, 1, 8, 8)).astype(np.float32)
    first, second = (m for m in model.modules() if isinstance(m, torch.nn.Conv2d))
    z = _convolve_and_pool(_convolve_and_pool(x.astype(np.float64), first), second)
    hidden = next(m for m in model.features if isinstance(m, torch.nn.Linear))
    for layer, function in ((hidden, np.tanh), (model.classifier, lambda v: v)):
        weight = layer.weight.detach().double().numpy()
        z = function(z.reshape(3, -1) @ weight.T + layer.bias.detach().double().numpy())
    np.testing.assert_allclose(model(torch.from_numpy(x)).detach().numpy(), z, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((32, 32), r"shape = \(32, 32\): expected \(channels, height, width\)"),
        (3072, r"shape = 3072: expected \(channels, height, width\)"),
        ((1, 3, 8), "height = 3: expected a whole number from 4 up"),
        ((1, 8, 3), "width = 3: expected a whole number from 4 up"),
        ((0, 8, 8), "channels = 0: expected a whole number from 1 up"),
    ],
)
def test_bad_shapes_are_named(shape, message):
    with pytest.raises(InputError, match=message):
        models.small_cnn(shape, 10)
