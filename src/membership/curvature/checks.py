"""What a model's loss must be before it is differentiated, tried on the first records."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.func import functional_call

from membership import networks
from membership.curvature.copies import padding_rows
from membership.curvature.differences import slopes_apart
from membership.errors import InputError
from membership.progress import told

if TYPE_CHECKING:
    from membership.curvature.objective import Objective

# Records on which the backward pass is compared with differences of the loss.
BACKWARD = 16
# What a record's loss may differ by, alone and beside another: float64's rounding is far below,
# and a batch norm's doing far above.
ROUNDING = 1e-6


def check_loss(goal: "Objective", x: torch.Tensor, y: torch.Tensor) -> None:
    """One finite differentiable value a record, in which nothing but the model is to be trained."""
    try:
        value = _tried(goal, "the first records", to_train(goal), x, y)
    except InputError:
        _require_any_precision(goal, x)
        _require_loss(goal, x, y)
        raise
    if not isinstance(value, torch.Tensor) or value.shape != (len(x),):
        shape = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
        raise InputError(
            f"loss: it gave {shape} for {len(x)} records; expected one value a record, shape "
            f"({len(x)},), as torch losses give with reduction='none', and .flatten(1).sum(1) "
            f"where a record has several{_of_shapes(goal, x, y)}"
        )
    if not value.requires_grad:
        raise InputError("loss: it cannot be differentiated (its value has no gradient)")
    if not torch.isfinite(value).all():
        raise InputError("loss: it is not finite on the first records")
    if _tried(goal, "the first records", goal.parameters, x, y).requires_grad:
        raise InputError(
            "model or loss: a hook, a part or the loss reads trainable tensors that are not among "
            "the parameters of the model that was given, such as another model's, or this one's "
            "own where a hook or forward does not reach them through self (a copy of the model is "
            "differentiated); their share of the derivatives would be lost"
        )


def _require_any_precision(goal: "Objective", x: torch.Tensor) -> None:
    """Raise an InputError where the model itself takes what its copy in float64 does not."""
    try:
        with networks.evaluated(goal.model):
            networks.as_read(goal.model, x)
            goal.module(x.clone())
    except InputError:
        return
    except networks.FAILURES as failed:
        raise InputError(
            "model: a float64 copy, which is differentiated, fails where the model does not: "
            f"{networks.line(failed)}; take the precision from the input, without x.float(), and "
            "let no hook or forward reach the model otherwise than through self"
        ) from None


def _require_loss(goal: "Objective", x: torch.Tensor, y: torch.Tensor) -> None:
    """Raise an InputError that names the loss, where it fails on what the model answers."""
    try:
        output = functional_call(goal.module, (to_train(goal), goal.buffers), (x.clone(),))
    except networks.FAILURES:
        return
    try:
        goal.loss(output, y)
    except networks.FAILURES as failed:
        why = networks.line(failed)
    else:
        return
    advice = _of_shapes(goal, x, y)
    if isinstance(output, torch.Tensor):
        with suppress(*networks.FAILURES):
            goal.loss(output.float(), y)
            advice = (
                "; answers are float64: cast the numbers that it holds, as "
                "weight.to(output.dtype), or give it as a module that holds them, as "
                "nn.CrossEntropyLoss(weight=..., reduction='none')"
            )
    raise InputError(f"loss: it fails on what the model answers: {why}{advice}") from None


def _of_shapes(goal: "Objective", x: torch.Tensor, y: torch.Tensor) -> str:
    """What to give where the model's answers have another shape than as many targets."""
    answers = replace(goal, loss=lambda output, y: output)
    try:
        answer = answers.losses(goal.parameters, x, y)
    except networks.FAILURES:
        return ""
    if not isinstance(answer, torch.Tensor) or answer.numel() != y.numel():
        return ""
    if answer.shape == y.shape:
        return ""
    shapes = f"{tuple(answer.shape)} for {len(x)} records, y has {tuple(y.shape)}"
    turn = "y.squeeze(1)" if answer.ndim == 1 else f"y.reshape({(-1, *answer.shape[1:])})"
    return f"; the model answers {shapes}: give {turn}"


