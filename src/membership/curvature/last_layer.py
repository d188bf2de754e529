"""What a posterior of the last layer needs of a network: its features, logits and weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from membership import networks
from membership.arrays import FloatArray, whole
from membership.errors import InputError


@dataclass(frozen=True)
class LastLayer:
    """A network's last layer on some records, in float64.

    Attributes
    ----------
    features : ndarray of shape (records, width)
        What the layer reads.
    logits : ndarray of shape (records, classes)
        ``features @ weight.T + bias``.
    weight : ndarray of shape (classes, width)
    bias : ndarray of shape (classes,)
    """

    features: FloatArray
    logits: FloatArray
    weight: FloatArray
    bias: FloatArray


def last_layer(model: nn.Module, x: Any, batch_size: int = 1024, layer: str = "") -> LastLayer:
    """Read a network's last linear layer on some records.

    Parameters
    ----------
    model : nn.Module
        Ends in a linear layer; read in evaluation mode, and left as it was.
    x : array_like of shape (records, ...)
        The records, finite, whole where the model reads whole numbers.
    batch_size : int
        Records at a time, at least 1.
    layer : str
        The name of that layer, as in ``dict(model.named_modules())``; empty for the networks of
        `membership.models`, where it is ``classifier``.

    Returns
    -------
    LastLayer
        The features are computed in the model's own precision, the logits from them in float64.

    Raises
    ------
    InputError
        There is no such layer, it is not linear or not the last, the model does not take the
        records, or they or the features are not finite.

    Examples
    --------
    >>> import torch
    >>> from membership import curvature
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> last = curvature.last_layer(model, torch.zeros(5, 4), layer="2")
    >>> last.features.shape, last.logits.shape
    ((5, 8), (5, 3))
    """
    if not isinstance(model, nn.Module):
        raise InputError(f"model = {type(model).__name__}: expected a torch nn.Module")
    classifier = model if isinstance(model, nn.Linear) else _named(model, layer or "classifier")
    parameter = classifier.weight
    whole("batch_size", batch_size)
    with networks.evaluated(model):
        x = networks.as_read(model, x)
        if not torch.isfinite(x).all():
            raise InputError("x: some values are not finite (NaN or infinity); clean them first")
        parts = [_read(model, classifier, part.clone()) for part in x.split(batch_size)]
        features = torch.cat(parts).cpu().double().numpy()
        weight = parameter.cpu().double().numpy().copy()
        bias = np.zeros(len(weight))
        if classifier.bias is not None:
            bias = classifier.bias.cpu().double().numpy().copy()
    if not np.isfinite(features).all():
        raise InputError("model: some of its features are not finite; its training has diverged")
    return LastLayer(features, features @ weight.T + bias, weight, bias)


def _named(model: nn.Module, layer: str) -> nn.Linear:
    """A linear layer by its name."""
    chosen = dict(model.named_modules()).get(layer)
    if isinstance(chosen, nn.Linear):
        return chosen
    linear = [name for name, part in model.named_modules() if isinstance(part, nn.Linear)]
    raise InputError(
        f"layer = {layer!r} is no linear layer of this {type(model).__name__}; "
        f"its linear layers are: {', '.join(linear) or 'none'}"
    )


def _read(model: nn.Module, classifier: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """What the layer reads of some records, where its output is the model's answer."""
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    hook = classifier.register_forward_hook(lambda _, given, out: seen.append((given[0], out)))
    try:
        answer = networks.answered(model, x)
    finally:
        hook.remove()
    last = len(seen) == 1 and seen[0][1].shape == answer.shape and torch.equal(seen[0][1], answer)
    if not last and not (len(seen) == 1 and not torch.isfinite(answer).all()):
        raise InputError(
            "layer: the model's answer is not what this layer gives; name its last linear layer, "
            "and leave out a softmax behind it"
        )
    return seen[0][0]
