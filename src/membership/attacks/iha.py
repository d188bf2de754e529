"""The inverse Hessian attack (Suri, Zhang and Evans 2024, Section 3.3) on a model.

`membership.attacks.iha_terms` has the formulas and their derivation.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from torch import nn

from membership.arrays import as_bool, one_of
from membership.attacks.iha_cg import FormsByCG
from membership.attacks.iha_factor import FormsByFactor
from membership.attacks.iha_terms import (
    IHAScore,
    check_recipe,
    check_stationarity,
    iha_from_view,
    iha_terms,
)
from membership.attacks.others import (
    KNOWLEDGE,
    OthersGradient,
    check_marks,
    others_gradient,
)
from membership.curvature.eigen import Spectrum, check_conditioning, spectrum_of
from membership.curvature.factor import factor
from membership.curvature.objective import Loss, Objective, objective, pair
from membership.curvature.solver import Solver
from membership.curvature.white_box import WhiteBoxView, views, with_rows
from membership.errors import InputError

SOLVERS = ("exact", "cg")


def iha(
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    query_member: Any,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    damping: float = 0.2,
    conditioning: str = "damping",
    solver: str = "exact",
    convention: str = "paper",
    *,
    stationarity: str = "published",
    knowledge: str = "leave-one-out",
    spectrum: Spectrum | None = None,
    tolerance: float = 1e-6,
) -> IHAScore:
    r"""Score records by the inverse Hessian attack.

    The adversary has the parameters, the training recipe and **all other training records**; see
    `knowledge` for what the membership bit is read for.

    Parameters
    ----------
    model : nn.Module
        The target model.
    loss : callable
        ``loss(output, y)`` gives one value a record, twice differentiable.
    train, query : (x, y)
        All n training records, and the records to query.
    query_member : array_like of bool, shape (records,)
        Which queried records are training records. Equal records of `train` are looked for where
        the mark is read.
    learning_rate : float
        :math:`\lambda > 0`.
    momentum : float
        :math:`0 \le \mu < 1`.
    weight_decay : float
        :math:`\alpha \ge 0`, of :math:`\frac{\alpha}{2}\|w\|^2`.
    damping : float
        :math:`\epsilon \ge 0`, added to the eigenvalues or the threshold of the low rank.
    conditioning : {"damping", "low-rank"}
        See `membership.curvature.conditioned_inverse`.
    solver : {"exact", "cg"}
        One Cholesky factor (one eigendecomposition for low rank and for the regularised
        condition), or conjugate gradients for many records at once; "cg" damps.
    convention : {"paper", "authors"}
        "authors" is what the released code computes where it differs: members' gradient over the
        others is :math:`(n\nabla L_1 - g)/(n-1)`, and low rank goes by :math:`|\sigma|`.
    stationarity : {"published", "regularised"}
        "regularised" keeps the weight decay in the stationarity condition; not in the paper (see
        `membership.attacks.iha_terms`).
    knowledge : {"leave-one-out", "everyone", "everyone-less-own"}
        The controls of `membership.attacks.others_gradient`.
    spectrum : Spectrum, optional
        Of the Hessian over the training records, for solver "exact": with one at hand any number
        of dampings cost little.
    tolerance : float
        Relative error of the terms that conjugate gradients aim at, above 0 and below 1; systems
        are solved to its square root, because errors enter the terms by products of two.

    Returns
    -------
    IHAScore

    Raises
    ------
    InputError
        A parameter is out of range, the mask is of another length or contradicts `train`, the
        damped Hessian is not positive definite, the model or the loss will not do, or the memory
        is too little.
    RunError
        Conjugate gradients did not reach the tolerance.

    Examples
    --------
    >>> import torch
    >>> from membership import attacks
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Linear(2, 2)
    >>> cross_entropy = torch.nn.CrossEntropyLoss(reduction="none")
    >>> train = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), torch.tensor([0, 1, 1])
    >>> query = torch.tensor([[0.0, 1.0], [1.0, 1.0]]), torch.tensor([0, 0])
    >>> score = attacks.iha(
    ...     model, cross_entropy, train, query, [True, False],
    ...     learning_rate=0.1, momentum=0.9, weight_decay=5e-4,
    ... )
    >>> score.score.shape, score.i1.shape
    ((2,), (2,))
    """
    recipe = (learning_rate, momentum, weight_decay)
    check_recipe(*recipe)
    check_conditioning(damping, conditioning, convention)
    check_stationarity(stationarity)
    one_of("knowledge", knowledge, KNOWLEDGE)
    check_solver(solver, conditioning)
    goal = objective(model, loss, *pair("train", train))
    train, query = goal.records(*train), goal.queried(query)
    member = as_bool("query_member", query_member, (len(query[0]),))
    check_marks(train, query, member, knowledge)

    def others(view: WhiteBoxView, rows: slice) -> OthersGradient:
        return others_gradient(view, member[rows], knowledge, convention)

    if solver == "cg":
        parts = _by_cg(goal, train, query, others, recipe, damping, stationarity, tolerance)
    elif one_damping(spectrum, conditioning) and (stationarity == "published" or not weight_decay):
        parts = _by_factor(goal, train, query, others, recipe, damping, stationarity)
    else:
        spectrum = spectrum or spectrum_of(goal, *train)
        parts = [
            iha_from_view(
                view,
                others(view, rows),
                spectrum.values,
                *recipe,
                damping=damping,
                conditioning=conditioning,
                convention=convention,
                stationarity=stationarity,
            )
            for view, rows in with_rows(views(goal, train, query, spectrum))
        ]
    names = [field.name for field in fields(IHAScore)]
    return IHAScore(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _by_cg(
    goal: Objective,
    train: tuple,
    query: tuple,
    others: Callable[[WhiteBoxView, slice], OthersGradient],
    recipe: tuple[float, float, float],
    damping: float,
    stationarity: str,
    tolerance: float,
) -> list[IHAScore]:
    """Scores of the queried records in blocks, by conjugate gradients."""
    _, _, weight_decay = recipe
    solver = Solver(goal, *train, n_systems=len(query[0]))
    forms, parts = None, []
    for view, rows in with_rows(views(goal, train, query)):
        if forms is None:
            shift = weight_decay if stationarity == "regularised" else 0.0
            forms = FormsByCG(
                solver,
                view.mean_gradient,
                shift * view.weight,
                damping,
                shift,
                tolerance,
            )
        found, residual = forms(view, others(view, rows))
        part = iha_terms(found, view.loss, view.n_train, *recipe, stationarity)
        parts.append(replace(part, residual=residual))
    return parts


def _by_factor(
    goal: Objective,
    train: tuple,
    query: tuple,
    others: Callable[[WhiteBoxView, slice], OthersGradient],
    recipe: tuple[float, float, float],
    damping: float,
    stationarity: str,
) -> list[IHAScore]:
    """Scores of the queried records in blocks, from the Cholesky factor of the damped Hessian."""
    found = factor(goal, *train, damping)
    forms, parts = None, []
    for view, rows in with_rows(views(goal, train, query)):
        forms = forms or FormsByFactor(found, view.mean_gradient)
        of_view = forms(view, others(view, rows))
        parts.append(iha_terms(of_view, view.loss, view.n_train, *recipe, stationarity))
    return parts


def one_damping(spectrum: Spectrum | None, conditioning: str) -> bool:
    """Whether a factor of the damped Hessian will do."""
    return spectrum is None and conditioning == "damping"


def check_solver(solver: str, conditioning: str) -> None:
    """Raise an InputError unless the solver is known and does this conditioning."""
    one_of("solver", solver, SOLVERS)
    if solver == "cg" and conditioning == "low-rank":
        raise InputError(
            "conditioning = 'low-rank': conjugate gradients cannot leave eigenvalues out; use "
            "solver='exact', or conditioning='damping'"
        )
