"""VGG-16 (Simonyan and Zisserman 2014)."""

from torch import nn

from membership.arrays import whole
from membership.models.parts import network

# Channels of the convolutions between one 2x2 maximum and the next (their configuration D).
STAGES = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
HIDDEN = 4096


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
    whole("n_classes", n_classes, least=2)
    whole("image_size", image_size, least=32)
    whole("in_channels", in_channels)
    layers: list[nn.Module] = []
    n_in = in_channels
    for stage in STAGES:
        for n_out in stage:
            layers += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU()]
            n_in = n_out
        layers.append(nn.MaxPool2d(2))
    side = image_size // 2 ** len(STAGES)
    layers.append(nn.Flatten())
    for width in (n_in * side**2, HIDDEN):
        layers += [nn.Linear(width, HIDDEN), nn.ReLU(), nn.Dropout(0.5)]
    model = network(nn.Sequential(*layers), HIDDEN, n_classes)
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.01)
        if isinstance(module, nn.Conv2d | nn.Linear):
            nn.init.zeros_(module.bias)
    return model
