"""Networks whose random start has a Gaussian process as its limit of infinite width."""

import math

import torch
from torch import nn

from membership.arrays import one_of, whole
from membership.errors import InputError
from membership.models.parts import network

SCALED_ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU}


def scaled_mlp(
    n_features: int,
    depth: int,
    width: int,
    n_classes: int,
    activation: str = "relu",
    w_std: float = math.sqrt(2),
    fan_in: int | None = None,
) -> nn.Sequential:
    """A fully connected network without biases, weights drawn from N(0, w_std^2 / fan-in).

    Parameters
    ----------
    n_features : int
        Numbers a record; records of any shape are flattened.
    depth : int
        Hidden layers, at least 1; a linear layer reads the last of them.
    width : int
        Units of each hidden layer.
    n_classes : int
        At least 2.
    activation : {"relu", "gelu"}
        After each hidden layer.
    w_std : float
        Positive. The square root of 2 keeps the variance of a ReLU network from layer to layer.
    fan_in : int, optional
        At least 1: the fan-in that the first layer's weights are drawn for, `n_features` by
        default. Records that are given as their coordinates in an orthonormal basis of a space of
        fewer dimensions take the number of features they had: see the notes.

    Returns
    -------
    nn.Sequential
        From (records, ...) to logits (records, n_classes).

    Raises
    ------
    InputError
        A size is no whole number in its range, the activation is unknown, or w_std is no positive
        number.

    Notes
    -----
    The released code of Ye et al. (2024) has depth 9 and width 1024, with w_std 1.9822 for GeLU.

    Gradient descent moves the first layer's weights within the space that the training records
    span, and a normal law looks the same in every orthonormal basis. Hence networks that read
    coordinates in such a basis, with the fan-in of the features, follow the law of those that read
    the features, at every query in that space.
    """
    for name, value in (("n_features", n_features), ("depth", depth), ("width", width)):
        whole(name, value)
    if fan_in is not None:
        whole("fan_in", fan_in)
    whole("n_classes", n_classes, least=2)
    one_of("activation", activation, SCALED_ACTIVATIONS)
    if not 0 < w_std < math.inf:
        raise InputError(f"w_std = {w_std!r}: expected a positive number")
    layers: list[nn.Module] = [nn.Flatten()]
    for layer in range(depth):
        read = width if layer else n_features
        layers += [nn.Linear(read, width, bias=False), SCALED_ACTIVATIONS[activation]()]
    model = network(nn.Sequential(*layers), width, n_classes)
    model.classifier = nn.Linear(width, n_classes, bias=False)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0, w_std / math.sqrt(weight.shape[1]))
        if fan_in is not None:
            model.features[1].weight.mul_(math.sqrt(n_features / fan_in))
    return model
