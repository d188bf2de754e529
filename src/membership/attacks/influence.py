"""Self-influence (Cohen and Giryes 2024) as a membership score."""

import numpy as np
import torch
from torch import nn

from membership.arrays import FloatArray
from membership.attacks.iha import check_solver, one_damping
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
