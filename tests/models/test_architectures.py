"""What all families keep: a name for every architecture, and layers that torch.func accepts."""

from itertools import combinations

import pytest
import torch

from membership import models

FACTORIES = {
    "logistic": lambda: models.logistic_regression(8, 3),
    "logistic, more classes": lambda: models.logistic_regression(8, 4),
    "mlp": lambda: models.mlp(8, (5,), 3),
    "mlp, tanh": lambda: models.mlp(8, (5,), 3, "tanh"),
    "mlp, two layers": lambda: models.mlp(8, (5, 5), 3),
    "cnn": lambda: models.small_cnn((1, 8, 8), 3),
    "cnn, relu": lambda: models.small_cnn((1, 8, 8), 3, "relu"),
    "cnn, 32 pixels": lambda: models.small_cnn((1, 32, 32), 3),
    "resnet 18": lambda: models.resnet(18, 3),
    "resnet 34": lambda: models.resnet(34, 3),
    "resnet 50": lambda: models.resnet(50, 3),
    "resnet 101": lambda: models.resnet(101, 3),
    "resnet 18, imagenet": lambda: models.resnet(18, 3, "imagenet"),
    "resnet 18, grey": lambda: models.resnet(18, 3, in_channels=1),
    "wide resnet 50": lambda: models.wide_resnet50(3),
    "densenet 121": lambda: models.densenet121(3),
    "mobilenet v2": lambda: models.mobilenet_v2(3),
    "efficientnet b0": lambda: models.efficientnet_b0(3),
    "vgg 32": lambda: models.vgg16(3, 32),
    "vgg 64": lambda: models.vgg16(3, 64),
}


@pytest.fixture(scope="module")
def built():
    with torch.device("meta"):
        return {name: factory() for name, factory in FACTORIES.items()}


@pytest.mark.slow
def test_no_two_architectures_print_alike(built):
    alike = [(a, b) for a, b in combinations(built, 2) if repr(built[a]) == repr(built[b])]
    assert alike == []


@pytest.mark.slow
def test_printing_is_the_same_twice(built):
    with torch.device("meta"):
        assert {name: repr(factory()) for name, factory in FACTORIES.items()} == {
            name: repr(model) for name, model in built.items()
        }


def test_nothing_is_computed_in_place(built):
    flags = [getattr(m, "inplace", False) for model in built.values() for m in model.modules()]
    assert not any(flags)


def test_same_seed_same_weights():
    def weights(seed):
        torch.manual_seed(seed)
        return torch.nn.utils.parameters_to_vector(models.resnet(18, 3).parameters())

    assert torch.equal(weights(3), weights(3))
    assert not torch.equal(weights(3), weights(4))
