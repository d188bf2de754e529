r"""What a white-box adversary reads off a model: gradients of queried and of training records.

Everything the attacks of Suri et al. (2024) need of a model is linear in gradients. A
`WhiteBoxView` holds them once, in the basis where the Hessian is diagonal, so that any number of
dampings and controls can be scored from it without touching the model again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import FloatArray
from membership.curvature.eigen import Spectrum
from membership.curvature.gradients import gradient_blocks, mean_gradient
from membership.curvature.objective import Loss, Objective, objective, pair
from membership.errors import InputError


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
    model: nn.Module, loss: Loss, train: tuple, query: tuple, spectrum: Spectrum | None = None
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
    goal: Objective, train: tuple, query: tuple, spectrum: Spectrum | None = None
) -> Iterator[WhiteBoxView]:
    """Views of the queried records in blocks, in their order; as `white_box_view`."""
    if spectrum is not None:
        spectrum.check(goal)

    def numbers(vectors: torch.Tensor) -> FloatArray:
        return (vectors if spectrum is None else spectrum.rotate(vectors)).cpu().numpy()

    train, query = goal.records(*train), goal.records(*query)
    mean = numbers(mean_gradient(goal, *train))
    weight = numbers(goal.vector())
    for gradient, losses in gradient_blocks(goal, *query):
        if not torch.isfinite(gradient).all():
            raise InputError("query: the gradients of some records are not finite")
        yield WhiteBoxView(numbers(gradient), losses.cpu().numpy(), mean, weight, len(train[0]))


def with_rows(blocks: Iterable[WhiteBoxView]) -> Iterator[tuple[WhiteBoxView, slice]]:
    """Each block of queried records with the rows that it holds of them all."""
    first = 0
    for view in blocks:
        yield view, slice(first, first + len(view.loss))
        first += len(view.loss)
