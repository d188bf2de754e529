"""Residual networks (He et al. 2016), wide ones, and inverted: MobileNet-V2, EfficientNet-B0."""

from collections.abc import Sequence
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from membership.arrays import one_of
from membership.models.mlp import check_sizes, classifier_of, network

# Blocks in each of the four stages (He et al. 2016, Table 1).
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}
STEMS = ("cifar", "imagenet", "pooled")


class Residual(nn.Module):
    """``relu(body(x) + shortcut(x))``."""

    def __init__(self, body: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.shortcut = shortcut
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.body(x) + self.shortcut(x))


def resnet(depth: int, n_classes: int, stem: str = "cifar", in_channels: int = 3) -> nn.Sequential:
    """A residual network.

    Parameters
    ----------
    depth : {18, 34, 50, 101}
        18 and 34 have basic blocks, 50 and 101 bottlenecks.
    n_classes : int
        At least 2.
    stem : {"cifar", "pooled", "imagenet"}
        "imagenet": a 7x7 convolution of stride 2 and a 3x3 maximum of stride 2. "cifar": a 3x3
        convolution of stride 1, so that 32x32 images keep their size up to the first stage.
        "pooled": the same, then a 2x2 maximum, for a quarter of the work.
    in_channels : int
        Channels of an image, at least 1.

    Returns
    -------
    nn.Sequential
        From (records, in_channels, height, width) to logits (records, n_classes);
        ``.features(x)`` has shape (records, 512), or (records, 2048) from depth 50 on.

    Raises
    ------
    InputError
        The depth or the stem is unknown, or a count is out of range.

    Notes
    -----
    A bottleneck has its stride in the 3x3 convolution, as torchvision has; He et al. have it in
    the first 1x1, which has as many parameters. Convolutions start from He's normal distribution
    (fan-out), batch normalisation from weight 1 and bias 0, as in torchvision.
    """
    one_of("depth", depth, BLOCKS)
    one_of("stem", stem, STEMS)
    return residual_network(depth, n_classes, stem, in_channels)


def residual_network(
    depth: int, n_classes: int, stem: str, in_channels: int, factor: int = 1
) -> nn.Sequential:
    """As `resnet`, with `factor` times the channels in the 3x3 convolution of a bottleneck."""
    check_sizes(n_classes, in_channels)
    expansion = 1 if depth < 50 else 4
    layers, n_in = _stem(stem, in_channels), 64
    for stage, count in enumerate(BLOCKS[depth]):
        width = 64 * 2**stage
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            n_out = width * expansion
            if depth < 50:
                body = _basic(n_in, width, stride)
            else:
                body = _bottleneck(n_in, width * factor, n_out, stride)
            layers.append(Residual(body, _shortcut(n_in, n_out, stride)))
            n_in = n_out
    features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = network(features, n_in, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return model


def small_resnet(widths: Sequence[int], n_classes: int, in_channels: int) -> nn.Sequential:
    """A basic block at each of some widths, on images that are halved first."""
    layers: list[nn.Module] = [nn.AvgPool2d(2), *convolution(in_channels, widths[0], 3), nn.ReLU()]
    for stage, (n_in, width) in enumerate(pairwise((widths[0], *widths))):
        stride = 2 if stage > 0 else 1
        layers.append(Residual(_basic(n_in, width, stride), _shortcut(n_in, width, stride)))
    return network(
        nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()), widths[-1], n_classes
    )


