"""Losses and gradients of single records, in blocks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.curvature.objective import (
    Loss,
    Objective,
    backward,
    gradients_at_once,
    gradients_by_graph,
    objective,
    to_train,
)

# Numbers a block of gradients may hold: 128 MB in float64.
BLOCK_NUMBERS = 1 << 24


def per_record_gradients(model: nn.Module, loss: Loss, x: Any, y: Any) -> np.ndarray:
    """The gradient of each record's loss with respect to all parameters.

    Parameters
    ----------
    model : nn.Module
        Any network whose answer for a record depends on that record alone.
    loss : callable
        ``loss(output, y)`` gives one value a record.
    x, y : array_like or torch.Tensor, shape (records, ...)
        Records and their targets.

    Returns
    -------
    numpy.ndarray of float64, shape (records, p)
        Parameters in the order of ``model.parameters()``, each row by row; evaluated in float64
        whatever the model's own precision.

    Raises
    ------
    InputError
        See `membership.curvature.objective`; or the gradients do not fit in memory.
    """
    goal = objective(model, loss, x, y)
    x, y = goal.records(x, y)
    needed = 8.0 * len(x) * goal.size
    memory.require(needed, f"{len(x):,} gradients", "ask for fewer records at a time")
    result = np.empty((len(x), goal.size))
    first = 0
    for block, _ in gradient_blocks(goal, x, y):
        result[first : first + len(block)] = block.cpu().numpy()
        first += len(block)
    return result


def gradient_blocks(
    goal: Objective, x: torch.Tensor, y: torch.Tensor
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Gradients (block, p) and losses (block,) of the records, block by block, in their order."""
    take = gradients_at_once if goal.vectorised else gradients_by_graph
    size = max(1, BLOCK_NUMBERS // goal.size)
    for some_x, some_y in zip(x.split(size), y.split(size), strict=True):
        yield take(goal, some_x, some_y)


def mean_gradient(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Gradient (p,) of the mean loss over the records."""
    total = torch.zeros(goal.size, dtype=torch.float64, device=goal.device)
    for some_x, some_y in record_blocks(x, y):
        part = to_train(goal)
        losses = goal.losses(part, some_x, some_y)
        total += backward(losses, part, torch.ones_like(losses)[None])[0]
    return total / len(x)


def record_blocks(x: torch.Tensor, y: torch.Tensor, size: int = 8192) -> Iterator[tuple]:
    """The records in blocks of at most `size`."""
    return zip(x.split(size), y.split(size), strict=True)
