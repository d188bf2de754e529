"""What every family of networks shares: its frame, its activations, its checks."""

from collections import OrderedDict
from collections.abc import Collection
from numbers import Integral

from torch import nn

from membership.errors import InputError

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def network(features: nn.Module, width: int, n_classes: int) -> nn.Sequential:
    """A network whose last linear layer stands apart from the features it reads.

    Parameters
    ----------
    features : nn.Module
        From a batch to an array of shape (records, width).
    width : int
        Features a record.
    n_classes : int
        Logits a record.

    Returns
    -------
    nn.Sequential
        With the children `features` and `classifier`.
    """
    return nn.Sequential(OrderedDict(features=features, classifier=nn.Linear(width, n_classes)))


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise an InputError unless a parameter is a whole number from `least` up."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} = {value!r}: expected a whole number from {least} up")


def check_choice(name: str, value: object, choices: Collection) -> None:
    """Raise an InputError unless a parameter is one of the `choices`."""
    if value not in list(choices):
        raise InputError(f"{name} = {value!r}: expected one of {', '.join(map(str, choices))}")
