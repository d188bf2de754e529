"""What an adversary observes of a model: one number a record.

Every function takes an ensemble with the records to query, or the logits of shape
(models, records, classes) that it gave for them, and returns float64 of shape (models, records).
"""

import numpy as np
import torch

from membership.errors import InputError
from membership.training import Ensemble

Source = Ensemble | np.ndarray | torch.Tensor


def loss(source: Source, x, y) -> np.ndarray:
    r"""Cross-entropy of the true label, :math:`-\log p_y`.

    Computed from :func:`scaled_logit` as :math:`\log(1 + e^{-s})`: the losses of members that a
    model is sure of stay apart where a difference of logits would round to 0.

    Parameters
    ----------
    source : Ensemble, or logits of shape (models, records, classes)
        With logits, `x` is not used and may be None.
    x : array_like, shape (records, ...)
        The records to query.
    y : array_like of int, shape (records,)
        Their labels, 0 to classes - 1.

    Returns
    -------
    numpy.ndarray, shape (models, records)
        In nats, from 0 up; large where the model is sure of another class.

    Raises
    ------
    InputError
        Logits are not finite, or shapes or labels do not fit.
    """
    return np.logaddexp(0.0, -scaled_logit(source, x, y))


def hinge(source: Source, x, y) -> np.ndarray:
    r"""Logit of the true label less the largest other one, :math:`f_y - \max_{c \ne y} f_c`.

    Liu et al. (2025), Section 4; parameters, shapes and errors as :func:`loss`. Positive where
    the model is right.
    """
    logits, label = _read(source, x, y)
    return (_of_label(logits, label) - _without(logits, label).amax(-1)).numpy()


def scaled_logit(source: Source, x, y) -> np.ndarray:
    r"""The log-odds of the true label, :math:`\log \frac{p_y}{1 - p_y}`.

    Computed as :math:`f_y - \log\sum_{c \ne y} e^{f_c}`, which stays finite where the probability
    rounds to 0 or 1 (Carlini et al. 2022, Section V-C). Parameters, shapes and errors as
    :func:`loss`.
    """
    logits, label = _read(source, x, y)
    return (_of_label(logits, label) - torch.logsumexp(_without(logits, label), -1)).numpy()


def correct(source: Source, x, y) -> np.ndarray:
    """1.0 where the model's decision is the true label, else 0.0; otherwise as :func:`loss`."""
    logits, label = _read(source, x, y)
    return (logits.argmax(-1) == label).double().numpy()


def _read(source: Source, x, y) -> tuple[torch.Tensor, torch.Tensor]:
    if isinstance(source, Ensemble):
        source = source.logits(x)
    logits = torch.tensor(np.asarray(source), dtype=torch.float64)
    label = torch.tensor(np.asarray(y)).long()
    if logits.ndim != 3 or label.shape != logits.shape[1:2]:
        raise InputError(
            f"logits of shape {tuple(logits.shape)} with labels of shape {tuple(label.shape)}: "
            "expected (models, records, classes) and (records,)"
        )
    if not torch.isfinite(logits).all():
        raise InputError("logits: some are not finite; the model that gave them has diverged")
    classes = logits.shape[-1]
    if classes < 2 or label.min() < 0 or label.max() >= classes:
        raise InputError(
            f"y: labels {int(label.min())} to {int(label.max())} do not fit {classes} classes; "
            "expected 0 to classes - 1 and at least two classes"
        )
    return logits, label


def _of_label(logits: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    return logits.gather(-1, label.expand(logits.shape[0], -1).unsqueeze(-1)).squeeze(-1)


def _without(logits: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """The logits with the true label's at minus infinity."""
    index = label.expand(logits.shape[0], -1).unsqueeze(-1)
    return logits.scatter(-1, index, -torch.inf)
