"""What a posterior of the last layer needs of a network: its features, logits and weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from membership.arrays import FloatArray
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


def last_layer(model: nn.Module, x: Any, batch_size: int = 1024) -> LastLayer:
    """Read the last layer of one of the room's networks on some records.

    Parameters
    ----------
    model : nn.Module
        With the children ``features`` and ``classifier``, as every network of ``models`` has;
        put in evaluation mode.
    x : array_like of shape (records, ...)
        The records, finite; sent to the model's device in batches.
    batch_size : int
        Records at a time, at least 1.

    Returns
    -------
    LastLayer
        The features are computed in the model's own precision, the logits from them in float64.

    Raises
    ------
    InputError
        The model has no such children, or the records or the features are not finite.
    """
    classifier = getattr(model, "classifier", None)
    if not isinstance(classifier, nn.Linear) or not hasattr(model, "features"):
        raise InputError(
            f"model is a {type(model).__name__} without features and a linear classifier; "
            "give a network of membership.models"
        )
    parameter = classifier.weight
    x = torch.tensor(np.asarray(x), dtype=parameter.dtype)
    if not torch.isfinite(x).all():
        raise InputError("x: some values are not finite (NaN or infinity); clean them first")
    model.eval()
    with torch.no_grad():
        parts = [model.features(part.to(parameter.device)) for part in x.split(batch_size)]
        features = torch.cat(parts).cpu().double().numpy()
        weight = parameter.cpu().double().numpy().copy()
        bias = classifier.bias.cpu().double().numpy().copy()
    if not np.isfinite(features).all():
        raise InputError("model: some of its features are not finite; its training has diverged")
    return LastLayer(features, features @ weight.T + bias, weight, bias)
