"""Networks of linear layers: logistic regression and the multilayer perceptron."""

from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from membership.arrays import one_of, whole
from membership.errors import InputError
from membership.models.parts import ACTIVATIONS, network


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