def check_function(goal: "Objective", x: torch.Tensor, y: torch.Tensor) -> None:
    """Refuse a loss that is not a function of the parameters and of its record alone."""
    held = {name: value.clone() for name, value in goal.buffers.items()}
    drawn = _random_states(goal.device)
    with torch.no_grad():
        losses = _tried(goal, "the first records", goal.parameters, x, y)
        again = _tried(goal, "the first records", goal.parameters, x, y)
        random = any(
            not torch.equal(*both) for both in zip(drawn, _random_states(goal.device), strict=True)
        )
        # A count of calls is no part of the loss where the losses are the same.
        moved = [
            name
            for name, value in goal.buffers.items()
            if value.is_floating_point() and not _same(value, held[name])
        ]
        if random or moved or not torch.equal(losses, again):
            why = f"its buffer {moved[0]} changes" if moved else "it draws random numbers"
            raise InputError(
                f"model: {why} when a record is put to it, so its loss is no function of its "
                "parameters; call model.eval() first, or pass training=False where it says so"
            )
        parts = zip(x.split(1), y.split(1), strict=True)
        alone = torch.cat([_tried(goal, "one record", goal.parameters, *part) for part in parts])
    apart = float((alone - losses).abs().max())
    if apart > ROUNDING * (1 + float(losses.abs().max())):
        raise InputError(
            f"model or loss: a record's loss is {apart:.2g} away from itself when another record "
            "lies beside it; expected a function of that record alone, with the records along the "
            "first axis"
        )


def check_backward(goal: "Objective", x: torch.Tensor, y: torch.Tensor) -> None:
    """Refuse a loss whose backward pass is not its derivative."""
    with derivable():
        apart = slopes_apart(
            lambda values: goal.losses(values, x, y), goal.parameters, padding_rows(goal.module)
        )
    if apart is not None:
        raise InputError(
            f"model or loss: along one direction the loss has the slope {apart[0]:.3g} and its "
            f"backward pass gives {apart[1]:.3g}, so its gradient is no derivative; take out what "
            "changes gradients alone (a backward hook, a reversal, a straight-through function, a "
            "detach, the padding_idx of an embedding whose row is read elsewhere), and freeze what "
            "is not trained by requires_grad_(False)"
        )


def _same(left: torch.Tensor, right: torch.Tensor) -> bool:
    return torch.equal(left, right) or bool(torch.isnan(left).any())


def _random_states(device: torch.device) -> list[torch.Tensor]:
    states = [torch.get_rng_state()]
    return states if device.type != "cuda" else [*states, torch.cuda.get_rng_state(device)]


def to_train(goal: "Objective") -> dict[str, torch.Tensor]:
    return {name: value.clone().requires_grad_() for name, value in goal.parameters.items()}


def _tried(goal: "Objective", what: str, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> Any:
    try:
        return goal.losses(parameters, x, y)
    except networks.FAILURES as error:
        raise InputError(f"model or loss: they fail on {what}: {networks.line(error)}") from None


def require_losses(goal: "Objective", what: str, x: torch.Tensor, y: torch.Tensor) -> None:
    """Try all records once, before any work."""
    with torch.no_grad():
        losses = [
            _tried(goal, what, goal.parameters, *part)
            for part in told(goal.blocks(x, y), len(x), "losses")
        ]
    lost = (~torch.isfinite(torch.cat(losses))).nonzero().flatten()
    if len(lost):
        raise InputError(f"loss: it is not finite{named(lost)} of {what}")


def named(records: torch.Tensor) -> str:
    """The first of some records, by their indices, and how many they are."""
    if len(records) == 0:
        return ""
    more = "" if len(records) == 1 else f" (the first of {len(records)} such)"
    return f" at record {int(records[0])}{more}"


@contextmanager
def derivable() -> Iterator[None]:
    """A first try of derivatives; an InputError where torch has none."""
    try:
        yield
    except networks.FAILURES as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"model or loss: torch cannot take their derivatives ({networks.line(error)}); give "
            "them in operations that torch differentiates, without checkpoints"
        ) from None
