"""A model's loss as a function of its parameters, checked and in float64.

Everything in this room goes through `Objective`: it holds a float64 copy of the model, so that
curvature is exact work whatever precision the model was trained in, and the model stays as it is.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from membership import networks
from membership.curvature.copies import Loss, RecordLoss, model_copy, padding_rows
from membership.curvature.differences import slopes_apart
from membership.curvature.suitable import require_suitable
from membership.errors import InputError

# Records whose losses are tried at a time.
TRIED = 8192
# Records on which the backward pass is compared with differences of the loss.
BACKWARD = 16
# What a record's loss may differ by, alone and beside another: float64's rounding is far below,
# and a batch norm's doing far above.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Objective:
    """A model with its loss a record; make one with `objective`.

    Attributes
    ----------
    module : nn.Module
        Float64 copy of the model; never trained here.
    loss : callable
        From outputs (records, ...) and targets to losses (records,).
    parameters, buffers : dict of torch.Tensor
        By name, in the model's order, on its device; of the parameters those that are trained,
        for a frozen one is a constant.
    model : nn.Module
        The model itself, to copy from.
    whole : bool
        Whether it reads whole numbers, as one with an embedding does.
    vectorised : bool
        Whether torch can take the gradients of many records at once.
    """

    module: nn.Module
    loss: Loss
    parameters: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]
    model: nn.Module
    whole: bool = False
    vectorised: bool = True

    @property
    def size(self) -> int:
        """Number of parameters, p."""
        return sum(value.numel() for value in self.parameters.values())

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return next(iter(self.parameters.values())).device

    def vector(self) -> torch.Tensor:
        """All parameters in one vector (p,), in the model's order, each row by row."""
        return self.flatten(self.parameters)

    def flatten(self, values: dict[str, torch.Tensor]) -> torch.Tensor:
        """Values a parameter as one vector (p,)."""
        return torch.cat([value.reshape(-1) for value in values.values()])

    def unflatten(self, vector: torch.Tensor) -> dict[str, torch.Tensor]:
        """A vector (p,) as values a parameter."""
        parts = vector.split([value.numel() for value in self.parameters.values()])
        return {
            name: part.view(value.shape)
            for part, (name, value) in zip(parts, self.parameters.items(), strict=True)
        }

    def to(self, dtype: torch.dtype) -> "Objective":
        """The same in another precision, for what need not be exact."""
        other = _copied(self.model, self.loss, dtype)
        return replace(other, whole=self.whole, vectorised=self.vectorised)

    def losses(self, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Losses (records,) of the model with these parameters."""
        with _differentiable():
            # A copy: the first layer may work in place.
            output = functional_call(self.module, (parameters, self.buffers), (x.clone(),))
            return self.loss(networks.with_records(output, len(x)), y)

    def records(self, x: Any, y: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Records as this objective reads them, on its device.

        Float64; labels that are whole numbers, and records where the model reads such, stay whole.

        Raises
        ------
        InputError
            There are none, `x` and `y` differ in length, or a value is no finite number.
        """
        x, y = (networks.as_tensor(*named).to(self.device) for named in (("x", x), ("y", y)))
        x = x.to(torch.int64 if self.whole and not x.is_floating_point() else torch.float64)
        y = y.double() if y.is_floating_point() else y
        if x.ndim == 0 or y.ndim == 0 or len(x) != len(y) or len(x) == 0:
            raise InputError(
                f"x of shape {tuple(x.shape)}, y of shape {tuple(y.shape)}: "
                "expected the same number of records, at least one"
            )
        if not torch.isfinite(x).all() or not torch.isfinite(y).all():
            raise InputError("x or y: some values are not finite (NaN or infinity)")
        return x, y

    def queried(self, query: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """The records to query, each of whose losses is a finite number; as `records`."""
        x, y = self.records(*pair("query", query))
        _require_losses(self, "query", x, y)
        return x, y


@contextmanager
def _differentiable() -> Iterator[None]:
    """Attention and weight norm by plain formulas: torch's fused ones have no second derivatives.

    Those of a weight norm it does give, but without the share of the norm itself.
    """
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH), _PlainNorm():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


class _PlainNorm(TorchFunctionMode):
    """Writes a weight norm out, wherever it is called."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "_weight_norm":
            direction, size, dim = (*args, *(kwargs or {}).values())
            return direction * (size / torch.norm_except_dim(direction, 2, dim))
        return func(*args, **(kwargs or {}))


def pair(name: str, value: Any) -> tuple[Any, Any]:
    """Records and their targets, or an InputError: a data loader is neither."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InputError(
            f"{name} is a {type(value).__name__}; give the pair (x, y) of all its records and "
            "their targets"
        )
    return value[0], value[1]


def objective(model: nn.Module, loss: Loss, x: Any, y: Any) -> Objective:
    """Check a model and its loss, tried on the records, and copy it to float64."""
    require_suitable(model)
    goal = _copied(model, loss, torch.float64)
    if not torch.isfinite(goal.vector()).all():
        raise InputError("model: some parameters are not finite; its training has diverged")
    x = networks.as_tensor("x", x)
    if not x.is_floating_point():
        goal = replace(goal, whole=_reads_whole(goal, x))
    records = goal.records(x, y)
    first = [part[:2] for part in records]
    with networks.kept_random(goal.module):
        _check_loss(goal, *first)
        _check_function(goal, *first)
        _require_losses(goal, "the records", *records)
        _check_backward(goal, *(part[:BACKWARD] for part in records))
        return replace(goal, vectorised=_vectorises(goal, *first))


