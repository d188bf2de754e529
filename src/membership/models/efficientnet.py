"""EfficientNet-B0 (Tan and Le 2019), with the strides for ImageNet or for small images."""

from torch import nn

from membership.arrays import one_of, whole
from membership.models.inverted_residual import convolution, inverted_residual
from membership.models.parts import network
from membership.models.resnet import STEMS

# Expansion, kernel, channels, blocks and first stride of each stage (their Table 1).
STAGES = (
    (1, 3, 16, 1, 1),
    (6, 3, 24, 2, 2),
    (6, 5, 40, 2, 2),
    (6, 3, 80, 3, 2),
    (6, 5, 112, 3, 1),
    (6, 5, 192, 4, 2),
    (6, 3, 320, 1, 1),
)
WIDTH = 1280
# The probability of leaving a block out grows from 0 to this.
STOCHASTIC_DEPTH = 0.2


def efficientnet_b0(n_classes: int, stem: str = "cifar", in_channels: int = 3) -> nn.Sequential:
    """EfficientNet-B0.

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
    Stochastic depth up to 0.2, dropout with probability 0.2 before the classifier and the
    initialisation are torchvision's: He's normal distribution (fan-out) for convolutions,
    a uniform one of width 2 / sqrt(n_classes) and bias 0 for the classifier.
    """
    one_of("stem", stem, STEMS)
    whole("n_classes", n_classes, least=2)
    whole("in_channels", in_channels)
    small = stem == "cifar"
    layers = convolution(in_channels, 32, 3, 1 if small else 2, nn.SiLU)
    n_in, before, total = 32, 0, sum(stage[3] for stage in STAGES)
    for stage, (expansion, kernel, n_out, blocks, first_stride) in enumerate(STAGES):
        for block in range(blocks):
            stride = first_stride if block == 0 and not (small and stage == 1) else 1
            drop = STOCHASTIC_DEPTH * before / total
            layers.append(
                inverted_residual(n_in, n_out, kernel, stride, expansion, nn.SiLU, True, drop)
            )
            n_in, before = n_out, before + 1
    layers += convolution(n_in, WIDTH, 1, activation=nn.SiLU)
    pooled = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2)]
    model = network(nn.Sequential(*layers, *pooled), WIDTH, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    reach = n_classes**-0.5
    nn.init.uniform_(model.classifier.weight, -reach, reach)
    nn.init.zeros_(model.classifier.bias)
    return model
