"""MobileNet-V2 (Sandler et al. 2018), with the strides for ImageNet or for small images."""

from torch import nn

from membership.arrays import one_of, whole
from membership.models.inverted_residual import convolution, inverted_residual
from membership.models.parts import network
from membership.models.resnet import STEMS

# Expansion, channels, blocks and first stride of each stage (their Table 2).
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
WIDTH = 1280


def mobilenet_v2(n_classes: int, stem: str = "cifar", in_channels: int = 3) -> nn.Sequential:
    """MobileNet-V2 of width 1.

    Parameters
    ----------
    n_classes : int
        At least 2.
    stem : {"cifar", "imagenet"}
        "imagenet": as published, from 224x224 to 7x7. "cifar": stride 1 in place of 2 in the
        first convolution and in the second stage, so that 32x32 images end at 4x4, as they do in
        `resnet`. Parameters are the same.
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
        The stem is unknown, or a count is out of range.

    Notes
    -----
    Dropout with probability 0.2 before the classifier and the initialisation are torchvision's:
    He's normal distribution (fan-out) for convolutions, standard deviation 0.01 and bias 0 for
    the classifier.
    """
    one_of("stem", stem, STEMS)
    whole("n_classes", n_classes, least=2)
    whole("in_channels", in_channels)
    small = stem == "cifar"
    layers = convolution(in_channels, 32, 3, 1 if small else 2, nn.ReLU6)
    n_in = 32
    for stage, (expansion, n_out, blocks, first_stride) in enumerate(STAGES):
        for block in range(blocks):
            stride = first_stride if block == 0 and not (small and stage == 1) else 1
            layers.append(inverted_residual(n_in, n_out, 3, stride, expansion, nn.ReLU6))
            n_in = n_out
    layers += convolution(n_in, WIDTH, 1, activation=nn.ReLU6)
    pooled = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2)]
    model = network(nn.Sequential(*layers, *pooled), WIDTH, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
    nn.init.normal_(model.classifier.weight, std=0.01)
    nn.init.zeros_(model.classifier.bias)
    return model
