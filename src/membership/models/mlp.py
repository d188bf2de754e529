"""Networks of linear layers, and the frame and activations that all networks share."""

import math
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import torch
from torch import nn

from membership.arrays import one_of, whole
from membership.errors import InputError

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def network(features: nn.Module, width: int, n_classes: int) -> nn.Sequential:
    """A network whose last linear layer stands apart from the features it reads."""
    return nn.Sequential(OrderedDict(features=features, classifier=nn.Linear(width, n_classes)))


def classifier_of(model: nn.Sequential) -> nn.Linear:
    """The last linear layer of a `network`."""
    return cast(nn.Linear, model.classifier)


def check_sizes(n_classes: int, in_channels: int) -> None:
    """Raise an InputError at fewer than two classes or one channel."""
    whole("n_classes", n_classes, least=2)
    whole("in_channels", in_channels)


def logistic_regression(n_features: int, n_classes: int) -> nn.Sequential:
    """Multinomial logistic regression.

    Parameters
    ----------
    n_features : int
        Numbers a record; records of any shape are flattened.
    n_classes : int
        At least 2. Two classes have two logits; only their difference matters.

    Returns
    -------
    nn.Sequential
        From (records, ...) to logits (records, n_classes); PyTorch's initialisation.

    Raises
    ------
    InputError
        A size is not a whole number in its range.

    Notes
    -----
    Sablayrolles et al. (2019), Section 6.2, on features of a ResNet-18.
    """
    return mlp(n_features, (), n_classes)


def mlp(
    n_features: int, hidden: Sequence[int], n_classes: int, activation: str = "relu"
) -> nn.Sequential:
    """A multilayer perceptron.

    Parameters
    ----------
    n_features : int
        Numbers a record; records of any shape are flattened.
    hidden : sequence of int
        Width of each hidden layer, first to last; none gives logistic regression.
    n_classes : int
        At least 2.
    activation : {"relu", "tanh"}
        After each hidden layer.

    Returns
    -------
    nn.Sequential
        From (records, ...) to logits (records, n_classes); PyTorch's initialisation.

    Raises
    ------
    InputError
        A size is not a whole number in its range, or the activation is unknown.
    """
    if isinstance(hidden, str) or not isinstance(hidden, Sequence):
        raise InputError(f"hidden = {hidden!r}: expected a sequence of widths, such as (32,)")
    whole("n_features", n_features)
    for width in hidden:
        whole("hidden", width)
    whole("n_classes", n_classes, least=2)
    one_of("activation", activation, ACTIVATIONS)
    layers: list[nn.Module] = [nn.Flatten()]
    widths = [n_features, *hidden]
    for n_in, n_out in pairwise(widths):
        layers += [nn.Linear(n_in, n_out), ACTIVATIONS[activation]()]
    return network(nn.Sequential(*layers), widths[-1], n_classes)


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
            first = next(model.parameters())
            first.mul_(math.sqrt(n_features / fan_in))
    return model
