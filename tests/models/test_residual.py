"""Residual networks: a residual sum by hand, their stems and their random start."""

import pytest
import torch

from membership import models
from membership.models.residual import Residual


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
