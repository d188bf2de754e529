"""What an adversary observes of a model: one number a record.

Every function takes an ensemble, a model or a list of models with the records to query, or the
logits of shape (models, records, classes) or (records, classes) that were answered for them, and
returns float64 of shape (models, records). A model with one logit f answers for two classes, 0 with
logit 0 and 1 with logit f.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.special import expit
from torch import nn

from membership import networks
from membership.arrays import FloatArray, as_real, one_of
from membership.errors import InputError
from membership.training import Ensemble
from membership.training.config import LOSSES

Source = Ensemble | nn.Module | Sequence[nn.Module] | np.ndarray | torch.Tensor

BATCH = 2048


def loss(source: Source, x, y, *, outputs: str | None = None) -> np.ndarray:
    r"""Cross-entropy of the true label, :math:`-\log p_y`.

    Computed from :func:`scaled_logit` as :math:`\log(1 + e^{-s})`: the losses of members that a
    model is sure of stay apart where a difference of logits would round to 0.

    Parameters
    ----------
    source : Ensemble, torch.nn.Module, a list of them, or logits ([models,] records, classes)
        A module is asked in evaluation mode and its own precision, left as it was, and counts as
        one model. With logits, `x` is not used and may be None; (records,) are of one logit each.
    x : array_like, shape (records, ...)
        The records to query, in the form that the models take: whole numbers stay whole for a
        module that reads them, such as one with an embedding.
    y : array_like of int, shape (records,)
        Their labels, 0 to classes - 1; 0 or 1 for models with one logit.
    outputs : {"logits", "probabilities"}, optional
        What the models answer. Where nothing is said, answers that may be probabilities are
        refused: all of them lie from 0 to 1. Probabilities become logits and stop at one in a
        billion from 0 and 1; where they round to 0 or 1, records tie.

    Returns
    -------
    numpy.ndarray, shape (models, records)
        In nats, from 0 up; large where the model is sure of another class.

    Raises
    ------
    InputError
        The source is none of these, the records cannot be put to the model, what it answers is
        not finite, or may be probabilities while nothing is said, or shapes or labels do not fit.
    """
    return np.logaddexp(0.0, -scaled_logit(source, x, y, outputs=outputs))


def probability(source: Source, x, y, *, outputs: str | None = None) -> np.ndarray:
    """Probability of the true label, in [0, 1]; otherwise as :func:`loss`.

    Near 1 it rounds, so that records tie: rank by :func:`scaled_logit` where the attack allows.
    """
    return expit(scaled_logit(source, x, y, outputs=outputs))


def hinge(source: Source, x, y, *, outputs: str | None = None) -> np.ndarray:
    r"""Logit of the true label less the largest other one, :math:`f_y - \max_{c \ne y} f_c`.

    Liu et al. (2025), Section 4; parameters, shapes and errors as :func:`loss`. Positive where
    the model is right.
    """
    logits, label = _read(source, x, y, outputs)
    return (_of_label(logits, label) - _without(logits, label).amax(-1)).numpy()


def scaled_logit(source: Source, x, y, *, outputs: str | None = None) -> np.ndarray:
    r"""The log-odds of the true label, :math:`\log \frac{p_y}{1 - p_y}`.

    Computed as :math:`f_y - \log\sum_{c \ne y} e^{f_c}`, which stays finite where the probability
    rounds to 0 or 1 (Carlini et al. 2022, Section V-C). Parameters, shapes and errors as
    :func:`loss`.
    """
    logits, label = _read(source, x, y, outputs)
    return (_of_label(logits, label) - torch.logsumexp(_without(logits, label), -1)).numpy()


def correct(source: Source, x, y, *, outputs: str | None = None) -> np.ndarray:
    """1.0 where the model's decision is the true label, else 0.0; otherwise as :func:`loss`."""
    logits, label = _read(source, x, y, outputs)
    return (logits.argmax(-1) == label).double().numpy()


def loss_of_log_odds(log_odds: Any, loss: str = "cross-entropy") -> FloatArray:
    r"""The training loss of records from the log-odds s of their labels.

    Parameters
    ----------
    log_odds : array of any shape
    loss : {"cross-entropy", "squared-error"}
        :math:`\log(1 + e^{-s})`, or :math:`(1 - p)^2` with :math:`p = 1/(1 + e^{-s})`.

    Raises
    ------
    InputError
        Another loss, or no numbers.
    """
    one_of("loss", loss, LOSSES)
    log_odds = as_real("log_odds", log_odds).astype(np.float64)
    if loss == "cross-entropy":
        return np.logaddexp(0.0, -log_odds)
    return np.exp(-2.0 * np.logaddexp(0.0, log_odds))


