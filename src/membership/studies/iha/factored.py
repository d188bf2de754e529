"""Quadratic forms of a target whose Hessian is too large to decompose: two Cholesky factors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import FloatArray
from membership.curvature.factor import Factor, factorised, least_eigenvalue
from membership.curvature.gradients import mean_gradient
from membership.curvature.hessians import hessian_matrix
from membership.curvature.objective import Objective, objective
from membership.curvature.white_box import WhiteBoxView, views, with_rows
from membership.errors import RunError
from membership.studies.iha import white_box
from membership.studies.iha.ensembles import Trained
from membership.studies.iha.white_box import enough, norms_of, records, training_records

Forms = dict[str, FloatArray]


@dataclass(frozen=True)
class Factors:
    r"""What stands for :math:`H^{-1}` and, between the outer inverses of IHA*, for it again.

    Attributes
    ----------
    inner : Factor
        Of the damped Hessian.
    outer : Factor
        The same with the weight decay.
    amount : float
        The damping.
    """

    inner: Factor
    outer: Factor
    amount: float

    def published(self, gradient: torch.Tensor) -> Forms:
        """The forms of a block of records (count, p) with themselves, as published."""
        u = self.inner.solve(gradient)
        own3 = self.inner.half(u).square().sum(1)
        return _numbers(own1=(gradient * u).sum(1), own2=u.square().sum(1), own3=own3)

    def regularised(self, gradient: torch.Tensor) -> Forms:
        """The same with the weight decay."""
        u = self.outer.solve(gradient)
        return _numbers(own2=u.square().sum(1), own3=self.inner.half(u).square().sum(1))

    def against(self, vectors: FloatArray, outer: Factor) -> tuple[torch.Tensor, torch.Tensor]:
        """What a gradient is multiplied by for its forms with vectors (count, p): two and three."""
        sent = torch.as_tensor(vectors).to(outer.matrix.device)
        squared = outer.solve(outer.solve(sent))
        return squared.T, self.inner.solve(squared).T


def factors(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, damping: float, weight_decay: float
) -> Factors:
    """Factorise the damped Hessian, its damping raised where `white_box.enough` asks for it."""
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
    return Factors(*found, wanted)


def observe(trained: Trained, target: int, damping: float) -> dict[str, np.ndarray]:
    """As `white_box.observe`, without the sweep and without eigenvalues."""
    goal, train = _goal(trained.ensemble.module(target), trained, target)
    decay = trained.task.config.weight_decay
    both = factors(goal, *goal.records(*train), damping, decay)
    queries, asked = trained.queries, trained.asked(white_box.KNOWN)
    chosen = white_box.known_members(trained, target)
    means = [
        mean_gradient(goal, *goal.records(*records(trained, one))).cpu().numpy() for one in chosen
    ]
    inverses, at = white_box.main(damping), np.searchsorted(queries, asked)
    form = white_box.empty(inverses, len(queries))
    known = {name: np.empty((len(means), len(queries))) for name in ("mean2", "mean3")}
    once = None
    for view, rows in with_rows(views(goal, train, records(trained, queries))):
        once = once or _Once(both, view, decay, means)
        for place, found in enumerate(_forms(both, once, view)):
            white_box.fill(form, rows, inverses[place], place, found)
        for name, vectors in zip(known, once.known, strict=True):
            known[name][:, rows] = (torch.as_tensor(view.gradient) @ vectors).T.numpy()
    return {
        "main": form,
        **{name: values[:, at] for name, values in known.items()},
        "known": np.stack([np.isin(asked, one) for one in chosen]),
        "n_known": np.array([len(one) for one in chosen]),
        "amount": np.array([both.amount, both.amount, 0.0]),
        "norm": np.array(norms_of(view, decay)),
    }


class _Once:
    """What depends on the model alone: its vectors behind the inverses."""

    def __init__(
        self, both: Factors, view: WhiteBoxView, decay: float, known: Sequence[FloatArray]
    ) -> None:
        self.mean = view.mean_gradient
        self.rest = view.mean_gradient + decay * view.weight
        first = both.against(np.stack([self.mean, *known]), both.inner)
        self.published = [part[:, 0] for part in first]
        self.known = [part[:, 1:] for part in first]
        self.regularised = [part[:, 0] for part in both.against(self.rest[None], both.outer)]


def _forms(both: Factors, once: _Once, view: WhiteBoxView) -> tuple[Forms, Forms, Forms]:
    """The forms of a block, in the order of `white_box.main`."""
    gradient = torch.as_tensor(view.gradient).to(both.inner.matrix.device)

    def along(names: tuple[str, str], vectors: list[torch.Tensor]) -> Forms:
        return _numbers(**{n: gradient @ v for n, v in zip(names, vectors, strict=True)})

    identity = {
        "own2": np.square(view.gradient).sum(1),
        "mean2": view.gradient @ once.mean,
        "rest2": view.gradient @ once.rest,
    }
    return (
        both.published(gradient) | along(("mean2", "mean3"), once.published),
        both.regularised(gradient) | along(("rest2", "rest3"), once.regularised),
        identity,
    )


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


def _numbers(**found: Any) -> Forms:
    return {name: values.cpu().numpy() for name, values in found.items()}
