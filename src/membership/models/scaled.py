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
    """
    for name, value in (("n_features", n_features), ("depth", depth), ("width", width)):
        whole(name, value)
    whole("n_classes", n_classes, least=2)
    one_of("activation", activation, SCALED_ACTIVATIONS)
    if not 0 < w_std < math.inf:
        raise InputError(f"w_std = {w_std!r}: expected a positive number")
    layers: list[nn.Module] = [nn.Flatten()]
    for layer in range(depth):
        fan_in = width if layer else n_features
        layers += [nn.Linear(fan_in, width, bias=False), SCALED_ACTIVATIONS[activation]()]
    model = network(nn.Sequential(*layers), width, n_classes)
    model.classifier = nn.Linear(width, n_classes, bias=False)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(0, w_std / math.sqrt(weight.shape[1]))
    return model
