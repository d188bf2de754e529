"""Somebody's network: records put to it in the form that it reads, and left as it was."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from scipy.special import logit
from torch import nn
from torch.utils.data import DataLoader, Dataset

from membership.arrays import FloatArray, as_real, one_of
from membership.errors import InputError

FAILURES = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, KeyError)
"""What torch and a model's own code raise on records that do not fit."""
OUTPUTS = ("logits", "probabilities")
SURE = 1e-9
"""A forest answers probabilities of 0 and 1, whose log-odds are infinite; they stop here."""


def as_tensor(name: str, values: Any) -> torch.Tensor:
    """Numbers as a tensor of bool, int64 or a floating type, apart from any graph.

    Raises
    ------
    InputError
        They are no numbers, ragged, complex or partly masked.
    """
    if isinstance(values, Dataset | DataLoader):
        raise InputError(
            f"{name} is a {type(values).__name__}; give its records in one array, and their labels "
            "beside them"
        )
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
    whole, real = x.to(weight.device, torch.int64), x.to(weight.device, weight.dtype)
    if not x.is_floating_point():
        forms = {"whole": whole, "real": real}
    else:
        # Of a table of words each number is a float, and the embedding still asks for whole ones.
        forms = {"real": real} | ({"whole": whole} if torch.equal(x, x.trunc()) else {})
    said = {}
    for kind, form in forms.items():
        try:
            ask(form[:2].clone())
        except FAILURES as error:
            said[kind] = error
        else:
            return form
    # A number that is no word of the model's is one error; of the other type it is another.
    kind = "whole" if "whole" in said and _reads_whole(model, ask, whole) else "real"
    raise _unfit(x, said[kind])


def _reads_whole(model: nn.Module, ask: Callable[[torch.Tensor], Any], x: torch.Tensor) -> bool:
    """Whether the model takes whole numbers, if not these: 0 is a word of every vocabulary."""
    if any(isinstance(part, nn.Embedding | nn.EmbeddingBag) for part in model.modules()):
        return True
    try:
        ask(torch.zeros_like(x[:2]))
    except FAILURES:
        return False
    return True


