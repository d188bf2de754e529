"""Residual networks (He et al. 2016), and the wide one of Zagoruyko and Komodakis (2016)."""

from torch import Tensor, nn

from membership.arrays import one_of
from membership.models.mlp import check_sizes, network

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


def _convolution(n_in: int, n_out: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """A convolution that keeps the size up to its stride, normalised."""
    layer = nn.Conv2d(n_in, n_out, kernel, stride, padding=kernel // 2, bias=False)
    return [layer, nn.BatchNorm2d(n_out)]


def _stem(stem: str, in_channels: int) -> list[nn.Module]:
    if stem != "imagenet":
        pooled = [nn.MaxPool2d(2)] if stem == "pooled" else []
        return [*_convolution(in_channels, 64, 3), nn.ReLU(), *pooled]
    pool = nn.MaxPool2d(3, stride=2, padding=1)
    return [*_convolution(in_channels, 64, 7, stride=2), nn.ReLU(), pool]


def _basic(n_in: int, width: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        *_convolution(n_in, width, 3, stride), nn.ReLU(), *_convolution(width, width, 3)
    )


def _bottleneck(n_in: int, width: int, n_out: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        *_convolution(n_in, width, 1),
        nn.ReLU(),
        *_convolution(width, width, 3, stride),
        nn.ReLU(),
        *_convolution(width, n_out, 1),
    )


def _shortcut(n_in: int, n_out: int, stride: int) -> nn.Module:
    if n_in == n_out and stride == 1:
        return nn.Identity()
    return nn.Sequential(*_convolution(n_in, n_out, 1, stride))


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
