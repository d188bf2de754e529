"""DenseNet-121 (Huang et al. 2017), with the stem for ImageNet or for small images."""

import torch
from torch import Tensor, nn

from membership.arrays import one_of, whole
from membership.models.parts import network
from membership.models.resnet import STEMS

# Layers in each dense block, and the channels that each adds (their Table 1, DenseNet-121).
BLOCKS = (6, 12, 24, 16)
GROWTH = 32
# Channels of a layer's first convolution, in units of the growth.
BOTTLENECK = 4


class Dense(nn.Module):
    """``[x, body(x)]`` along the channels."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], dim=1)


def densenet121(n_classes: int, stem: str = "cifar", in_channels: int = 3) -> nn.Sequential:
    """DenseNet-121: four dense blocks with bottlenecks, each halved by a transition.

    Parameters
    ----------
    n_classes : int
        At least 2.
    stem : {"cifar", "imagenet"}
        "imagenet": a 7x7 convolution of stride 2 and a 3x3 maximum of stride 2. "cifar": a 3x3
        convolution of stride 1, so that 32x32 images keep their size up to the first block.
    in_channels : int
        Channels of an image, at least 1.

    Returns
    -------
    nn.Sequential
        From (records, in_channels, height, width) to logits (records, n_classes);
        ``.features(x)`` has shape (records, 1024).

    Raises
    ------
    InputError
        The stem is unknown, or a count is out of range.

    Notes
    -----
    The initialisation is torchvision's: He's normal distribution (fan-in) for convolutions, bias 0
    for the classifier.
    """
    one_of("stem", stem, STEMS)
    whole("n_classes", n_classes, least=2)
    whole("in_channels", in_channels)
    width = 2 * GROWTH
    layers = _stem(stem, in_channels, width)
    for index, count in enumerate(BLOCKS):
        for _ in range(count):
            layers.append(_layer(width))
            width += GROWTH
        if index + 1 < len(BLOCKS):
            layers += [*_activated(width), nn.Conv2d(width, width // 2, 1, bias=False)]
            layers.append(nn.AvgPool2d(2))
            width //= 2
    layers += [*_activated(width), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    model = network(nn.Sequential(*layers), width, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
    nn.init.zeros_(model.classifier.bias)
    return model


def _activated(channels: int) -> list[nn.Module]:
    return [nn.BatchNorm2d(channels), nn.ReLU()]


def _stem(stem: str, in_channels: int, width: int) -> list[nn.Module]:
    if stem == "cifar":
        # The first layer of the first block normalises.
        return [nn.Conv2d(in_channels, width, 3, padding=1, bias=False)]
    layer = nn.Conv2d(in_channels, width, 7, stride=2, padding=3, bias=False)
    return [layer, *_activated(width), nn.MaxPool2d(3, stride=2, padding=1)]


def _layer(n_in: int) -> Dense:
    wide = BOTTLENECK * GROWTH
    return Dense(
        nn.Sequential(
            *_activated(n_in),
            nn.Conv2d(n_in, wide, 1, bias=False),
            *_activated(wide),
            nn.Conv2d(wide, GROWTH, 3, padding=1, bias=False),
        )
    )
