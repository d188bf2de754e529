"""Self-influence (Cohen and Giryes 2024) as a membership score."""

from functools import partial

import numpy as np
import torch
from torch import nn

from membership.arrays import FloatArray
from membership.attacks.adversary import Observed, loss_of
from membership.attacks.forms import iha_from_forms, residual_from_forms, sif_from_forms
from membership.attacks.iha import check_solver, iha, one_damping
from membership.attacks.registry import Attack, declare
from membership.attacks.residual import residual
from membership.curvature.eigen import (
    Spectrum,
    check_conditioning,
    conditioned_inverse,
    spectrum_of,
)
from membership.curvature.factor import factor
from membership.curvature.gradients import gradient_blocks
from membership.curvature.objective import Loss, objective, pair
from membership.curvature.solver import Solver
from membership.curvature.white_box import WhiteBoxView, views


def sif(
    model: nn.Module,
    loss: Loss,
    train: tuple,
    query: tuple,
    damping: float = 0.2,
    conditioning: str = "damping",
    solver: str = "exact",
    convention: str = "paper",
    *,
    spectrum: Spectrum | None = None,
    tolerance: float = 1e-6,
) -> FloatArray:
    r"""Score records by minus their self-influence, :math:`-g^\top (H + \epsilon I)^{-1} g`.

    The adversary has the parameters and the training records, of which only the Hessian enters.
    A record that was trained on has a small gradient, so a large influence speaks against
    membership (the released code flips the sign in its plotting script).

    Parameters
    ----------
    model, loss, train, query, damping, conditioning, solver, convention, spectrum, tolerance
        As for `iha`.

    Returns
    -------
    numpy.ndarray of float64, shape (records,)
        0 or less; exactly 0 where a low rank keeps no eigenvalue.

    Raises
    ------
    InputError, RunError
        As `iha`.

    Examples
    --------
    >>> import torch
    >>> from membership import attacks
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Linear(2, 2)
    >>> cross_entropy = torch.nn.CrossEntropyLoss(reduction="none")
    >>> train = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), torch.tensor([0, 1, 1])
    >>> query = torch.tensor([[0.0, 1.0], [1.0, 1.0]]), torch.tensor([0, 0])
    >>> score = attacks.sif(model, cross_entropy, train, query)
    >>> score.shape, bool((score <= 0).all())
    ((2,), True)
    """
    check_conditioning(damping, conditioning, convention)
    check_solver(solver, conditioning)
    goal = objective(model, loss, *pair("train", train))
    records, query = goal.records(*train), goal.queried(query)
    if solver == "cg":
        systems = Solver(goal, *records, n_systems=len(query[0]))
        parts = []
        for gradient, _ in gradient_blocks(goal, *query):
            found = systems.solve(gradient, damping, tolerance**0.5)
            # The error of the solution enters this sum by its square.
            form = (found.vectors * (gradient + found.remainder)).sum(1)
            parts.append(0.0 - form.cpu().numpy())
        return np.concatenate(parts)
    if one_damping(spectrum, conditioning):
        found = factor(goal, *records, damping)
        parts = []
        for view in views(goal, records, query):
            half = found.half(torch.as_tensor(view.gradient).to(goal.device))
            parts.append(0.0 - half.square().sum(1).cpu().numpy())
        return np.concatenate(parts)
    spectrum = spectrum or spectrum_of(goal, *records)
    how = (damping, conditioning, convention)
    blocks = views(goal, records, query, spectrum)
    return np.concatenate([sif_from_view(view, spectrum.values, *how) for view in blocks])


def sif_from_view(
    view: WhiteBoxView,
    values: FloatArray,
    damping: float = 0.2,
    conditioning: str = "damping",
    convention: str = "paper",
) -> FloatArray:
    """As `sif`, on gradients already read in the eigenbasis with its eigenvalues `values`."""
    inverse = conditioned_inverse(values, damping, conditioning, convention)
    return 0.0 - np.square(view.gradient) @ inverse


def _iha(seen: Observed, stationarity: str) -> FloatArray:
    recipe = (seen.setting(name) for name in ("learning_rate", "momentum", "weight_decay"))
    forms, n_train = seen.form(stationarity), seen.setting("members")
    return iha_from_forms(
        forms, loss_of(seen), seen.member, n_train, *recipe, stationarity=stationarity
    ).score


_suri = partial(
    Attack,
    knowledge=("losses", "weights", "recipe", "all other records"),
    references="none",
    paper="suri2024",
)
declare(
    Attack(
        name="sif",
        display="SIF",
        function=sif,
        needs=("form.published.own1",),
        knowledge=("weights", "training records"),
        references="none",
        paper="cohen2024",
        equation="self-influence",
        score=lambda seen: sif_from_forms(seen.form("published")),
    ),
    _suri(
        name="iha",
        display="IHA",
        function=iha,
        needs=(
            "loss|log_odds",
            *(f"form.published.{term}" for term in ("own2", "own3", "mean2", "mean3")),
        ),
        equation="Equation 8",
        score=lambda seen: _iha(seen, "published"),
    ),
    _suri(
        name="iha-star",
        display="IHA*",
        function=iha,
        needs=(
            "loss|log_odds",
            *(f"form.regularised.{term}" for term in ("own2", "own3", "rest2", "rest3")),
        ),
        equation="Equation 8, with the weight decay in the stationarity",
        score=lambda seen: _iha(seen, "regularised"),
        term="IHA\\*",
    ),
    _suri(
        name="residual",
        display="residual test",
        function=residual,
        needs=("form.identity.own2", "form.identity.rest2"),
        equation="Theorem 3.2, without curvature",
        score=lambda seen: residual_from_forms(
            seen.form("identity"), seen.member, seen.setting("members")
        ),
    ),
)