def _copied(model: nn.Module, loss: Loss, dtype: torch.dtype) -> Objective:
    """An objective on a copy of the model in another precision."""
    # Derivatives are taken by what is passed to the copy: its own tensors are constants.
    module = model_copy(model, dtype)
    trained = {name for name, value in model.named_parameters() if value.requires_grad}
    return Objective(
        module,
        RecordLoss(loss, dtype),
        {name: value.detach() for name, value in module.named_parameters() if name in trained},
        {name: value.detach() for name, value in module.named_buffers()},
        model,
    )


def _reads_whole(goal: Objective, x: torch.Tensor) -> bool:
    with networks.kept_random(goal.module), torch.no_grad():
        return not networks.as_read(goal.module, x[:2], _answers(goal)).is_floating_point()


def _answers(goal: Objective) -> Callable[[torch.Tensor], Any]:
    values = (goal.parameters, goal.buffers)
    return lambda x: functional_call(goal.module, values, (x,))


def _check_loss(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
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
            f"({len(x)},), as torch losses give with reduction='none'"
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


def _require_any_precision(goal: Objective, x: torch.Tensor) -> None:
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


def _require_loss(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
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
    advice = ""
    if isinstance(output, torch.Tensor):
        with suppress(*networks.FAILURES):
            goal.loss(output.float(), y)
            advice = (
                "; answers are float64: cast the numbers that it holds, as "
                "weight.to(output.dtype), or give it as a module that holds them, as "
                "nn.CrossEntropyLoss(weight=..., reduction='none')"
            )
    raise InputError(f"loss: it fails on what the model answers: {why}{advice}") from None


def _check_function(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
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


def _check_backward(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
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


def to_train(goal: Objective) -> dict[str, torch.Tensor]:
    return {name: value.clone().requires_grad_() for name, value in goal.parameters.items()}


def _tried(goal: Objective, what: str, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> Any:
    try:
        return goal.losses(parameters, x, y)
    except networks.FAILURES as error:
        raise InputError(f"model or loss: they fail on {what}: {networks.line(error)}") from None


def _require_losses(goal: Objective, what: str, x: torch.Tensor, y: torch.Tensor) -> None:
    """Try all records once, before any work."""
    with torch.no_grad():
        losses = [
            _tried(goal, what, goal.parameters, *part)
            for part in zip(x.split(TRIED), y.split(TRIED), strict=True)
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


def _vectorises(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether torch takes the gradients of records side by side, and right."""
    with derivable():
        apart = gradients_by_graph(goal, x, y)[0]
    try:
        together = gradients_at_once(goal, x, y)[0]
    except networks.FAILURES:
        return False
    return torch.allclose(together, apart, rtol=1e-6, atol=1e-9 * float(apart.abs().max()))


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


def gradients_at_once(
    goal: Objective, x: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients (records, p) and losses (records,), vectorised over the records."""

    def loss_of_one(parameters, x, y):
        value = goal.losses(parameters, x.unsqueeze(0), y.unsqueeze(0)).squeeze(0)
        return value, value

    gradients, losses = vmap(grad(loss_of_one, has_aux=True), in_dims=(None, 0, 0))(
        goal.parameters, x, y
    )
    return torch.cat([g.flatten(1) for g in gradients.values()], dim=1), losses


def gradients_by_graph(
    goal: Objective, x: torch.Tensor, y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same, backward through one graph of all records, for what cannot be vectorised."""
    parameters = to_train(goal)
    losses = goal.losses(parameters, x, y)
    rows = torch.eye(len(x), dtype=losses.dtype, device=losses.device)
    return backward(losses, parameters, rows), losses.detach()


def backward(
    values: torch.Tensor, parameters: dict[str, torch.Tensor], rows: torch.Tensor
) -> torch.Tensor:
    """Derivatives (count, p) of sums of values (n,), weighted by each of rows (count, n)."""
    inputs = list(parameters.values())

    def derivatives(weights: torch.Tensor, batched: bool) -> torch.Tensor:
        gradients = torch.autograd.grad(
            values,
            inputs,
            weights,
            retain_graph=True,
            allow_unused=True,
            is_grads_batched=batched,
        )
        # Not materialize_grads, whose zeros have no axis for the batch.
        shape = weights.shape[:-1]
        parts = [
            weights.new_zeros(*shape, value.numel()) if part is None else part.reshape(*shape, -1)
            for part, value in zip(gradients, inputs, strict=True)
        ]
        return torch.cat(parts, dim=-1)

    if not values.requires_grad:
        return values.new_zeros(len(rows), sum(value.numel() for value in inputs))
    try:
        return derivatives(rows, batched=True)
    except RuntimeError:
        return torch.stack([derivatives(row, batched=False) for row in rows])