def answered(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What a model answers for records, an InputError where they do not fit it."""
    try:
        answer = model(x)
    except InputError:
        raise
    except FAILURES as error:
        raise _unfit(x, error) from None
    # Transformers answer an object that has them.
    answer = getattr(answer, "logits", answer)
    if not isinstance(answer, torch.Tensor):
        raise InputError(
            f"model answers a {type(answer).__name__}; give one whose answer is the tensor of "
            "logits (records, classes)"
        )
    return with_records(answer, len(x))


def with_records(answer: Any, n: int) -> Any:
    """An answer to n records; one that is squeezed has lost the axis of a single record."""
    squeezed = isinstance(answer, torch.Tensor) and n == 1 and answer.shape[:1] != (1,)
    return answer[None] if squeezed else answer


def untouched(module: nn.Module) -> bool:
    """Whether nothing is put on a module: no hook, and no forward but its class's."""
    own = vars(module)
    return "forward" not in own and not any(own[name] for name in own if name.endswith("hooks"))


def unsteady(ask: Callable[[Any], FloatArray], x: Any) -> float:
    """How far answers to the first records move with what is asked beside them, or once more.

    Relative to the largest answer, or to 1. None does of a record that is answered by itself, but
    by rounding; of a norm over all records that are asked at once, or of a dropout that is left on,
    they do.
    """
    first = x[:16]
    if len(first) < 4:
        return 0.0
    few = len(first) // 3
    together = ask(first)
    apart = np.concatenate([ask(first[:-few]), ask(first[-few:])]) if few > 1 else ask(first)
    return float(np.abs(together - apart).max() / max(1.0, np.abs(together).max()))


STEADY = 1e-2
"""What half precision may round an answer to otherwise, in another batch."""
UNSTEADY = (
    "answers the same records otherwise when others are asked beside them: it draws, as a dropout "
    "that is left on does, or takes a norm over the records that are asked at once. The numbers "
    "are those of one asking"
)


def _unfit(x: torch.Tensor, error: BaseException) -> InputError:
    shape = tuple(x.shape)
    numbers = "" if x.is_floating_point() else f", whole numbers {int(x.min())} to {int(x.max())},"
    return InputError(f"x of shape {shape}{numbers} cannot be put to the model: {line(error)}")


def line(error: BaseException) -> str:
    """The first line of another library's message, or the error's name."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def evaluated(model: nn.Module) -> Iterator[None]:
    """All parts in evaluation mode, without gradients; afterwards everything is as it was.

    Each part goes back into its own mode, and buffers and random states to what they held. The
    model answers in its own precision, also where the caller has switched autocast on.

    Raises
    ------
    InputError
        The model has parameters whose shape its first records would set.
    """
    require_shapes(model)
    # A script that was frozen has no mode any more.
    modes = [(part, part.training) for part in model.modules() if hasattr(part, "training")]
    held = [(value, value.clone()) for value in model.buffers()]
    with kept_random(model), torch.no_grad(), own_precision(model):
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


@contextmanager
def own_precision(model: nn.Module) -> Iterator[None]:
    """No autocast of the caller's on any device that the model is on."""
    with ExitStack() as off:
        for device in {"cpu", *(value.device.type for value in model.parameters())}:
            off.enter_context(torch.autocast(device, enabled=False))
        yield


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


def as_logits(values: Any, outputs: str | None = None, *, apart: bool = False) -> FloatArray:
    """What models answered, (..., classes), as logits.

    Parameters
    ----------
    values : array_like
        All that was answered: a few of many logits may well lie from 0 to 1.
    outputs : {"logits", "probabilities"}, optional
        What they are. Where nothing is said, numbers that may be probabilities are refused: rows
        from 0 to 1 that sum to 1, or many different numbers that all lie there.
    apart : bool
        Whether each is the answer for a label of its own, and the classes of a record are not
        alternatives.

    Raises
    ------
    InputError
        They may be either and nothing is said, or they are no probabilities.
    """
    values = np.asarray(values, dtype=np.float64)
    if outputs is not None:
        one_of("outputs", outputs, OUTPUTS)
    if outputs == "logits" or values.size == 0:
        return values
    # A mean of softmaxes in float32 lies above 1 by its rounding; NaN is said elsewhere.
    within = bool(values.min() >= -1e-6 and values.max() <= 1 + 1e-6)
    rows = values.reshape(-1, values.shape[-1])
    alternatives = rows.shape[1] > 1 and not apart
    add_up = within and alternatives and np.allclose(rows.sum(axis=1), 1, atol=1e-3)
    if outputs == "probabilities":
        if not within or (alternatives and not add_up):
            raise InputError(
                f'outputs = "probabilities": the answers lie from {values.min():.3g} to '
                f"{values.max():.3g}{'' if within else ', outside 0 and 1'}; give probabilities"
                f"{' that sum to 1 in each row' * alternatives}, or logits"
            )
        values = np.clip(values, SURE, 1 - SURE)
        return np.log(values) if alternatives else logit(values)
    if within:
        _refuse_doubtful(rows, add_up)
    return values


def _refuse_doubtful(rows: FloatArray, add_up: bool) -> None:
    """Raise an InputError where rows of numbers from 0 to 1 may be probabilities."""
    different = np.unique(rows).size
    # One number throughout says the same as a logit and as a probability.
    softmax = add_up and different > 1
    if softmax or (len(rows) >= 5 and different >= (2 if rows.shape[1] == 1 else 10)):
        how = "its rows sum to 1" if softmax else f"all {rows.size} lie from 0 to 1"
        raise InputError(
            f"model answers probabilities, or so it seems: {how}; return what goes into the "
            f"{'softmax' if softmax else 'sigmoid'}, or say what they are by "
            'outputs="logits" or outputs="probabilities"'
        )
