"""A model's loss as a function of its parameters, checked and in float64.

Everything in this room goes through `Objective`: it holds a float64 copy of the model, so that
curvature is exact work whatever precision the model was trained in, and the model stays as it is.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from membership import networks
from membership.arrays import one_of, whole
from membership.curvature.checks import (
    BACKWARD,
    check_backward,
    check_function,
    check_loss,
    derivable,
    require_losses,
    to_train,
)
from membership.curvature.copies import Loss, RecordLoss, model_copy
from membership.curvature.suitable import Parameters, chosen, require_suitable
from membership.errors import InputError

WORDS = {"hessian": "Hessian", "ggn": "Gauss-Newton matrix"}
MATRICES = tuple(WORDS)
# What an objective keeps in another precision.
KEPT = ("whole", "vectorised", "matrix", "batch_size")
MOST_RECORDS = 8192


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
    matrix : {"hessian", "ggn"}
        What stands for the curvature of the mean loss.
    batch_size : int, optional
        The most records that the model is asked about at a time.
    """

    module: nn.Module
    loss: Loss
    parameters: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]
    model: nn.Module
    whole: bool = False
    vectorised: bool = True
    matrix: str = "hessian"
    batch_size: int | None = None

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
        other = _copied(self.model, self.loss, dtype, set(self.parameters))
        kept = {name: getattr(self, name) for name in KEPT}
        return replace(other, **kept)

    def answers(self, parameters: dict, x: torch.Tensor) -> Any:
        """What the model answers with these parameters, (records, ...)."""
        with differentiable():
            # A copy: the first layer may work in place.
            output = functional_call(self.module, (parameters, self.buffers), (x.clone(),))
            return networks.with_records(output, len(x))

    def losses(self, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Losses (records,) of the model with these parameters."""
        with differentiable():
            return self.loss(self.answers(parameters, x), y)

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

    def blocks(
        self, x: torch.Tensor, y: torch.Tensor, size: int = MOST_RECORDS
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Records and their targets, at most `size` and `batch_size` at a time."""
        size = max(1, min(size, self.batch_size or size))
        return zip(x.split(size), y.split(size), strict=True)

    def queried(self, query: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """The records to query, each of whose losses is a finite number; as `records`."""
        x, y = self.records(*pair("query", query))
        require_losses(self, "query", x, y)
        return x, y


@contextmanager
def differentiable() -> Iterator[None]:
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


def objective(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    parameters: Parameters = None,
    matrix: str = "hessian",
    batch_size: int | None = None,
) -> Objective:
    """Check a model and its loss, tried on the records, and copy it to float64.

    `parameters` are those that curvature is asked of, as in `per_record_gradients`, and `matrix`
    what stands for it.
    """
    if batch_size is not None:
        whole("batch_size", batch_size)
    if not torch.is_grad_enabled():
        raise InputError("gradients are off: call this outside of torch.no_grad or inference_mode")
    one_of("matrix", matrix, MATRICES)
    require_suitable(model)
    goal = _copied(model, loss, torch.float64, chosen(model, parameters))
    goal = replace(goal, matrix=matrix, batch_size=batch_size)
    if not torch.isfinite(goal.vector()).all():
        raise InputError("model: some parameters are not finite; its training has diverged")
    x = networks.as_tensor("x", x)
    if not x.is_floating_point():
        goal = replace(goal, whole=_reads_whole(goal, x))
    records = goal.records(x, y)
    first = [part[:2] for part in records]
    with networks.kept_random(goal.module):
        check_loss(goal, *first)
        check_function(goal, *first)
        require_losses(goal, "the records", *records)
        check_backward(goal, *(part[:BACKWARD] for part in records))
        return replace(goal, vectorised=_vectorises(goal, *first))


def _copied(model: nn.Module, loss: Loss, dtype: torch.dtype, names: set[str]) -> Objective:
    """An objective of the parameters of these names, on a copy of the model in a precision."""
    # Derivatives are taken by what is passed to the copy: its own tensors are constants.
    module = model_copy(model, dtype)
    return Objective(
        module,
        RecordLoss(loss, dtype),
        {name: value.detach() for name, value in module.named_parameters() if name in names},
        {name: value.detach() for name, value in module.named_buffers()},
        model,
    )


def _reads_whole(goal: Objective, x: torch.Tensor) -> bool:
    with networks.kept_random(goal.module), torch.no_grad():
        return not networks.as_read(goal.module, x[:2], _answers(goal)).is_floating_point()


def _answers(goal: Objective) -> Callable[[torch.Tensor], Any]:
    values = (goal.parameters, goal.buffers)
    return lambda x: functional_call(goal.module, values, (x,))


def _vectorises(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether torch takes the gradients of records side by side, and right."""
    with derivable():
        apart = gradients_by_graph(goal, x, y)[0]
    try:
        together = gradients_at_once(goal, x, y)[0]
    except networks.FAILURES:
        return False
    return torch.allclose(together, apart, rtol=1e-6, atol=1e-9 * float(apart.abs().max()))


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
