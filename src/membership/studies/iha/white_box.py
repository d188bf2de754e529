"""Quadratic forms of a target's gradients, from one look at them and one decomposition."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from membership.arrays import FloatArray
from membership.attacks.forms import TERMS, quadratic_forms
from membership.curvature.eigen import Spectrum, spectrum_of
from membership.curvature.gradients import mean_gradient
from membership.curvature.objective import Objective, objective
from membership.curvature.white_box import WhiteBoxView, views, with_rows
from membership.studies.iha.ensembles import Trained

DAMPINGS = (0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
RANKS = (0.01, 0.1, 0.2)
FRACTIONS = (0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
VECTORS = ("gradient", "regularised", "decay")
# The sweep over dampings and ranks, and the known fractions, are asked about fewer records.
SWEPT, KNOWN = 400, 2200
# The forms that scores are made of, by what stands for the inverse Hessian; others are not kept.
KEPT = {
    "published": ("own1", "own2", "own3", "mean2", "mean3"),
    "regularised": ("own2", "own3", "rest2", "rest3"),
    "identity": ("own2", "mean2", "rest2"),
}


@dataclass(frozen=True)
class Inverse:
    """What stands for the inverse Hessian: see `quadratic_forms`."""

    conditioning: str
    amount: float
    stationarity: str = "published"

    @property
    def kept(self) -> tuple[str, ...]:
        """The forms that are kept with it."""
        return KEPT[self.conditioning if self.conditioning == "identity" else self.stationarity]

    @property
    def label(self) -> str:
        """In words, such as "damping 0.2, regularised"."""
        name = {"identity": "identity"}.get(
            self.conditioning, f"{self.conditioning} {self.amount:g}"
        )
        return f"{name}, regularised" if self.stationarity == "regularised" else name


def main(damping: float) -> tuple[Inverse, ...]:
    """The inverses of the chapter's attacks, the registered ones first."""
    return (
        Inverse("damping", damping),
        Inverse("damping", damping, "regularised"),
        Inverse("identity", 0.0),
    )


def sweep() -> tuple[Inverse, ...]:
    """Every damping under both conditions of stationarity, and every rank."""
    dampings = [Inverse("damping", d, s) for s in ("published", "regularised") for d in DAMPINGS]
    return (*dampings, *(Inverse("low-rank", rank) for rank in RANKS))


def described(inverses: tuple[Inverse, ...]) -> list[dict[str, Any]]:
    """The inverses as attributes of evidence."""
    return [asdict(one) for one in inverses]


def enough(values: FloatArray, damping: float) -> float:
    """The damping, or a larger one where it would leave an eigenvalue at or below half of it."""
    return max(damping, damping / 2 - 1.1 * float(values.min()))


@dataclass(frozen=True)
class Opened:
    """One model's gradients, ready to be read in the basis where its Hessian is diagonal.

    Attributes
    ----------
    goal : Objective
    train : tuple of torch.Tensor
        The records of the mean loss.
    spectrum : Spectrum
    weight_decay : float
    """

    goal: Objective
    train: tuple[torch.Tensor, torch.Tensor]
    spectrum: Spectrum
    weight_decay: float

    def views(self, query: tuple) -> Iterator[tuple[WhiteBoxView, slice]]:
        """Blocks of queried records with their rows."""
        return with_rows(views(self.goal, self.train, query, self.spectrum))

    def usable(self, inverse: Inverse) -> bool:
        """Whether the damping leaves every eigenvalue positive."""
        return inverse.conditioning != "damping" or self.spectrum.values.min() + inverse.amount > 0

    def forms(self, view: WhiteBoxView, inverse: Inverse, amount: float) -> dict[str, FloatArray]:
        """`quadratic_forms` of a block with one inverse at an amount of damping."""
        how = (inverse.conditioning, amount, inverse.stationarity)
        return quadratic_forms(view, self.spectrum.values, self.weight_decay, *how)

    def norms(self, view: WhiteBoxView) -> list[float]:
        """As `norms_of`."""
        return norms_of(view, self.weight_decay)


def norms_of(view: WhiteBoxView, weight_decay: float) -> list[float]:
    """Lengths of the gradient, of it with the weight decay, and of the weight decay."""
    decay = weight_decay * view.weight
    some = (view.mean_gradient, view.mean_gradient + decay, decay)
    return [float(np.linalg.norm(vector)) for vector in some]