def _read(source: Source, x, y, outputs: str | None) -> tuple[torch.Tensor, torch.Tensor]:
    logits = answers(source, x)
    _warn_of_unsteady(source, x)
    if y is None:
        raise InputError("y is None; give the records' labels, 0 to classes - 1")
    label = networks.as_tensor("y", y).cpu()
    if logits.ndim == 1 and label.shape == logits.shape:
        logits = logits[:, None]
    if logits.ndim == 2:
        logits = logits[None]
    if logits.ndim != 3 or label.shape != logits.shape[1:2]:
        advice = "; y.ravel() has one label a record" if label.shape[1:] == (1,) else ""
        if label.shape == logits.shape[2:]:
            advice = "; of models with one logit, give logits[..., None]"
        raise InputError(
            f"logits of shape {tuple(logits.shape)} with labels of shape {tuple(label.shape)}: "
            f"expected (models, records, classes) and (records,){advice}"
        )
    # The sum is finite where all are, unless it overflows; it is found far faster.
    if not torch.isfinite(logits.sum()) and not torch.isfinite(logits).all():
        raise InputError("logits: some are not finite; the model that gave them has diverged")
    logits = torch.from_numpy(networks.as_logits(logits.numpy(), outputs))
    if logits.shape[-1] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], dim=-1)
    classes = logits.shape[-1]
    if label.numel() == 0 or (label != label.long()).any():
        raise InputError(f"y: labels of type {label.dtype}; expected whole numbers, one a record")
    label = label.long()
    if label.min() < 0 or label.max() >= classes:
        raise InputError(
            f"y: labels {int(label.min())} to {int(label.max())} do not fit {classes} classes; "
            "expected 0 to classes - 1, and 0 or 1 for models with one logit"
        )
    return logits, label


def _warn_of_unsteady(source: Source, x) -> None:
    """Warn of a module whose answer for a record is no function of that record."""
    modules = source if isinstance(source, list | tuple | nn.ModuleList) else [source]
    for one in modules:
        if not isinstance(one, nn.Module):
            return
        if networks.unsteady(lambda part, one=one: answers(one, part).numpy(), x) > networks.STEADY:
            warnings.warn(f"the model {networks.UNSTEADY}", stacklevel=4)
            return


def answers(source: Source, x) -> torch.Tensor:
    """The logits that a source answers for records, float64 on the CPU; as for :func:`loss`."""
    if isinstance(source, nn.ModuleList):
        source = list(source)
    if isinstance(source, Ensemble | nn.Module):
        if x is None:
            raise InputError("x is None; give the records to put to the model")
        if isinstance(source, Ensemble):
            return source.logits(networks.as_tensor("x", x).cpu()).double()
        return _of_module(source, x).cpu().double()
    listed = isinstance(source, list | tuple)
    if listed and any(isinstance(one, nn.Module) for one in source):
        return _of_modules(source, x)
    others = [one for one in source if callable(one) or hasattr(one, "predict")] if listed else []
    if others or not (listed or hasattr(source, "__array__")):
        kind = f"a list of {type(others[0]).__name__}" if others else type(source).__name__
        raise InputError(
            f"source is {kind}; give an Ensemble, a torch.nn.Module or a list of "
            "them, or logits of shape (models, records, classes); what predict_proba answers will "
            'do with outputs="probabilities"'
        )
    return networks.as_tensor("logits", source).cpu().double()


def _of_modules(models: Sequence[Any], x) -> torch.Tensor:
    """Logits of several models, (models, records, classes)."""
    others = {type(one).__name__ for one in models if not isinstance(one, nn.Module)}
    if others:
        raise InputError(
            f"source is a list of models and of {', '.join(sorted(others))}; give modules alone"
        )
    each = [answers(one, x) for one in models]
    shapes = {tuple(one.shape) for one in each}
    if len(shapes) > 1:
        raise InputError(f"source: its models answer {sorted(shapes)[:3]}; give one shape")
    stack = torch.stack(each)
    return stack[..., None] if stack.ndim == 2 else stack


def _of_module(model: nn.Module, x) -> torch.Tensor:
    """Logits of one model in evaluation mode, which is left as it was."""
    with networks.evaluated(model):
        x = networks.as_read(model, x)
        # A copy of each part: the first layer may work in place.
        return torch.cat([networks.answered(model, part.clone()) for part in x.split(BATCH)])


def _of_label(logits: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    return logits.gather(-1, label.expand(logits.shape[0], -1).unsqueeze(-1)).squeeze(-1)


def _without(logits: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """The logits with the true label's at minus infinity."""
    index = label.expand(logits.shape[0], -1).unsqueeze(-1)
    return logits.scatter(-1, index, -torch.inf)
