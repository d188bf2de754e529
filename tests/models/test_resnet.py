"""Residual networks: published sizes, a residual sum by hand, and many models in one program."""

import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from membership import models
from membership.errors import InputError
from membership.models.resnet import Residual


def _count(model):
    return sum(parameter.numel() for parameter in model.parameters())


# The ImageNet counts are those of torchvision's model pages.
@pytest.mark.parametrize(
    ("depth", "expected"), [(18, 11_689_512), (34, 21_797_672), (50, 25_557_032), (101, 44_549_160)]
)
def test_parameter_counts_are_the_published_ones(depth, expected):
    with torch.device("meta"):
        model = models.resnet(depth, 1000, stem="imagenet")
    assert _count(model) == expected


def test_cifar_stem_differs_by_its_convolution_alone():
    with torch.device("meta"):
        small, large = models.resnet(18, 10), models.resnet(18, 10, stem="imagenet")
    assert _count(large) - _count(small) == 64 * 3 * (7 * 7 - 3 * 3)


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "width"), [(18, 512), (50, 2048)])
@pytest.mark.parametrize(("stem", "size", "channels"), [("cifar", 8, 1), ("imagenet", 32, 3)])
def test_logits_are_the_classifier_of_the_features(depth, width, stem, size, channels):
    torch.manual_seed(0)
    model = models.resnet(depth, 5, stem, channels).eval()
    x = torch.randn(2, channels, size, size)
    features = model.features(x)
    assert features.shape == (2, width)
    expected = features @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(model(x), expected)


@pytest.mark.parametrize(("depth", "sizes"), [(18, (8, 8, 4, 2, 1)), (50, (8, 8, 4, 2, 1))])
def test_each_later_stage_halves_the_image(depth, sizes):
    model = models.resnet(depth, 5).eval()
    seen = []
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.register_forward_hook(lambda _m, _i, output: seen.append(output.shape[-1]))
    model(torch.zeros(1, 3, 8, 8))
    assert tuple(dict.fromkeys(seen)) == tuple(dict.fromkeys(sizes))


def test_the_pooled_stem_halves_the_image_before_the_first_stage():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 32, 32)
    stem = models.resnet(18, 5, stem="pooled").features[:4]
    plain = models.resnet(18, 5, stem="cifar").features[:3]
    plain.load_state_dict(stem.state_dict())
    windows = plain(x).unfold(2, 2, 2).unfold(3, 2, 2)
    torch.testing.assert_close(stem(x), windows.amax((-1, -2)))


def test_a_block_adds_its_input_before_the_last_relu():
    torch.manual_seed(0)
    body, shortcut = torch.nn.Conv2d(2, 2, 1), torch.nn.Identity()
    x = torch.randn(3, 2, 4, 4)
    expected = (body(x) + x).clamp(min=0)
    torch.testing.assert_close(Residual(body, shortcut)(x), expected)


def test_first_weights_have_he_variance():
    torch.manual_seed(0)
    model = models.resnet(18, 10)
    for layer in (m for m in model.modules() if isinstance(m, torch.nn.Conv2d)):
        fan_out = layer.out_channels * layer.kernel_size[0] ** 2
        # The variance of n normal draws has relative standard deviation sqrt(2 / n).
        error = 5 * (2 / layer.weight.numel()) ** 0.5
        assert layer.weight.var().item() * fan_out / 2 == pytest.approx(1, abs=error)


@pytest.mark.slow
def test_stacked_models_compute_what_each_computes_alone():
    torch.manual_seed(0)
    ensemble = [models.resnet(18, 4, in_channels=1).double() for _ in range(2)]
    x = torch.randn(6, 1, 8, 8, dtype=torch.float64)
    parameters, buffers = stack_module_state(ensemble)
    skeleton = models.resnet(18, 4, in_channels=1).double()

    def call(p, b):
        return functional_call(skeleton, (p, b), (x,))

    together = vmap(call)(parameters, buffers)
    alone = torch.stack([model(x) for model in ensemble])
    torch.testing.assert_close(together, alone)
    # In training mode the running averages of batch normalisation have moved alike.
    name = "features.1.running_mean"
    torch.testing.assert_close(buffers[name][1], ensemble[1].state_dict()[name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((20, 10), "depth = 20: expected one of 18, 34, 50, 101"),
        ((18, 10, "tiny"), "stem = 'tiny': expected one of cifar, imagenet, pooled"),
        ((18, 1), "n_classes = 1: expected a whole number from 2 up"),
        ((18, 10, "cifar", 0), "in_channels = 0: expected a whole number from 1 up"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        models.resnet(*arguments)
