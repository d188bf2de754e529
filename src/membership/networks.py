"""Somebody's network: records put to it in the form that it reads, and left as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from membership.arrays import as_real
from membership.errors import InputError

FAILURES = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError)
"""What torch and a model's own code raise on records that do not fit."""


def as_tensor(name: str, values: Any) -> torch.Tensor:
    """Numbers as a tensor of bool, int64 or a floating type, apart from any graph.

    Raises
    ------
    InputError
        They are no numbers, ragged, complex or partly masked.
    """
    if not isinstance(values, torch.Tensor):
        array = as_real(name, values)
        # torch warns where it is to share memory that may not be written; nothing is, here.
        values = torch.from_numpy(array if array.flags.writeable else array.copy())
    values = values.detach()
    if values.is_complex() or values.is_quantized or values.layout != torch.strided:
        raise InputError(f"{name}: a tensor of {values.dtype}; give real numbers in a dense tensor")
    whole = not values.is_floating_point() and values.dtype != torch.bool
    return values.long() if whole else values


def as_read(
    model: nn.Module, x: Any, ask: Callable[[torch.Tensor], Any] | None = None
) -> torch.Tensor:
    """Records on the model's device, in the type that it reads.

    Whole numbers stay as they are where the model takes them, as one with an embedding does;
    everything else comes in the floating type of its weights.

    Parameters
    ----------
    model : nn.Module
    x : array_like of shape (records, ...)
    ask : callable, optional
        How the first two records are put to it; the model itself where nothing is said.

    Raises
    ------
    InputError
        `x` holds no records or no numbers, or the model fails on the first two.
    """
    x = as_tensor("x", x)
    if x.ndim == 0 or len(x) == 0:
        raise InputError(f"x has shape {tuple(x.shape)}; give at least one record")
    ask = ask or model
    weight = next((v for v in model.parameters() if v.is_floating_point()), torch.zeros(1))
    forms = [x.to(weight.device, weight.dtype)]
    if not x.is_floating_point():
        forms.insert(0, x.to(weight.device, torch.int64))
    said = []
    for form in forms:
        try:
            ask(form[:2].clone())
        except FAILURES as error:
            said.append(error)
        else:
            return form
    # A number that is no token of the model's is an IndexError; its type would be another.
    error = said[0] if isinstance(said[0], IndexError) else said[-1]
    raise _unfit(x, error)


def answered(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What a model answers for records, an InputError where they do not fit it."""
    try:
        answer = model(x)
    except InputError:
        raise
    except FAILURES as error:
        raise _unfit(x, error) from None
    if not isinstance(answer, torch.Tensor):
        raise InputError(
            f"model answers a {type(answer).__name__}; give one whose answer is the tensor of "
            "logits (records, classes)"
        )
    return answer


def _unfit(x: torch.Tensor, error: BaseException) -> InputError:
    shape = tuple(x.shape)
    return InputError(f"x of shape {shape} cannot be put to the model: {line(error)}")


def line(error: BaseException) -> str:
    """The first line of another library's message, or the error's name."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def evaluated(model: nn.Module) -> Iterator[None]:
    """All parts in evaluation mode, without gradients; afterwards everything is as it was.

    Each part goes back into its own mode, and buffers and random states to what they held.

    Raises
    ------
    InputError
        The model has parameters whose shape its first records would set.
    """
    require_shapes(model)
    # A script that was frozen has no mode any more.
    modes = [(part, part.training) for part in model.modules() if hasattr(part, "training")]
    held = [(value, value.clone()) for value in model.buffers()]
    with kept_random(model), torch.no_grad():
        try:
            for part, _ in modes:
                # Not eval(): what a part's own method does beside could not be undone.
                part.training = False
            yield
        finally:
            for part, mode in modes:
                part.training = mode
            for value, before in held:
                value.copy_(before)


def kept_random(model: nn.Module) -> Any:
    """A context that leaves torch's random states as they were."""
    devices = {value.device for value in model.parameters() if value.is_cuda}
    return torch.random.fork_rng(devices=list(devices))


def require_shapes(model: nn.Module) -> None:
    """Raise an InputError where a parameter or buffer waits for the first records."""
    for name, value in (*model.named_parameters(), *model.named_buffers()):
        if torch.nn.parameter.is_lazy(value):
            raise InputError(
                f"model: {name} has no shape yet; put a record to the model before, and train it"
            )


def require_logits(values: Any) -> None:
    """Raise an InputError where answers (..., classes) can only be probabilities.

    Rows from 0 to 1 that sum to 1, or many different numbers that all lie there: logits do not.
    """
    values = np.asarray(values)
    # A mean of softmaxes in float32 lies above 1 by its rounding; NaN is said elsewhere.
    if values.size == 0 or not (values.min() >= -1e-6 and values.max() <= 1 + 1e-6):
        return
    rows = values.reshape(-1, values.shape[-1])
    different = np.unique(rows).size
    # One number throughout says the same as a logit and as a probability.
    softmax = rows.shape[1] > 1 and different > 1 and np.allclose(rows.sum(axis=1), 1, atol=1e-3)
    sigmoid = len(rows) >= 5 and different >= (2 if rows.shape[1] == 1 else 10)
    if softmax or sigmoid:
        how = "its rows sum to 1" if softmax else f"all {rows.size} lie from 0 to 1"
        raise InputError(
            f"model answers probabilities: {how}; return what goes into the "
            f"{'softmax' if softmax else 'sigmoid'}"
        )
