"""Self-influence (Cohen and Giryes 2024) as a membership score."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import nn

from membership.arrays import FloatArray, as_float64
from membership.attacks.registry import Attack, declare
from membership.curvature.eigen import Spectrum
from membership.curvature.gradients import views
from membership.curvature.inverse import Inversion
from membership.curvature.objective import Loss, objective, pair


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
    inversion = Inversion(damping, conditioning, convention, solver, spectrum, tolerance)
    goal = objective(model, loss, *pair("train", train))
    records, query = goal.records(*train), goal.queried(query)
    inverse, basis = inversion.of(goal, records, len(query[0]))
    blocks = views(goal, records, query, basis)
    return np.concatenate([0.0 - inverse.influence(view.gradient) for view in blocks])


def sif_from_forms(forms: Mapping[str, Any]) -> FloatArray:
    """As `sif`, from forms that were gathered before: minus own1."""
    return 0.0 - as_float64("form own1", forms["own1"], 1)


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
    )
)
