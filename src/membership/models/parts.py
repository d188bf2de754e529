"""What every family of networks shares: its frame and its activations."""

from collections import OrderedDict

from torch import nn

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
