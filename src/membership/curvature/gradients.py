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
from membership.arrays import FloatArray, one_of
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
from membership.curvature.suitable import Parameters
from membership.errors import InputError
from membership.progress import told

if TYPE_CHECKING:
    from membership.curvature.eigen import Basis, Spectrum

# Numbers a block of gradients may hold: 128 MB in float64.
BLOCK_NUMBERS = 1 << 24
# And one that is only passed on: small enough that the next finds its memory in the caches.
PART_NUMBERS = 1 << 20


def per_record_gradients(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    *,
    parameters: Parameters = None,
    dtype: str = "float64",
    batch_size: int | None = None,
) -> np.ndarray:
    """The gradient of each record's loss with respect to the parameters of a model.

    Parameters
    ----------
    model : nn.Module
        Any network whose answer for a record depends on that record alone.
    loss : callable
        ``loss(output, y)`` gives one value a record.
    x, y : array_like or torch.Tensor, shape (records, ...)
        Records and their targets.
    parameters : names or predicate, optional
        Those that count, all others being constants: names of parameters or of modules that hold
        them, as ``["head", "blocks.3"]``, or a function of a name that says whether it does. Those
        that are trained (``requires_grad``) where nothing is said.
    dtype : {"float64", "float32"}
        In which the gradients are computed, whatever the model's own precision.
    batch_size : int, optional
        Records at a time; as many as the caches of a processor hold where nothing is said.

    Returns
    -------
    numpy.ndarray of `dtype`, shape (records, p)
        Parameters in the order of ``model.parameters()``, each row by row. 0 for an embedding's
        row of padding, which no training moves.

    Raises
    ------
    InputError
        See `membership.curvature.objective`; some gradients are not finite; or they do not fit in
        memory.
    """
    parts = _Parts.of(model, loss, x, y, parameters, dtype, batch_size)
    n, goal = len(parts.x), parts.goal
    needed = float(np.dtype(dtype).itemsize * n * goal.size)
    memory.require(needed, f"{n:,} gradients", "take them in parts by gradient_parts")
    result = np.empty((n, goal.size), dtype)
    first = 0
    for part in parts.each():
        result[first : first + len(part)] = part
        first += len(part)
    return result


def gradient_parts(
    model: nn.Module,
    loss: Loss,
    x: Any,
    y: Any,
    *,
    parameters: Parameters = None,
    dtype: str = "float64",
    batch_size: int | None = None,
) -> Iterator[np.ndarray]:
    """As `per_record_gradients`, some records at a time, in their order.

    Parameters
    ----------
    model, loss, x, y, parameters, dtype, batch_size
        As for `per_record_gradients`.

    Returns
    -------
    iterator of numpy.ndarray of `dtype`, shape (some records, p)
        Everything is checked before the first.

    Raises
    ------
    InputError
        As `per_record_gradients`.

    Examples
    --------
    >>> import torch
    >>> from membership import curvature
    >>> model, cross_entropy = torch.nn.Linear(2, 2), torch.nn.CrossEntropyLoss(reduction="none")
    >>> x, y = torch.eye(2).repeat(50, 1), torch.arange(2).repeat(50)
    >>> parts = curvature.gradient_parts(model, cross_entropy, x, y, batch_size=40)
    >>> [part.shape for part in parts]
    [(40, 6), (40, 6), (20, 6)]
    """
    return _Parts.of(model, loss, x, y, parameters, dtype, batch_size).each()


@dataclass(frozen=True)
class _Parts:
    """What gradients are asked of, checked."""

    goal: Objective
    x: torch.Tensor
    y: torch.Tensor
    size: int

    @classmethod
    def of(
        cls, model: nn.Module, loss: Loss, x: Any, y: Any, parameters: Any, dtype: str, size: Any
    ) -> "_Parts":
        one_of("dtype", dtype, ("float64", "float32"))
        goal = objective(model, loss, x, y, parameters, batch_size=size)
        x, y = goal.records(x, y)
        if dtype == "float32":
            goal = goal.to(torch.float32)
            x, y = (part.float() if part.is_floating_point() else part for part in (x, y))
        return cls(goal, x, y, size or max(1, PART_NUMBERS // goal.size))

    def each(self) -> Iterator[np.ndarray]:
        """Parts of the gradients, which are finite."""
        first = 0
        for block, _ in gradient_blocks(self.goal, self.x, self.y, self.size):
            require_finite_gradients(block, first)
            yield block.cpu().numpy()
            first += len(block)


def require_finite_gradients(block: torch.Tensor, first: int, what: str = "") -> None:
    """Raise an InputError that names the records of a block, from the first on, with none."""
    if torch.isfinite(block.sum()):  # one pass; a sum that overflows is looked into
        return
    lost = (~torch.isfinite(block).all(1)).nonzero().flatten()
    if len(lost):
        raise InputError(
            f"model or loss: the gradient is not finite{named(lost + first)}{what}; a derivative "
            "does not exist there, as that of a norm, a root or a distance at 0: leave the record "
            "out, or add a small constant inside"
        )


def gradient_blocks(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, size: int | None = None
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Gradients (block, p) and losses (block,) of the records, block by block, in their order."""
    take = gradients_at_once if goal.vectorised else gradients_by_graph
    size = size or max(1, BLOCK_NUMBERS // goal.size)
    for some_x, some_y in told(goal.blocks(x, y, size), len(x), "gradients"):
        yield take(goal, some_x, some_y)


def mean_gradient(goal: Objective, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Gradient (p,) of the mean loss over the records."""
    total = torch.zeros(goal.size, dtype=torch.float64, device=goal.device)
    for some_x, some_y in told(goal.blocks(x, y), len(x), "mean gradient"):
        part = to_train(goal)
        losses = goal.losses(part, some_x, some_y)
        total += backward(losses, part, torch.ones_like(losses)[None])[0]
    if not torch.isfinite(total).all():
        first = 0
        for block, losses in gradient_blocks(goal, x, y):
            require_finite_gradients(block, first, " of train")
            first += len(losses)
    return total / len(x)


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
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    spectrum: "Spectrum | None" = None,
    *,
    parameters: Parameters = None,
    batch_size: int | None = None,
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
    parameters, batch_size
        As for `per_record_gradients`.

    Returns
    -------
    WhiteBoxView
        8 p bytes a queried record: query many in parts.

    Raises
    ------
    InputError
        As `membership.curvature.per_record_gradients`, or the spectrum is another model's.
    """
    matrix = "hessian" if spectrum is None else spectrum.matrix
    goal = objective(model, loss, *pair("train", train), parameters, matrix, batch_size)
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
    goal: Objective, train: tuple, query: tuple, spectrum: "Basis | None" = None
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
