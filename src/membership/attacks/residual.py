r"""The residual test: is the model closer to stationary with the record than without?

The inverse Hessian attack without curvature, as a control of what curvature adds. At a minimum of
the regularised loss over all training records the residual :math:`R_1 = \nabla L_1 + \alpha w`
vanishes; over the others alone it is :math:`R_0`, and :math:`R_0 + g/n` is what it would be with
the record.
"""

from typing import Any

import numpy as np
from torch import nn

from membership.arrays import FloatArray, as_bool, one_of
from membership.attacks.others import OthersGradient, check_marks, others_gradient
from membership.curvature.objective import Loss, objective, pair
from membership.curvature.white_box import WhiteBoxView, views, with_rows
from membership.errors import InputError

STATISTICS = ("norm", "product", "cosine")


def residual(
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    query_member: Any,
    weight_decay: float,
    statistic: str = "norm",
    convention: str = "paper",
    *,
    knowledge: str = "leave-one-out",
) -> FloatArray:
    r"""Score records by how far they explain the residual gradient of all others.

    The adversary has the parameters, the weight decay and **all other training records**, as for
    `iha`; no Hessian.

    Parameters
    ----------
    model, loss, train, query, query_member, weight_decay, convention, knowledge
        As for `iha`.
    statistic : {"norm", "product", "cosine"}
        "norm": :math:`\|R_0\|^2 - \|R_0 + g/n\|^2`. "product": :math:`-R_0^\top g`. "cosine": minus
        the cosine of the angle between :math:`R_0` and g, 0 where one of them vanishes.

    Returns
    -------
    numpy.ndarray of float64, shape (records,)

    Raises
    ------
    InputError
        `statistic` is unknown; otherwise as `iha`.

    Examples
    --------
    >>> import torch
    >>> from membership import attacks
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Linear(2, 2)
    >>> cross_entropy = torch.nn.CrossEntropyLoss(reduction="none")
    >>> train = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), torch.tensor([0, 1, 1])
    >>> query = torch.tensor([[0.0, 1.0], [1.0, 1.0]]), torch.tensor([0, 0])
    >>> attacks.residual(model, cross_entropy, train, query, [True, False], weight_decay=0.0).shape
    (2,)
    """
    check_residual(statistic, weight_decay)
    goal = objective(model, loss, *pair("train", train))
    train, query = goal.records(*train), goal.queried(query)
    member = as_bool("query_member", query_member, (len(query[0]),))
    check_marks(train, query, member, knowledge)
    parts = []
    for view, rows in with_rows(views(goal, train, query)):
        others = others_gradient(view, member[rows], knowledge, convention)
        parts.append(residual_from_view(view, others, weight_decay, statistic))
    return np.concatenate(parts)


def residual_from_view(
    view: WhiteBoxView, others: OthersGradient, weight_decay: float, statistic: str = "norm"
) -> FloatArray:
    """As `residual`, on gradients already read, in any orthonormal basis."""
    check_residual(statistic, weight_decay)
    decay = weight_decay * view.weight
    own = np.square(view.gradient).sum(axis=1)
    with_mean, with_decay = view.gradient @ others.mean, view.gradient @ decay
    product = others.scale * with_mean + others.own * own + with_decay
    if statistic == "product":
        return -product
    if statistic == "norm":
        return -2.0 * product / view.n_train - own / view.n_train**2
    # R0 = scale * mean + own * g + decay, squared out: no (records, p) array of its own.
    length = (
        others.scale**2 * (others.mean @ others.mean)
        + 2.0 * others.scale * (others.mean @ decay)
        + decay @ decay
        + others.own * (product + others.scale * with_mean + with_decay)
    )
    size = np.sqrt(np.maximum(length, 0.0) * own)
    return -np.divide(product, size, out=np.zeros_like(product), where=size > 0)


def check_residual(statistic: str, weight_decay: float) -> None:
    """Raise an InputError unless the statistic is known and the weight decay 0 or more."""
    one_of("statistic", statistic, STATISTICS)
    if not 0 <= weight_decay < float("inf"):
        raise InputError(f"weight_decay = {weight_decay!r}: expected a number from 0 up")
