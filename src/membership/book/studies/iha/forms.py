"""Quadratic forms of a target's gradients, from one look at them.

By one decomposition of its Hessian, by two Cholesky factors where that is too large to decompose,
and of every record of the pool where it is that of one logit.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from membership import memory
from membership.arrays import FloatArray
from membership.attacks.forms import TERMS, forms_of, quadratic_forms
from membership.book.studies.iha.experiment import Trained
from membership.book.studies.iha.scores import LEARNT_BY, METRICS, iha, number
from membership.curvature import inverse
from membership.curvature.eigen import Spectrum, conditioned_inverse, spectrum_of
from membership.curvature.gradients import WhiteBoxView, mean_gradient, views, with_rows
from membership.curvature.hessians import curvature_matrix
from membership.curvature.inverse import Factor, enough, factorised, least_eigenvalue
from membership.curvature.objective import Objective, objective
from membership.errors import RunError

DAMPINGS = (0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
RANKS = (0.01, 0.1, 0.2)
FRACTIONS = (0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
VECTORS = ("gradient", "regularised", "decay")
# The sweep over dampings and ranks, and the known fractions, are asked about fewer records.
N_SWEPT, N_KNOWN = 400, 2200
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
        named = self.conditioning == "identity"
        name = self.conditioning if named else f"{self.conditioning} {self.amount:g}"
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
    return [asdict(kind) for kind in inverses]


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

    def forms(self, view: WhiteBoxView, inverse: Inverse) -> dict[str, FloatArray]:
        """`quadratic_forms` of a block with one inverse."""
        how = (inverse.conditioning, inverse.amount, inverse.stationarity)
        return quadratic_forms(view, self.spectrum.values, self.weight_decay, *how)


def norms_of(view: WhiteBoxView, weight_decay: float) -> list[float]:
    """Lengths of the gradient, of it with the weight decay, and of the weight decay."""
    decay = weight_decay * view.weight
    vectors = (view.mean_gradient, view.mean_gradient + decay, decay)
    return [float(np.linalg.norm(vector)) for vector in vectors]


def opened(model: nn.Module, config: Any, train: tuple) -> Opened:
    """Decompose a model's Hessian over some records."""
    goal = objective(model, config.loss_of, *train)
    return Opened(goal, train, spectrum_of(goal, *goal.records(*train)), config.weight_decay)


def empty(inverses: tuple[Inverse, ...], count: int) -> FloatArray:
    """Forms (inverse, term, count) of which none is known."""
    return np.full((len(inverses), len(TERMS), count), np.nan)


def fill(form: FloatArray, rows: Any, kind: Inverse, place: int, forms: dict) -> None:
    """Enter the forms that are kept of one inverse."""
    for term in kind.kept:
        form[place, TERMS.index(term), rows] = forms[term]


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
    known = _known(trained, target, how.goal)
    raised = enough(how.spectrum.values, damping)
    of_main = main(raised)
    queries, asked = trained.queries, trained.sample_queries(N_KNOWN)
    swept_at, known_at = (
        np.searchsorted(queries, sample) for sample in (trained.sample_queries(N_SWEPT), asked)
    )
    means = [how.spectrum.rotate(mean).cpu().numpy() for _, mean in known]
    parts = {
        "main": empty(of_main, len(queries)),
        "sweep": empty(sweep(), len(swept_at)),
        **{name: np.empty((len(FRACTIONS), len(asked))) for name in ("mean2", "mean3")},
    }
    for view, rows in how.views(records(trained, queries)):
        for place, kind in enumerate(of_main):
            fill(parts["main"], rows, kind, place, how.forms(view, kind))
        part, to = _within(view, rows, swept_at)
        for place, kind in enumerate(sweep()):
            if how.usable(kind) and len(to):
                fill(parts["sweep"], to, kind, place, how.forms(part, kind))
        part, to = _within(view, rows, known_at)
        for place, mean in enumerate(means):
            forms = how.forms(replace(part, mean_gradient=mean), of_main[0])
            parts["mean2"][place, to], parts["mean3"][place, to] = forms["mean2"], forms["mean3"]
    return {
        **parts,
        **_who_is_known(known, asked),
        "amount": np.array([raised, raised, 0.0]),
        "eigenvalue": how.spectrum.values,
        "norm": np.array(norms_of(view, how.weight_decay)),
    }


