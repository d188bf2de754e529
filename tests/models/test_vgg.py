"""VGG-16: published size, shapes, initialisation."""

import pytest
import torch

from membership import models
from membership.errors import InputError


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


def test_logits_are_the_classifier_of_the_features(small):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1000, 31), "image_size = 31: expected a whole number from 32 up"),
        ((1, 224), "n_classes = 1: expected a whole number from 2 up"),
        ((1000, 224, 0), "in_channels = 0: expected a whole number from 1 up"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        models.vgg16(*arguments)
