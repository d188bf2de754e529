"""Losses and gradients of single records, in blocks, and the view that white-box attacks take.

Everything the attacks of Suri et al. (2024) need of a model is linear in gradients. A
`WhiteBoxView` holds them once, in the basis where the Hessian is diagonal, so that any number of
dampings and controls can be scored from it without touching the model again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import FloatArray
from membership.curvature.checks import named, to_train
from membership.curvature.objective import (
    Loss,
    Objective,
    backward,
    gradients_at_once,
    gradients_by_graph,
    objective,
    pair,
)
from membership.errors import InputError

if TYPE_CHECKING:
    from membership.curvature.eigen import Spectrum

# Numbers a block of gradients may hold: 128 MB in float64.
BLOCK_NUMBERS = 1 << 24


def per_record_gradients(model: nn.Module, loss: Loss, x: Any, y: Any) -> np.ndarray:
    """The gradient of each record's loss with respect to all parameters that are trained.

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
        Parameters in the order of ``model.parameters()``, each row by row, without those that are
        frozen (``requires_grad`` is False); in float64 whatever the model's own precision. 0 for
        an embedding's row of padding, which no training moves.

    Raises
    ------
    InputError
        See `membership.curvature.objective`; some gradients are not finite; or they do not fit in
        memory.
    """
    goal = objective(model, loss, x, y)
    x, y = goal.records(x, y)
    needed = 8.0 * len(x) * goal.size
    memory.require(needed, f"{len(x):,} gradients", "ask for fewer records at a time")
    result = np.empty((len(x), goal.size))
    first = 0
    for block, _ in gradient_blocks(goal, x, y):
        require_finite_gradients(block, first)
        result[first : first + len(block)] = block.cpu().numpy()
        first += len(block)
    return result


def require_finite_gradients(block: torch.Tensor, first: int, what: str = "") -> None:
    """Raise an InputError that names the records of a block, from the first on, with none."""
    lost = (~torch.isfinite(block).all(1)).nonzero().flatten()
    if len(lost):
        raise InputError(
            f"model or loss: the gradient is not finite{named(lost + first)}{what}; a derivative "
            "does not exist there, as that of a norm, a root or a distance at 0: leave the record "
            "out, or add a small constant inside"
        )


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
    if not torch.isfinite(total).all():
        first = 0
        for block, losses in gradient_blocks(goal, x, y):
            require_finite_gradients(block, first, " of train")
            first += len(losses)
    return total / len(x)


def record_blocks(x: torch.Tensor, y: torch.Tensor, size: int = 8192) -> Iterator[tuple]:
    """The records in blocks of at most `size`."""
    return zip(x.split(size), y.split(size), strict=True)


@dataclass(frozen=True)
class WhiteBoxView:
    r"""Gradients and losses at the target model's parameters w, in one basis.

    Attributes
    ----------
    gradient : numpy.ndarray, shape (records, p)
        :math:`g = \nabla \ell(w, z)` of each queried record.
    loss : numpy.ndarray, shape (records,)
        :math:`\ell(w, z)`.
    mean_gradient : numpy.ndarray, shape (p,)
        :math:`\nabla L_1(w)`, of the mean loss over the training records.
    weight : numpy.ndarray, shape (p,)
        w itself.
    n_train : int
        Training records, n.
    """

    gradient: FloatArray
    loss: FloatArray
    mean_gradient: FloatArray
    weight: FloatArray
    n_train: int


def white_box_view(
    model: nn.Module, loss: Loss, train: tuple, query: tuple, spectrum: "Spectrum | None" = None
) -> WhiteBoxView:
    """Read a model once, for any number of scores.

    Parameters
    ----------
    model : nn.Module
        The target model.
    loss : callable
        ``loss(output, y)`` gives one value a record.
    train, query : (x, y)
        All training records, and the records to query.
    spectrum : Spectrum, optional
        Of the Hessian over the training records; the view is then in its eigenbasis. Without one
        it is in the model's own parameters.

    Returns
    -------
    WhiteBoxView
        8 p bytes a queried record: query many in parts.

    Raises
    ------
    InputError
        As `membership.curvature.per_record_gradients`, or the spectrum is another model's.
    """
    goal = objective(model, loss, *pair("train", train))
    query = goal.queried(query)
    size = 8.0 * len(query[0]) * goal.size
    memory.require(2 * size, f"{len(query[0]):,} gradients", "query fewer records at a time")
    parts = list(views(goal, train, query, spectrum))
    return WhiteBoxView(
        np.concatenate([part.gradient for part in parts]),
        np.concatenate([part.loss for part in parts]),
        parts[0].mean_gradient,
        parts[0].weight,
        parts[0].n_train,
    )


def views(
    goal: Objective, train: tuple, query: tuple, spectrum: "Spectrum | None" = None
) -> Iterator[WhiteBoxView]:
    """Views of the queried records in blocks, in their order; as `white_box_view`."""
    if spectrum is not None:
        spectrum.check(goal)

    def numbers(vectors: torch.Tensor) -> FloatArray:
        return (vectors if spectrum is None else spectrum.rotate(vectors)).cpu().numpy()

    train, query = goal.records(*train), goal.records(*query)
    mean = numbers(mean_gradient(goal, *train))
    weight = numbers(goal.vector())
    first = 0
    for gradient, losses in gradient_blocks(goal, *query):
        require_finite_gradients(gradient, first, " of query")
        first += len(losses)
        yield WhiteBoxView(numbers(gradient), losses.cpu().numpy(), mean, weight, len(train[0]))


def with_rows(blocks: Iterable[WhiteBoxView]) -> Iterator[tuple[WhiteBoxView, slice]]:
    """Each block of queried records with the rows that it holds of them all."""
    first = 0
    for view in blocks:
        yield view, slice(first, first + len(view.loss))
        first += len(view.loss)