def opened(model: nn.Module, config: Any, train: tuple) -> Opened:
    """Decompose a model's Hessian over some records."""
    goal = objective(model, config.loss_of, *train)
    return Opened(goal, train, spectrum_of(goal, *goal.records(*train)), config.weight_decay)


def empty(inverses: tuple[Inverse, ...], count: int) -> FloatArray:
    """Forms (inverse, term, count) of which none is known."""
    return np.full((len(inverses), len(TERMS), count), np.nan)


def fill(form: FloatArray, rows: Any, one: Inverse, place: int, found: dict) -> None:
    """Enter the forms that are kept of one inverse."""
    for term in one.kept:
        form[place, TERMS.index(term), rows] = found[term]


def observe(trained: Trained, target: int, damping: float) -> dict[str, np.ndarray]:
    """Everything that the chapter keeps of one target's gradients.

    Returns
    -------
    dict of str to ndarray
        ``main`` and ``sweep``, forms (inverse, term, queries), with the ``amount`` of damping
        used; ``mean2`` and ``mean3``, (fractions, queries), of the gradient over known records,
        ``known``, (fractions, queries), and ``n_known``; ``eigenvalue``; ``norm``.
    """
    model = trained.ensemble.module(target)
    how = opened(model, trained.task.config, training_records(trained, target))
    known = _known(trained, target, how)
    raised = enough(how.spectrum.values, damping)
    queries, some = trained.queries, {"swept": trained.asked(SWEPT), "known": trained.asked(KNOWN)}
    rows_of = {name: np.searchsorted(queries, asked) for name, asked in some.items()}
    parts = {
        "main": empty(main(damping), len(queries)),
        "sweep": empty(sweep(), len(some["swept"])),
        "mean2": np.empty((len(FRACTIONS), len(some["known"]))),
        "mean3": np.empty((len(FRACTIONS), len(some["known"]))),
    }
    for view, rows in how.views(records(trained, queries)):
        for place, one in enumerate(main(damping)):
            fill(parts["main"], rows, one, place, how.forms(view, one, raised))
        part, to = _within(view, rows, rows_of["swept"])
        for place, one in enumerate(sweep()):
            if how.usable(one) and len(to):
                fill(parts["sweep"], to, one, place, how.forms(part, one, one.amount))
        part, to = _within(view, rows, rows_of["known"])
        for place, (_, mean) in enumerate(known):
            of = WhiteBoxView(part.gradient, part.loss, mean, part.weight, part.n_train)
            found = how.forms(of, main(damping)[0], raised)
            parts["mean2"][place, to], parts["mean3"][place, to] = found["mean2"], found["mean3"]
    return {
        **parts,
        "known": np.stack([np.isin(some["known"], chosen) for chosen, _ in known]),
        "n_known": np.array([len(chosen) for chosen, _ in known]),
        "amount": np.array([raised, raised, 0.0]),
        "eigenvalue": how.spectrum.values,
        "norm": np.array(how.norms(view)),
    }


def training_records(trained: Trained, target: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The records that a target was trained on."""
    return records(trained, np.flatnonzero(trained.task.membership[target]))


def records(trained: Trained, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Some records of the pool, copied."""
    pool = trained.task.pool
    return torch.tensor(pool.x[rows]), torch.tensor(pool.y[rows])


def _within(view: WhiteBoxView, rows: slice, wanted: np.ndarray) -> tuple[WhiteBoxView, np.ndarray]:
    """The part of a block that is among the wanted rows, and its places there."""
    inside = (wanted >= rows.start) & (wanted < rows.stop)
    at = wanted[inside] - rows.start
    part = WhiteBoxView(
        view.gradient[at], view.loss[at], view.mean_gradient, view.weight, view.n_train
    )
    return part, np.flatnonzero(inside)


def _known(trained: Trained, target: int, how: Opened) -> list[tuple[np.ndarray, FloatArray]]:
    """For each fraction: the members known, and their mean gradient in the eigenbasis."""
    found = []
    for chosen in known_members(trained, target):
        mean = mean_gradient(how.goal, *how.goal.records(*records(trained, chosen)))
        found.append((chosen, how.spectrum.rotate(mean).cpu().numpy()))
    return found


def known_members(trained: Trained, target: int) -> list[np.ndarray]:
    """For each fraction the members known, at random; a larger one holds the smaller."""
    rng = np.random.default_rng([trained.seed, 13, target])
    order = rng.permutation(np.flatnonzero(trained.task.membership[target]))
    return [order[: max(2, round(fraction * len(order)))] for fraction in FRACTIONS]
