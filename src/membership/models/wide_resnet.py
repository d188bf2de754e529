"""Wide-ResNet-50-2 (Zagoruyko and Komodakis 2016), with the stem for ImageNet or small images."""

from torch import nn

from membership.arrays import one_of
from membership.models.resnet import STEMS, residual_network


def wide_resnet50(n_classes: int, stem: str = "cifar", in_channels: int = 3) -> nn.Sequential:
    """ResNet-50 with twice the channels in the 3x3 convolution of every bottleneck.

    Parameters
    ----------
    n_classes : int
        At least 2.
    stem : {"cifar", "imagenet"}
        As in `resnet`.
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
        The stem is unknown, or a count is out of range.

    Notes
    -----
    The network of that name in torchvision; its initialisation is that of `resnet`.
    """
    one_of("stem", stem, STEMS)
    return residual_network(50, n_classes, stem, in_channels, factor=2)
