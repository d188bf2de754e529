"""The networks that BMIA crosses with the residual ones: published sizes, shapes, strides."""

import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from membership import models
from membership.errors import InputError
from membership.models.mobile import Skip, SqueezeExcitation

# Of torchvision's model pages, for 1000 classes.
COUNTS = {
    "densenet121": 7_978_856,
    "efficientnet_b0": 5_288_548,
    "mobilenet_v2": 3_504_872,
    "wide_resnet50": 68_883_240,
}
# What the first layer for ImageNet has more than ours: 7x7 in place of 3x3 convolutions to 64
# channels, and in DenseNet a normalisation.
OF_IMAGENET = {"densenet121": 64 * 3 * (49 - 9) + 2 * 64, "wide_resnet50": 64 * 3 * (49 - 9)}
WIDTHS = {
    "densenet121": 1024,
    "efficientnet_b0": 1280,
    "mobilenet_v2": 1280,
    "wide_resnet50": 2048,
}
every = pytest.mark.parametrize("name", sorted(COUNTS))


def build(name, *arguments, **keywords):
    return getattr(models, name)(*arguments, **keywords)


@every
def test_parameter_counts_are_the_published_ones(name):
    with torch.device("meta"):
        model = build(name, 1000)
    expected = COUNTS[name] - OF_IMAGENET.get(name, 0)
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


@pytest.mark.slow
@every
@pytest.mark.parametrize(("size", "channels"), [(16, 1), (32, 3)])
def test_logits_are_the_classifier_of_the_features(name, size, channels):
    torch.manual_seed(0)
    model = build(name, 5, channels).eval()
    x = torch.randn(2, channels, size, size)
    features = model.features(x)
    assert features.shape == (2, WIDTHS[name])
    expected = features @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(model(x), expected)


@pytest.mark.slow
@every
def test_images_end_as_they_do_in_a_residual_network(name):
    with torch.device("meta"):
        model = build(name, 5).eval()
        sizes = []
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.register_forward_hook(lambda _m, _i, output: sizes.append(output.shape[-1]))
        model(torch.zeros(1, 3, 32, 32))
    assert (sizes[0], sizes[-1]) == (32, 4)


@pytest.mark.slow
@every
def test_stacked_models_compute_what_each_computes_alone(name):
    torch.manual_seed(0)
    ensemble = [build(name, 4, in_channels=1).eval() for _ in range(2)]
    x = torch.randn(3, 1, 8, 8)
    parameters, buffers = stack_module_state(ensemble)
    skeleton = build(name, 4, in_channels=1).eval()

    def call(p, b):
        return functional_call(skeleton, (p, b), (x,))

    alone = torch.stack([model(x) for model in ensemble])
    together = vmap(call)(parameters, buffers)
    torch.testing.assert_close(together, alone, rtol=1e-3, atol=1e-4)


@pytest.mark.slow
@every
def test_stacked_models_train_each_with_its_own_chances(name):
    torch.manual_seed(0)
    model = build(name, 4, in_channels=1).train()
    parameters, buffers = stack_module_state([model, model])
    x = torch.randn(8, 1, 8, 8)

    def call(p, b):
        return functional_call(model, (p, b), (x,))

    first, second = vmap(call, randomness="different")(parameters, buffers)
    random = name in ("efficientnet_b0", "mobilenet_v2")
    assert torch.allclose(first, second, atol=1e-5) == (not random)
    moved = [key for key in buffers if key.endswith("running_mean") and buffers[key].any()]
    assert len(moved) == sum(isinstance(m, torch.nn.BatchNorm2d) for m in model.modules())


def test_dropping_a_body_keeps_its_mean():
    torch.manual_seed(0)
    block, x = Skip(torch.nn.Identity(), drop=0.25), torch.ones(20_000, 1, 1, 1)
    torch.testing.assert_close(block.eval()(x), 2 * x)
    change = (block.train()(x) - x).flatten()
    assert change.unique().tolist() == pytest.approx([0, 4 / 3])
    # The mean of n draws of variance 1/3; five standard errors.
    assert change.mean().item() == pytest.approx(1, abs=5 * (1 / 3 / 20_000) ** 0.5)


def test_the_gate_scales_whole_channels():
    torch.manual_seed(0)
    gate, x = SqueezeExcitation(3, 2), torch.randn(4, 3, 5, 5)
    ratio = gate(x) / x
    expected = ratio.mean(dim=(2, 3), keepdim=True).expand_as(ratio)
    torch.testing.assert_close(ratio, expected)
    assert ((ratio > 0) & (ratio < 1)).all()


@every
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1,), "n_classes = 1: expected a whole number from 2 up"),
        ((10, 0), "in_channels = 0: expected a whole number from 1 up"),
    ],
)
def test_bad_arguments_are_named(name, arguments, message):
    with pytest.raises(InputError, match=message):
        build(name, *arguments)