def training_records(trained: Trained, target: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The records that a target was trained on."""
    return records(trained, np.flatnonzero(trained.task.membership[target]))


def records(trained: Trained, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Some records of the pool, copied."""
    pool = trained.task.pool
    return torch.tensor(pool.x[rows]), torch.tensor(pool.y[rows])


def _within(view: WhiteBoxView, rows: slice, sample: np.ndarray) -> tuple[WhiteBoxView, np.ndarray]:
    """The part of a block that is among the wanted rows, and its places there."""
    inside = (sample >= rows.start) & (sample < rows.stop)
    at = sample[inside] - rows.start
    part = replace(view, gradient=view.gradient[at], loss=view.loss[at])
    return part, np.flatnonzero(inside)


Known = list[tuple[np.ndarray, torch.Tensor]]


def _known(trained: Trained, target: int, goal: Objective) -> Known:
    """For each fraction: the members known, and their mean gradient."""
    return [
        (chosen, mean_gradient(goal, *goal.records(*records(trained, chosen))))
        for chosen in known_members(trained, target)
    ]


def _who_is_known(known: Known, asked: np.ndarray) -> dict[str, np.ndarray]:
    """For each fraction: which of the records asked are known, and how many are known in all."""
    return {
        "known": np.stack([np.isin(asked, chosen) for chosen, _ in known]),
        "n_known": np.array([len(chosen) for chosen, _ in known]),
    }


def known_members(trained: Trained, target: int) -> list[np.ndarray]:
    """For each fraction the members known, at random; a larger one holds the smaller."""
    rng = np.random.default_rng([trained.seed, 13, target])
    order = rng.permutation(np.flatnonzero(trained.task.membership[target]))
    return [order[: max(2, round(fraction * len(order)))] for fraction in FRACTIONS]


def inverses(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, damping: float, weight_decay: float
) -> tuple[list[inverse.Inverse], float]:
    """What stands for the inverses of `main`, and the damping, raised as `enough` asks for it."""
    memory.require(
        16.0 * goal.size**2,
        f"two Cholesky factors for {goal.size:,} parameters",
        "give a smaller network",
        goal.device,
    )
    amount = damping
    while (factors := _two(goal, x, y, amount, weight_decay)) is None:
        amount *= 2
    least = least_eigenvalue(factors[0], amount)
    needed = enough(np.array([least]), damping)
    if needed != amount:
        factors = None  # its memory is needed once more
        factors = _two(goal, x, y, needed, weight_decay)
    if factors is None:
        raise RunError(f"the Hessian has no Cholesky factor with damping {needed:.3g}")
    inner, outer = factors
    return [
        inverse.Factors(inner, inner),
        inverse.Factors(outer, inner),
        inverse.identity(goal.size),
    ], needed


def observe_factored(trained: Trained, target: int, damping: float) -> dict[str, np.ndarray]:
    """As `observe`, without the sweep and without eigenvalues."""
    train, config = training_records(trained, target), trained.task.config
    goal = objective(trained.ensemble.module(target), config.loss_of, *train)
    decay = config.weight_decay
    stand, amount = inverses(goal, *goal.records(*train), damping, decay)
    queries, asked = trained.queries, trained.sample_queries(N_KNOWN)
    known, published = _known(trained, target, goal), stand[0]
    first = published.solve(np.stack([mean.cpu().numpy() for _, mean in known]))
    means = {"mean2": published.solve(first), "mean3": published.solve(published.between(first))}
    products: dict[str, list[FloatArray]] = {name: [] for name in means}
    norms: list[float] = []

    def looked_at() -> Iterator[WhiteBoxView]:
        """The blocks, and on their way what the known records' gradients make of them."""
        for view in views(goal, train, records(trained, queries)):
            norms[:] = norms_of(view, decay)
            for name, vectors in means.items():
                products[name].append(view.gradient @ vectors.T)
            yield view

    labels, at = main(damping), np.searchsorted(queries, asked)
    form = empty(labels, len(queries))
    for place, forms in enumerate(forms_of(looked_at(), stand, decay)):
        fill(form, slice(None), labels[place], place, forms)
    return {
        "main": form,
        **{name: np.concatenate(parts)[at].T for name, parts in products.items()},
        **_who_is_known(known, asked),
        "amount": np.array([amount, amount, 0.0]),
        "norm": np.array(norms),
    }


def _two(
    goal: Objective, x: torch.Tensor, y: torch.Tensor, amount: float, more: float
) -> tuple[Factor, Factor] | None:
    """The factors of the Hessian with so much damping, and with more; None where one has none."""
    matrix = curvature_matrix(goal, x, y)
    matrix.diagonal().add_(amount)
    inner = matrix.clone()
    if not factorised(inner):
        return None
    matrix.diagonal().add_(more)
    return (Factor(inner), Factor(matrix)) if factorised(matrix) else None


# The names of scores, each with its inverse in the evidence and its attack.
OF_SWEEP = {
    **{f"IHA, damping {d:g}": (f"damping {d:g}", "IHA") for d in DAMPINGS},
    **{f"IHA*, damping {d:g}": (f"damping {d:g}, regularised", "IHA*") for d in DAMPINGS},
    **{f"IHA, low rank {r:g}": (f"low-rank {r:g}", "IHA") for r in RANKS},
}
PUBLIC = "gradient of public records"
DECAY = "minus the weight decay for the gradient"
# An adversary without the other records: what it puts in the place of their gradient. With minus
# the weight decay nothing is left of the residual of IHA*.
ELSEWHERE = {f"IHA, {PUBLIC}": "IHA", f"IHA*, {PUBLIC}": "IHA*", f"IHA, {DECAY}": "IHA"}


def whole_attacks(trained: Trained) -> list[str]:
    """The names of the attacks, those with public records where there are some."""
    elsewhere = [name for name in ELSEWHERE if trained.task.test is not None or PUBLIC not in name]
    return ["LOSS", *OF_SWEEP, *elsewhere]


def observe_all(trained: Trained, target: int, damping: float) -> dict[str, FloatArray]:
    """``value``, AUC and rates of each of the attacks on one target; NaN where there is none."""
    task = trained.task
    member, recipe = task.membership[target], {**trained.recipe, "members": task.n_members}
    how = opened(trained.ensemble.module(target), task.config, training_records(trained, target))
    raised = enough(how.spectrum.values, damping)
    public = _public(trained, how)
    loss, products = np.empty(len(task.pool)), np.empty((len(task.pool), 0))
    weights: dict[str, tuple[FloatArray, FloatArray]] = {}
    own = along = np.empty((0, 0))
    for view, at in how.views(records(trained, np.arange(len(task.pool)))):
        if not weights:
            weights = _weights_by_attack(how, view, public, raised)
            own, along = (np.hstack([pair[place] for pair in weights.values()]) for place in (0, 1))
            products = np.empty((len(loss), 4 * len(weights)))
        loss[at] = view.loss
        products[at] = np.hstack([np.square(view.gradient) @ own, view.gradient @ along])
    scores: dict[str, FloatArray] = {"LOSS": -loss}
    for place, name in enumerate(weights):
        own2, own3 = products[:, 2 * place : 2 * place + 2].T
        first = 2 * (len(weights) + place)
        mean2, mean3 = products[:, first : first + 2].T
        # The two conditions of stationarity read the same forms under their own names.
        forms = {"own2": own2, "own3": own3, "mean2": mean2, "mean3": mean3}
        forms |= {"rest2": mean2, "rest3": mean3}
        attack = ELSEWHERE[name] if name in ELSEWHERE else OF_SWEEP[name][1]
        knowledge = ", everyone" if name in ELSEWHERE else ""
        scores[name] = iha(forms, loss, member, recipe, attack, knowledge).score
    value = np.full((len(whole_attacks(trained)), len(METRICS)), np.nan)
    for place, name in enumerate(whole_attacks(trained)):
        if name in scores:
            value[place] = [number(metric, scores[name], member) for metric in METRICS]
    return {"value": value}


def _weights_by_attack(
    how: Opened, view: WhiteBoxView, public: FloatArray | None, damping: float
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By attack, what squared gradients and gradients are multiplied by for its forms, (p, 2)."""
    usable = {kind.label: kind for kind in sweep() if how.usable(kind)}
    weights = {
        name: _weights(how, view, view.mean_gradient, usable[label])
        for name, (label, _) in OF_SWEEP.items()
        if label in usable
    }
    means = {DECAY: -how.weight_decay * view.weight, PUBLIC: public}
    for name, attack in ELSEWHERE.items():
        mean = means[name.partition(", ")[2]]
        if mean is not None:
            kind = Inverse("damping", damping, LEARNT_BY[attack])
            weights[name] = _weights(how, view, mean, kind)
    return weights


def _weights(
    how: Opened, view: WhiteBoxView, mean: FloatArray, kind: Inverse
) -> tuple[FloatArray, FloatArray]:
    """As `quadratic_forms` has them, for many inverses at once."""
    learnt = kind.stationarity == "regularised"
    values, shift = how.spectrum.values, how.weight_decay if learnt else 0.0
    between = conditioned_inverse(values, kind.amount, kind.conditioning)
    outer = conditioned_inverse(values, kind.amount, kind.conditioning, shift=shift)
    own = np.stack([outer**2, outer**2 * between], axis=1)
    vector = mean + how.weight_decay * view.weight if learnt else mean
    return own, own * vector[:, None]


def _public(trained: Trained, how: Opened) -> FloatArray | None:
    """The mean gradient over the official test records, in the eigenbasis."""
    test = trained.task.test
    if test is None:
        return None
    test_records = how.goal.records(torch.tensor(test.x), torch.tensor(test.y))
    mean = mean_gradient(how.goal, *test_records)
    return how.spectrum.rotate(mean).cpu().numpy()
