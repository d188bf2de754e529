"""The small network of Shokri et al. (2017), VGG-16 and DenseNet-121."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from membership.arrays import one_of, whole
from membership.errors import InputError
from membership.models.mlp import ACTIVATIONS, check_sizes, classifier_of, network

CHANNELS = 32
HIDDEN = 128


def small_cnn(shape: Sequence[int], n_classes: int, activation: str = "tanh") -> nn.Sequential:
    """Two convolutions with pooling, then two linear layers.

    Each convolution has 32 channels and is followed by the activation and a 2x2 maximum; the
    hidden linear layer has 128 units.

    Parameters
    ----------
    shape : (channels, height, width)
        Of one image; at least 4 pixels each way.
    n_classes : int
        At least 2.
    activation : {"relu", "tanh"}
        After both convolutions and the hidden linear layer; the papers use tanh.

    Returns
    -------
    nn.Sequential
        From images of that shape to logits (records, n_classes); PyTorch's initialisation.

    Raises
    ------
    InputError
        The shape is not that of an image of 4 pixels or more each way, there are fewer than two
        classes, or the activation is unknown.

    Notes
    -----
    Shokri et al. (2017), Section VI, state two convolutions with max pooling, a linear layer of
    128 and tanh; Sablayrolles et al. (2019), Section 6.3, take the same network. Neither states
    kernels or channels. Chosen here: 32 channels, and kernels of 5x5 without padding; where the
    shorter side has fewer than 16 pixels two of those do not fit, and kernels are 3x3 with one
    pixel of padding.
    """
    if isinstance(shape, str) or not isinstance(shape, Sequence) or len(shape) != 3:
        raise InputError(f"shape = {shape!r}: expected (channels, height, width)")
    channels, height, width = shape
    whole("channels", channels)
    whole("height", height, least=4)
    whole("width", width, least=4)
    whole("n_classes", n_classes, least=2)
    one_of("activation", activation, ACTIVATIONS)
    kernel, padding = (5, 0) if min(height, width) >= 16 else (3, 1)

    def convolution(n_in: int) -> list[nn.Module]:
        layer = nn.Conv2d(n_in, CHANNELS, kernel, padding=padding)
        # The maximum of an increasing function is the function of the maximum: pooling first gives
        # the same values with a quarter of the activations to compute.
        return [layer, nn.MaxPool2d(2), ACTIVATIONS[activation]()]

    def pooled(side: int) -> int:
        return (side + 2 * padding - kernel + 1) // 2

    n_flat = CHANNELS * pooled(pooled(height)) * pooled(pooled(width))
    features = nn.Sequential(
        *convolution(channels),
        *convolution(CHANNELS),
        nn.Flatten(),
        nn.Linear(n_flat, HIDDEN),
        ACTIVATIONS[activation](),
    )
    return network(features, HIDDEN, n_classes)


# Channels of the convolutions between one 2x2 maximum and the next (their configuration D).
VGG_STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
VGG_HIDDEN = 4096


def vgg16(n_classes: int, image_size: int = 224, in_channels: int = 3) -> nn.Sequential:
    """VGG-16 without batch normalisation: 13 convolutions and 3 linear layers.

    Parameters
    ----------
    n_classes : int
        At least 2.
    image_size : int
        Pixels each way, at least 32; the first linear layer depends on it.
    in_channels : int
        Channels of an image, at least 1.

    Returns
    -------
    nn.Sequential
        From (records, in_channels, image_size, image_size) to logits (records, n_classes);
        ``.features(x)`` has shape (records, 4096).

    Raises
    ------
    InputError
        A count is out of range.

    Notes
    -----
    Both hidden linear layers are followed by dropout with probability one half, as in the paper.
    The initialisation is torchvision's: He's normal distribution (fan-out) for convolutions,
    standard deviation 0.01 for linear layers, biases 0.
    """
    check_sizes(n_classes, in_channels)
    whole("image_size", image_size, least=32)
    layers: list[nn.Module] = []
    n_in = in_channels
    for stage in VGG_STAGES:
        for n_out in stage:
            layers += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU()]
            n_in = n_out
        layers.append(nn.MaxPool2d(2))
    side = image_size // 2 ** len(VGG_STAGES)
    layers.append(nn.Flatten())
    for width in (n_in * side**2, VGG_HIDDEN):
        layers += [nn.Linear(width, VGG_HIDDEN), nn.ReLU(), nn.Dropout(0.5)]
    model = network(nn.Sequential(*layers), VGG_HIDDEN, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.01)
        if isinstance(module, nn.Conv2d | nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return model


# Layers in each dense block, and the channels that each adds (their Table 1, DenseNet-121).
DENSE_BLOCKS = (6, 12, 24, 16)
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


def densenet121(n_classes: int, in_channels: int = 3) -> nn.Sequential:
    """DenseNet-121 for small images: four dense blocks with bottlenecks, halved by transitions.

    Parameters
    ----------
    n_classes : int
        At least 2.
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
        A count is out of range.

    Notes
    -----
    The first convolution is 3x3 of stride 1, so that 32x32 images keep their size up to the first
    block; for ImageNet it is 7x7 of stride 2, with a maximum behind it. The initialisation is
    torchvision's: He's normal distribution (fan-in) for convolutions, bias 0 for the classifier.
    """
    check_sizes(n_classes, in_channels)
    width = 2 * GROWTH
    # The first layer of the first block normalises.
    layers: list[nn.Module] = [nn.Conv2d(in_channels, width, 3, padding=1, bias=False)]
    for index, count in enumerate(DENSE_BLOCKS):
        for _ in range(count):
            layers.append(_layer(width))
            width += GROWTH
        if index + 1 < len(DENSE_BLOCKS):
            layers += [*_activated(width), nn.Conv2d(width, width // 2, 1, bias=False)]
            layers.append(nn.AvgPool2d(2))
            width //= 2
    layers += [*_activated(width), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    model = network(nn.Sequential(*layers), width, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
    nn.init.zeros_(classifier_of(model).bias)
    return model


def _activated(channels: int) -> list[nn.Module]:
    return [nn.BatchNorm2d(channels), nn.ReLU()]


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
