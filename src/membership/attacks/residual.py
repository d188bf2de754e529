r"""The residual test: is the model closer to stationary with the record than without?

The inverse Hessian attack without curvature, as a control of what curvature adds. At a minimum of
the regularised loss over all training records the residual :math:`R_1 = \nabla L_1 + \alpha w`
vanishes; over the others alone it is :math:`R_0`, and :math:`R_0 + g/n` is what it would be with
the record.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from membership.arrays import FloatArray, as_bool, as_float64, from_zero, one_of
from membership.attacks.forms import (
    IDENTITY,
    Forms,
    against_rest,
    check_marks,
    quadratic_forms,
    reader,
    removal,
)
from membership.attacks.registry import Attack, declare
from membership.curvature.gradients import WhiteBoxView, views, with_rows
from membership.curvature.objective import Loss, objective, pair
from membership.curvature.suitable import Parameters
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
    parameters: Parameters = None,
) -> FloatArray:
    r"""Score records by how far they explain the residual gradient of all others.

    The adversary has the parameters, the weight decay and **all other training records**, as for
    `iha`; no Hessian.

    Parameters
    ----------
    model, loss, train, query, query_member, weight_decay, convention, knowledge, parameters
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
    one_of("statistic", statistic, STATISTICS)
    from_zero("weight_decay", weight_decay)
    goal = objective(model, loss, *pair("train", train), parameters)
    train, query = goal.records(*train), goal.queried(query)
    member = as_bool("query_member", query_member, (len(query[0]),))
    check_marks(train, query, member, knowledge)
    options = {"knowledge": knowledge, "convention": convention}
    parts = []
    for view, rows in with_rows(views(goal, train, query)):
        forms = quadratic_forms(view, None, weight_decay, IDENTITY)
        asked = "product" if statistic == "cosine" else statistic
        part = residual_from_forms(forms, member[rows], view.n_train, statistic=asked, **options)
        if statistic == "cosine":
            scale, own = removal(member[rows], view.n_train, knowledge, convention)
            size = np.sqrt(forms["own2"] * _squared(view, forms, weight_decay, scale, own))
            part = np.divide(part, size, out=np.zeros_like(part), where=size > 0)
        parts.append(part)
    return np.concatenate(parts)


def _squared(
    view: WhiteBoxView, forms: Forms, weight_decay: float, scale: FloatArray, own: FloatArray
) -> FloatArray:
    r""":math:`\|R_0\|^2`, squared out, so that there is no (records, p) array of its own."""
    mean, decay = view.mean_gradient, weight_decay * view.weight
    with_rest = forms["rest2"] + (scale - 1) * forms["mean2"]
    length = scale**2 * (mean @ mean) + 2.0 * scale * (mean @ decay) + decay @ decay
    length += own * (2.0 * with_rest + own * forms["own2"])
    return np.maximum(length, 0.0)


def residual_from_forms(
    forms: Mapping[str, Any],
    member: Any,
    n_train: int,
    *,
    statistic: str = "norm",
    knowledge: str = "leave-one-out",
    convention: str = "paper",
) -> FloatArray:
    """As `residual` with "norm" or "product", from `quadratic_forms` of the identity.

    Parameters
    ----------
    forms : mapping of str to array of shape (records,)
        own2 and rest2 with conditioning "identity"; mean2 too with the authors' convention.
    member, n_train, knowledge, convention
        As for `iha_from_forms`.
    statistic : {"norm", "product"}

    Returns
    -------
    numpy.ndarray of float64, shape (records,)

    Raises
    ------
    InputError
        As `iha_from_forms`, or another statistic.
    """
    one_of("statistic", statistic, STATISTICS)
    if statistic == "cosine":
        raise InputError("statistic = 'cosine': it needs the length of the gradient; see residual")
    own = as_float64("form own2", forms["own2"], 1)
    read = reader(forms, own.shape)
    scale, less = removal(as_bool("member", member, own.shape), n_train, knowledge, convention)
    product = less * own + against_rest(read, "2", scale)
    return -product if statistic == "product" else -2.0 * product / n_train - own / n_train**2


def residual_at(
    w: FloatArray, gradient: FloatArray, others: FloatArray, n_train: int, weight_decay: float
) -> FloatArray:
    """The norm statistic of `residual` at each w; arrays as for `attacks.iha.iha_at`."""
    rest = others + weight_decay * w
    return -np.sum((2.0 * rest + gradient / n_train) * gradient, axis=1) / n_train


declare(
    Attack(
        name="residual",
        display="residual test",
        function=residual,
        needs=("form.identity.own2", "form.identity.rest2"),
        knowledge=("losses", "weights", "recipe", "all other records"),
        references="none",
        paper="suri2024",
        equation="Theorem 3.2, without curvature",
        score=lambda seen: residual_from_forms(
            seen.form("identity"), seen.member, seen.setting("members")
        ),
    )
)
