"""Every network of images: published sizes, shapes, strides, and many models in one program."""

from functools import partial

import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from membership import models
from membership.errors import InputError
from membership.models.residual import Skip, SqueezeExcitation

# What builds a network; how many parameters it has on torchvision's model pages, for 1000 classes;
# what the first layer for ImageNet has more than ours (7x7 in place of 3x3 convolutions to 64
# channels, and in DenseNet a normalisation); how many features.
STEM = 64 * 3 * (49 - 9)
NETWORKS = {
    "resnet18": (partial(models.resnet, 18), 11_689_512, STEM, 512),
    "resnet34": (partial(models.resnet, 34), 21_797_672, STEM, 512),
    "resnet50": (partial(models.resnet, 50), 25_557_032, STEM, 2048),
    "resnet101": (partial(models.resnet, 101), 44_549_160, STEM, 2048),
    "densenet121": (models.densenet121, 7_978_856, STEM + 2 * 64, 1024),
    "efficientnet_b0": (models.efficientnet_b0, 5_288_548, 0, 1280),
    "mobilenet_v2": (models.mobilenet_v2, 3_504_872, 0, 1280),
    "wide_resnet50": (models.wide_resnet50, 68_883_240, STEM, 2048),
}
OTHERS = sorted(set(NETWORKS) - {"resnet34", "resnet50", "resnet101"})
# What drops a part at random while it is trained.
DRAW = ("efficientnet_b0", "mobilenet_v2")
every = pytest.mark.parametrize("name", sorted(NETWORKS))


def build(name, *arguments, **keywords):
    return NETWORKS[name][0](*arguments, **keywords)


def count(model):
    return sum(parameter.numel() for parameter in model.parameters())


@every
def test_parameter_counts_are_the_published_ones(name):
    _, published, stem, _ = NETWORKS[name]
    with torch.device("meta"):
        assert count(build(name, 1000)) == published - stem
        if name.startswith("resnet"):
            assert count(build(name, 1000, stem="imagenet")) == published


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "given"),
    [(n, 16, {"in_channels": 1}) for n in (*OTHERS, "resnet50")]
    + [(n, 32, {}) for n in OTHERS if n != "resnet18"]
    + [(n, 32, {"stem": "imagenet"}) for n in ("resnet18", "resnet50")],
)
def test_logits_are_the_classifier_of_the_features(name, size, given):
    torch.manual_seed(0)
    model = build(name, 5, **given).eval()
    x = torch.randn(2, given.get("in_channels", 3), size, size)
    features = model.features(x)
    assert features.shape == (2, NETWORKS[name][3])
    expected = features @ model.classifier.weight.T + model.classifier.bias
    torch.testing.assert_close(model(x), expected)


@pytest.mark.slow
@every
def test_each_later_stage_halves_the_image(name):
    with torch.device("meta"):
        model = build(name, 5).eval()
        sizes = []
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.register_forward_hook(lambda _m, _i, output: sizes.append(output.shape[-1]))
        model(torch.zeros(1, 3, 32, 32))
    assert (sizes[0], sizes[-1]) == (32, 4)
    if "resnet" in name:
        assert list(dict.fromkeys(sizes)) == [32, 16, 8, 4]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_stacked_models_compute_what_each_computes_alone(name):
    torch.manual_seed(0)
    ensemble = [build(name, 4, in_channels=1).double() for _ in range(2)]
    for model in ensemble:
        model.train(name not in DRAW)
    x = torch.randn(4, 1, 8, 8, dtype=torch.float64)
    parameters, buffers = stack_module_state(ensemble)

    def call(p, b):
        return functional_call(ensemble[0], (p, b), (x,))

    together = vmap(call)(parameters, buffers)
    alone = torch.stack([model(x) for model in ensemble])
    torch.testing.assert_close(together, alone)
    # In training mode the running averages of batch normalisation have moved, and alike.
    for place, model in enumerate(ensemble):
        for key, values in model.named_buffers():
            torch.testing.assert_close(buffers[key][place], values)
            assert name in DRAW or values.any()


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAW)
def test_stacked_models_train_each_with_its_own_chances(name):
    torch.manual_seed(0)
    model = build(name, 4, in_channels=1).train()
    parameters, buffers = stack_module_state([model, model])
    x = torch.randn(8, 1, 8, 8)

    def call(p, b):
        return functional_call(model, (p, b), (x,))

    first, second = vmap(call, randomness="different")(parameters, buffers)
    assert not torch.allclose(first, second, atol=1e-5)
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
    ("given", "message"),
    [
        ({"n_classes": 1}, "n_classes = 1: expected a whole number from 2 up"),
        ({"in_channels": 0}, "in_channels = 0: expected a whole number from 1 up"),
    ],
)
def test_bad_arguments_are_named(name, given, message):
    with pytest.raises(InputError, match=message):
        build(name, **{"n_classes": 10, **given})
