"""A model's loss as a function of its parameters, checked and in float64.

Everything in this room goes through `Objective`: it holds a float64 copy of the model, so that
curvature is exact work whatever precision the model was trained in.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.func import functional_call

from membership.errors import InputError

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
RANDOM_LAYERS = (nn.modules.dropout._DropoutNd, nn.RReLU, nn.FractionalMaxPool2d)


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
        By name, in the model's order, on its device.
    """

    module: nn.Module
    loss: Loss
    parameters: dict[str, torch.Tensor]
    buffers: dict[str, torch.Tensor]

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
        module = copy.deepcopy(self.module).to(dtype)
        return Objective(
            module,
            self.loss,
            {name: value.detach() for name, value in module.named_parameters()},
            {name: value.detach() for name, value in module.named_buffers()},
        )

    def losses(self, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Losses (records,) of the model with these parameters."""
        return self.loss(functional_call(self.module, (parameters, self.buffers), (x,)), y)

    def records(self, x: Any, y: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Records as this objective reads them: float64, labels as they are, on its device.

        Raises
        ------
        InputError
            There are none, `x` and `y` differ in length, or a value is not finite.
        """
        x = torch.as_tensor(x).to(self.device, torch.float64)
        y = torch.as_tensor(y).to(self.device)
        y = y.double() if y.is_floating_point() else y
        if x.ndim == 0 or y.ndim == 0 or len(x) != len(y) or len(x) == 0:
            raise InputError(
                f"x of shape {tuple(x.shape)}, y of shape {tuple(y.shape)}: "
                "expected the same number of records, at least one"
            )
        if not torch.isfinite(x).all() or not torch.isfinite(y).all():
            raise InputError("x or y: some values are not finite (NaN or infinity)")
        return x, y


def objective(model: nn.Module, loss: Loss, x: Any, y: Any) -> Objective:
    """Check a model and its loss, tried on the first records, and copy it to float64."""
    _check_model(model)
    module = copy.deepcopy(model).double().requires_grad_(True)
    goal = Objective(
        module,
        loss,
        {name: value.detach() for name, value in module.named_parameters()},
        {name: value.detach() for name, value in module.named_buffers()},
    )
    if not torch.isfinite(goal.vector()).all():
        raise InputError("model: some parameters are not finite; its training has diverged")
    _check_loss(goal, *goal.records(x[:2], y[:2]))
    return goal


def _check_model(model: nn.Module) -> None:
    if not isinstance(model, nn.Module):
        raise InputError(f"model = {type(model).__name__}: expected a torch nn.Module")
    for name, part in model.named_modules():
        random = isinstance(part, RANDOM_LAYERS)
        if part.training and (random or isinstance(part, nn.modules.batchnorm._BatchNorm)):
            raise InputError(
                f"model: {name or 'the model'} is {type(part).__name__} in training mode, so a "
                "record's loss is not a function of that record alone; call model.eval() first"
            )
    frozen = [name for name, value in model.named_parameters() if not value.requires_grad]
    if frozen:
        raise InputError(
            f"model: {', '.join(frozen[:3])} {'is' if len(frozen) == 1 else 'are'} frozen "
            f"({len(frozen)} parameters in all); unfreeze with requires_grad_(True), or pass a "
            "model without them"
        )
    if not any(True for _ in model.parameters()):
        raise InputError("model: it has no parameters")


def _check_loss(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
    try:
        value = goal.loss(goal.module(x), y)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"model or loss: they fail on the first records: {reason}") from error
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
