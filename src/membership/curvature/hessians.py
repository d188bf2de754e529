"""The exact Hessian of the mean loss, and products with it."""

from typing import Any

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import from_zero
from membership.curvature.gradients import BLOCK_NUMBERS, record_blocks
from membership.curvature.layered import layered_hessian, linear_chain
from membership.curvature.objective import (
    Loss,
    Objective,
    backward,
    derivable,
    objective,
    to_train,
)
from membership.errors import InputError


def hessian(model: nn.Module, loss: Loss, x: Any, y: Any, weight_decay: float = 0.0) -> np.ndarray:
    r"""The exact Hessian of the mean loss over the records.

    Networks of linear layers in a row go by closed form, layer by layer (see
    `membership.curvature.layered`); any other goes by Hessian-vector products with the identity,
    many at a time.

    Parameters
    ----------
    model : nn.Module
        Any small network whose answer for a record depends on that record alone.
    loss : callable
        ``loss(output, y)`` gives one value a record, twice differentiable.
    x, y : array_like or torch.Tensor, shape (records, ...)
        Records and their targets.
    weight_decay : float
        :math:`\alpha \ge 0`: adds :math:`\alpha I`, for the loss with
        :math:`\frac{\alpha}{2}\|w\|^2`.

    Returns
    -------
    numpy.ndarray of float64, shape (p, p)
        Symmetric; parameters in the order of ``model.parameters()``.

    Raises
    ------
    InputError
        See `membership.curvature.objective`; `weight_decay` is negative; or the matrix does not
        fit in memory.
    """
    goal = objective(model, loss, x, y)
    x, y = goal.records(x, y)
    return hessian_matrix(goal, x, y, weight_decay).cpu().numpy()


def hessian_matrix(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, weight_decay: float = 0.0
) -> torch.Tensor:
    """As `hessian`, of a checked objective and as a tensor on its device."""
    from_zero("weight_decay", weight_decay)
    memory.require(
        8.0 * goal.size**2 + 16.0 * BLOCK_NUMBERS,
        f"the exact Hessian of {goal.size:,} parameters",
        "use solver='cg', which needs none of it",
        goal.device,
    )
    chain = linear_chain(goal, x[:1])
    matrix = (
        hessian_by_products(goal, x, y) if chain is None else layered_hessian(goal, chain, x, y)
    )
    matrix.diagonal().add_(weight_decay)
    return matrix


def hessian_by_products(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The Hessian (p, p) of the mean loss by products with blocks of the identity."""
    require_second_derivatives(goal, x[:2], y[:2])
    matrix = torch.empty(goal.size, goal.size, dtype=torch.float64, device=goal.device)
    size = max(1, min(256, BLOCK_NUMBERS // goal.size))
    for first in range(0, goal.size, size):
        count = min(size, goal.size - first)
        rows = torch.zeros(count, goal.size, dtype=torch.float64, device=goal.device)
        rows[torch.arange(count), first + torch.arange(count)] = 1.0
        matrix[first : first + count] = hessian_products(goal, x, y, rows)
    return matrix


def hessian_products(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, vectors: torch.Tensor
) -> torch.Tensor:
    """Products (count, p) of the mean loss's Hessian with many vectors (count, p) at once.

    The gradient's graph is gone back through for a block of directions at a time.
    """
    if len(vectors) > 64:
        return torch.cat([hessian_products(goal, x, y, some) for some in vectors.split(64)])
    total = torch.zeros_like(vectors)
    for some_x, some_y in record_blocks(x, y, size=max(1, BLOCK_NUMBERS // (8 * len(vectors)))):
        parameters = to_train(goal)
        gradient = _gradient(goal, parameters, some_x, some_y)
        total += backward(gradient, parameters, vectors)
    return total / len(x)


def _gradient(goal: Objective, parameters: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Gradient (p,) of the summed loss, with its graph."""
    gradient = torch.autograd.grad(
        goal.losses(parameters, x, y).sum(),
        list(parameters.values()),
        create_graph=True,
        materialize_grads=True,
    )
    return torch.cat([part.reshape(-1) for part in gradient])


def require_second_derivatives(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> None:
    """Raise an InputError where torch has no second derivatives of the model."""
    parameters = to_train(goal)
    with derivable():
        gradient = _gradient(goal, parameters, x, y)
        backward(gradient, parameters, torch.ones_like(gradient)[None])
    steps, seen = [gradient.grad_fn], set()
    while steps:
        step = steps.pop()
        if step is None or step in seen:
            continue
        # What torch puts behind a function that is once differentiable: asked for the derivatives
        # of chosen tensors, it passes this by and leaves the function's share out.
        if step.name() == "torch::autograd::Error":
            raise InputError(
                "model or loss: a function of its own is marked once_differentiable, so there is "
                "no Hessian; give its backward in operations that torch differentiates"
            )
        seen.add(step)
        steps += [before for before, _ in step.next_functions]
