"""The small convolutional network of Shokri et al. (2017)."""

from collections.abc import Sequence

from torch import nn

from membership.arrays import one_of, whole
from membership.errors import InputError
from membership.models.parts import ACTIVATIONS, network

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