def convolution(
    n_in: int,
    n_out: int,
    kernel: int,
    stride: int = 1,
    activation: type[nn.Module] | None = None,
    groups: int = 1,
) -> list[nn.Module]:
    """A convolution that keeps the size up to its stride, normalised and activated."""
    layers: list[nn.Module] = [
        nn.Conv2d(n_in, n_out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(n_out),
    ]
    return layers if activation is None else [*layers, activation()]


def _stem(stem: str, in_channels: int) -> list[nn.Module]:
    if stem != "imagenet":
        pooled = [nn.MaxPool2d(2)] if stem == "pooled" else []
        return [*convolution(in_channels, 64, 3), nn.ReLU(), *pooled]
    pool = nn.MaxPool2d(3, stride=2, padding=1)
    return [*convolution(in_channels, 64, 7, stride=2), nn.ReLU(), pool]


def _basic(n_in: int, width: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        *convolution(n_in, width, 3, stride), nn.ReLU(), *convolution(width, width, 3)
    )


def _bottleneck(n_in: int, width: int, n_out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        *convolution(n_in, width, 1),
        nn.ReLU(),
        *convolution(width, width, 3, stride),
        nn.ReLU(),
        *convolution(width, n_out, 1),
    )


def _shortcut(n_in: int, n_out: int, stride: int) -> nn.Module:
    if n_in == n_out and stride == 1:
        return nn.Identity()
    return nn.Sequential(*convolution(n_in, n_out, 1, stride))


def wide_resnet50(n_classes: int, in_channels: int = 3) -> nn.Sequential:
    """ResNet-50 with twice the channels in a bottleneck's 3x3 convolution, for small images.

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
        ``.features(x)`` has shape (records, 2048).

    Raises
    ------
    InputError
        A count is out of range.

    Notes
    -----
    The network of that name in torchvision, with the "cifar" stem and the start of `resnet`.
    """
    return residual_network(50, n_classes, "cifar", in_channels, factor=2)


class Skip(nn.Module):
    """``x + body(x)``, where in training the body may be dropped.

    Parameters
    ----------
    body : nn.Module
        Keeps the shape of its input.
    drop : float
        In [0, 1): the probability with which the body is left out for one record in training
        (stochastic depth, Huang et al. 2016); what remains is scaled by 1 / (1 - drop).
    """

    def __init__(self, body: nn.Module, drop: float = 0.0) -> None:
        super().__init__()
        self.body = body
        self.drop = drop

    def forward(self, x: Tensor) -> Tensor:
        change = self.body(x)
        if self.drop > 0:
            change = change * F.dropout(x.new_ones(len(x), 1, 1, 1), self.drop, self.training)
        return x + change

    def extra_repr(self) -> str:
        return f"drop={self.drop:.4g}"


class SqueezeExcitation(nn.Module):
    """Channels scaled by a gate that sees the whole image (Hu et al. 2018)."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, squeezed, 1),
            nn.SiLU(),
            nn.Conv2d(squeezed, channels, 1),
            nn.Sigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(x)


def inverted_residual(
    n_in: int,
    n_out: int,
    kernel: int,
    stride: int,
    expansion: int,
    activation: type[nn.Module],
    squeeze: bool = False,
    drop: float = 0.0,
) -> nn.Module:
    """Widen, filter each channel, and narrow; with a shortcut where the shape is kept."""
    wide = n_in * expansion
    layers = convolution(n_in, wide, 1, activation=activation) if expansion > 1 else []
    layers += convolution(wide, wide, kernel, stride, activation, groups=wide)
    if squeeze:
        layers.append(SqueezeExcitation(wide, max(1, n_in // 4)))
    body = nn.Sequential(*layers, *convolution(wide, n_out, 1))
    return Skip(body, drop) if stride == 1 and n_in == n_out else body


# Expansion, kernel, channels, blocks and first stride of each stage (Table 2 of MobileNet-V2's
# authors, Table 1 of EfficientNet's; the second stage has stride 2 for ImageNet).
MOBILENET = (
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 1),
    (6, 3, 32, 3, 2),
    (6, 3, 64, 4, 2),
    (6, 3, 96, 3, 1),
    (6, 3, 160, 3, 2),
    (6, 3, 320, 1, 1),
)
EFFICIENTNET = (
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 1),
    (6, 5, 40, 2, 2),
    (6, 3, 80, 3, 2),
    (6, 5, 112, 3, 1),
    (6, 5, 192, 4, 2),
    (6, 3, 320, 1, 1),
)
# The probability of leaving a block out grows from 0 to this.
STOCHASTIC_DEPTH = 0.2
WIDTH = 1280


def inverted_network(
    stages: tuple[tuple[int, int, int, int, int], ...],
    n_classes: int,
    in_channels: int,
    activation: type[nn.Module],
    squeeze: bool = False,
    most_dropped: float = 0.0,
) -> nn.Sequential:
    """Stages of inverted residuals between two convolutions, and a classifier whose bias is 0."""
    check_sizes(n_classes, in_channels)
    layers = convolution(in_channels, 32, 3, 1, activation)
    n_in, before, total = 32, 0, sum(stage[3] for stage in stages)
    for expansion, kernel, n_out, blocks, first_stride in stages:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            drop = most_dropped * before / total
            layers.append(
                inverted_residual(n_in, n_out, kernel, stride, expansion, activation, squeeze, drop)
            )
            n_in, before = n_out, before + 1
    layers += convolution(n_in, WIDTH, 1, activation=activation)
    pooled = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2)]
    model = network(nn.Sequential(*layers, *pooled), WIDTH, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    nn.init.zeros_(classifier_of(model).bias)
    return model


def mobilenet_v2(n_classes: int, in_channels: int = 3) -> nn.Sequential:
    """MobileNet-V2 of width 1, for small images.

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
        ``.features(x)`` has shape (records, 1280).

    Raises
    ------
    InputError
        A count is out of range.

    Notes
    -----
    The first convolution and the second stage have stride 1 in place of 2, so that 32x32 images
    end at 4x4, as they do in `resnet`; parameters are as published.

    Dropout with probability 0.2 before the classifier and the initialisation are torchvision's:
    He's normal distribution (fan-out) for convolutions, standard deviation 0.01 and bias 0 for
    the classifier.
    """
    model = inverted_network(MOBILENET, n_classes, in_channels, nn.ReLU6)
    nn.init.normal_(classifier_of(model).weight, std=0.01)
    return model


def efficientnet_b0(n_classes: int, in_channels: int = 3) -> nn.Sequential:
    """EfficientNet-B0 for small images.

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
        ``.features(x)`` has shape (records, 1280).

    Raises
    ------
    InputError
        A count is out of range.

    Notes
    -----
    The first convolution and the second stage have stride 1 in place of 2, so that 32x32 images
    end at 4x4, as they do in `resnet`; parameters are as published.

    Stochastic depth up to 0.2, dropout with probability 0.2 before the classifier and the
    initialisation are torchvision's: He's normal distribution (fan-out) for convolutions,
    a uniform one of width 2 / sqrt(n_classes) and bias 0 for the classifier.
    """
    model = inverted_network(
        EFFICIENTNET, n_classes, in_channels, nn.SiLU, True, most_dropped=STOCHASTIC_DEPTH
    )
    reach = n_classes**-0.5
    nn.init.uniform_(classifier_of(model).weight, -reach, reach)
    return model
