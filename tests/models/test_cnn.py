"""The small convolutional network, a forward pass by hand; VGG-16: size, shapes, initialisation."""

import numpy as np
import pytest
import torch
from scipy.signal import correlate

from membership import models


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


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(0)
    return models.vgg16(5, image_size=32)


def test_parameter_count_is_the_published_one():
    with torch.device("meta"):
        model = models.vgg16(1000)
        assert model(torch.empty(2, 3, 224, 224)).shape == (2, 1000)
    assert sum(parameter.numel() for parameter in model.parameters()) == 138_357_544


def test_sixteen_layers_have_weights():
    with torch.device("meta"):
        model = models.vgg16(10)
    kinds = [type(m) for m in model.modules() if isinstance(m, torch.nn.Conv2d | torch.nn.Linear)]
    assert kinds == [torch.nn.Conv2d] * 13 + [torch.nn.Linear] * 3


def test_logits_of_vgg_are_the_classifier_of_the_features(small):
    small.eval()
    x = torch.randn(2, 3, 32, 32)
    features = small.features(x)
    assert features.shape == (2, 4096)
    torch.testing.assert_close(small(x), small.classifier(features))


def test_dropout_is_active_in_training_only(small):
    x = torch.randn(2, 3, 32, 32)
    small.train()
    assert not torch.equal(small.features(x), small.features(x))
    small.eval()
    assert torch.equal(small.features(x), small.features(x))


def test_first_weights(small):
    for layer in small.modules():
        if isinstance(layer, torch.nn.Linear):
            expected = 0.01**2
        elif isinstance(layer, torch.nn.Conv2d):
            expected = 2 / (layer.out_channels * 9)
        else:
            continue
        # The variance of n normal draws has relative standard deviation sqrt(2 / n).
        error = 5 * (2 / layer.weight.numel()) ** 0.5
        assert layer.weight.var().item() / expected == pytest.approx(1, abs=error)
        assert not layer.bias.any()
