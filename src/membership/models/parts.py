"""What every family of networks shares: its frame and its activations."""

from collections import OrderedDict

from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


def network(features: nn.Module, width: int, n_classes: int) -> nn.Sequential:
    """A network whose last linear layer stands apart from the features it reads."""
    return nn.Sequential(OrderedDict(features=features, classifier=nn.Linear(width, n_classes)))
