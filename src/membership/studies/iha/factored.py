"""Quadratic forms of a target whose Hessian is too large to decompose: two Cholesky factors."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import FloatArray
from membership.attacks.forms import forms_of
from membership.curvature.factor import Factor, factorised, least_eigenvalue
from membership.curvature.gradients import mean_gradient
from membership.curvature.hessians import hessian_matrix
from membership.curvature.inverse import Factors, Inverse, identity
from membership.curvature.objective import Objective, objective
from membership.curvature.white_box import WhiteBoxView, views
from membership.errors import RunError
from membership.studies.iha import white_box
from membership.studies.iha.ensembles import Trained
from membership.studies.iha.white_box import enough, norms_of, records, training_records


def inverses(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, damping: float, weight_decay: float
) -> tuple[list[Inverse], float]:
    """What stands for the inverses of `white_box.main`, and the damping that it took.

    The damping is raised where `white_box.enough` asks for it.
    """
    memory.require(
        16.0 * goal.size**2,
        f"two Cholesky factors for {goal.size:,} parameters",
        "give a smaller network",
        goal.device,
    )
    amount = damping
    while (found := _two(goal, x, y, amount, weight_decay)) is None:
        amount *= 2
    least = least_eigenvalue(found[0], amount)
    wanted = enough(np.array([least]), damping)
    if wanted != amount:
        found = None  # its memory is needed once more
        found = _two(goal, x, y, wanted, weight_decay)
    if found is None:
        raise RunError(f"the Hessian has no Cholesky factor with damping {wanted:.3g}")
    inner, outer = found
    return [Factors(inner, inner), Factors(outer, inner), identity(goal.size)], wanted


def observe(trained: Trained, target: int, damping: float) -> dict[str, np.ndarray]:
    """As `white_box.observe`, without the sweep and without eigenvalues."""
    goal, train = _goal(trained.ensemble.module(target), trained, target)
    decay = trained.task.config.weight_decay
    stand, amount = inverses(goal, *goal.records(*train), damping, decay)
    queries, asked = trained.queries, trained.asked(white_box.KNOWN)
    chosen = white_box.known_members(trained, target)
    means = [
        mean_gradient(goal, *goal.records(*records(trained, one))).cpu().numpy() for one in chosen
    ]
    published = stand[0]
    first = published.solve(np.stack(means))
    known = {
        "mean2": published.solve(first),
        "mean3": published.solve(published.between(first)),
    }
    products: dict[str, list[FloatArray]] = {name: [] for name in known}
    norms: list[float] = []

    def looked_at() -> Iterator[WhiteBoxView]:
        """The blocks, and on their way what the known records' gradients make of them."""
        for view in views(goal, train, records(trained, queries)):
            norms[:] = norms_of(view, decay)
            for name, vectors in known.items():
                products[name].append(view.gradient @ vectors.T)
            yield view

    labels, at = white_box.main(damping), np.searchsorted(queries, asked)
    form = white_box.empty(labels, len(queries))
    for place, found in enumerate(forms_of(looked_at(), stand, decay)):
        white_box.fill(form, slice(None), labels[place], place, found)
    return {
        "main": form,
        **{name: np.concatenate(parts)[at].T for name, parts in products.items()},
        "known": np.stack([np.isin(asked, one) for one in chosen]),
        "n_known": np.array([len(one) for one in chosen]),
        "amount": np.array([amount, amount, 0.0]),
        "norm": np.array(norms),
    }


def _goal(model: nn.Module, trained: Trained, target: int) -> tuple[Objective, tuple]:
    train = training_records(trained, target)
    return objective(model, trained.task.config.loss_of, *train), train


def _two(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, amount: float, more: float
) -> tuple[Factor, Factor] | None:
    """The factors of the Hessian with so much damping, and with more; None where one has none."""
    matrix = hessian_matrix(goal, x, y)
    matrix.diagonal().add_(amount)
    inner = matrix.clone()
    if not factorised(inner):
        return None
    matrix.diagonal().add_(more)
    return (Factor(inner), Factor(matrix)) if factorised(matrix) else None
