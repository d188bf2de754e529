"""What stands for the curvature: the Hessian, the Gauss-Newton matrix, or Kronecker factors of it.

Of the networks of Table 2 whose Hessian is decomposed, for the records and dampings of its sweep,
and of a small residual network with batch norm, whose Hessian is too dear: of it there is the least
eigenvalue alone.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
import xarray as xr
from torch import nn

from membership import data, evidence, metrics, plots, training
from membership.arrays import FloatArray
from membership.attacks.forms import Forms, forms_of
from membership.attacks.iha import iha_from_forms
from membership.book.exhibits.sentences import joined
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.iha import subjects
from membership.book.studies.iha.evaluation import RESAMPLES, Evaluation
from membership.book.studies.iha.experiment import Task, Trained, about_task, train
from membership.book.studies.iha.experiment import task as make_task
from membership.book.studies.iha.forms import DAMPINGS, N_SWEPT, records, training_records
from membership.book.studies.iha.scores import PAIRED, columns, over_models
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import Subject
from membership.curvature.conjugate_gradients import ends
from membership.curvature.gradients import views
from membership.curvature.hessians import curvature_matrix, curvature_products
from membership.curvature.inverse import Factor, Factors, eigenvalues, factorised
from membership.curvature.kronecker import kronecker
from membership.curvature.objective import Objective, objective
from membership.errors import RunError
from membership.models.residual import small_resnet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HESSIAN, GGN, FACTORS, LOSS = "Hessian", "Gauss-Newton", "EK-FAC", "LOSS"
MATRICES = (GGN, FACTORS)
LEAST = "least eigenvalue"


@dataclass(frozen=True)
class Size:
    """Of the residual network and its training."""

    members: int
    targets: int
    epochs: int
    widths: tuple[int, int, int]


SIZES = {
    "tiny": Size(60, 3, 2, (1, 2, 2)),
    "quick": Size(100, 3, 20, (1, 2, 4)),
    "paper": Size(1000, 6, 60, (4, 8, 16)),
}


def of_table_2(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence of a network of Table 2, one target of each pair."""
    task = make_task(subject, settings)
    every = list(task.targets[::2])
    task = replace(task, targets=tuple(range(len(every))), membership=task.membership[every])
    trained = train(task, settings, every)
    return _gathered(trained, trained.sample_queries(N_SWEPT), every, _scored)


@evidence.version(2)
def of_residual(subject: Subject, settings: Settings) -> xr.Dataset:
    """The evidence of the small residual network."""
    trained = train(residual_task(subject, settings), settings)
    found = _gathered(trained, trained.queries, trained.targets, _with_least)
    found.attrs["setup"] = {**found.attrs["setup"], "architecture": "ResNet-8"}
    return found


def residual_task(subject: Subject, settings: Settings) -> Task:
    """Records drawn from a data set of images, each model trained on a random half of its own."""
    size, loaded = SIZES[settings.profile], data.load(subject.name, root=settings.data_root or None)
    rng = np.random.default_rng([settings.seed, 41])
    pool = loaded.select(np.sort(rng.choice(len(loaded), 2 * size.members, replace=False)))
    label = subjects.recipe_of(subject.name, loaded.name).label
    channels, classes = pool.x.shape[1], pool.n_classes
    return Task(
        label=f"{label}, ResNet-8",
        published="",
        pool=pool,
        test=None,
        factory=functools.partial(small_resnet, size.widths, classes, channels),
        config=training.TrainingConfig(
            epochs=size.epochs,
            batch_size=64,
            learning_rate=0.1,
            momentum=0.9,
            weight_decay=5e-4,
            schedule="cosine",
        ),
        membership=data.random_halves(size.targets, len(pool), settings.seed),
        origin={loaded.name: loaded.digest},
        deviations=("none of the paper's networks",),
        targets=tuple(range(size.targets)),
        n_queries=size.members,
    )


Look = Callable[[Trained, np.ndarray, int], dict[str, np.ndarray]]


def _gathered(trained: Trained, asked: np.ndarray, names: list[int], look: Look) -> xr.Dataset:
    """Scores by matrix and damping of every target, of the models called so."""
    task = trained.task
    determined = (asdict(task.config), asked, task.pool.x, task.pool.y, task.membership)
    parts = evidence.in_parts(
        functools.partial(look, trained, asked),
        trained.targets,
        *determined,
        *trained.ensemble.parameters.values(),
    )
    stacked = {name: [part[name] for part in parts] for name in parts[0]}
    axes = {"score": ("target", "matrix", "damping", "query"), "loss": ("target", "query")}
    return evidence.dataset(
        "measured",
        {
            "member": (("target", "query"), task.membership[:, asked]),
            **{
                name: (axes.get(name, ("target",)), evidence.rounded(values))
                for name, values in stacked.items()
            },
        },
        {"target": names, "matrix": list(MATRICES), "damping": list(DAMPINGS), "query": asked},
        **about_task(task),
        n_models=len(names),
        seed=trained.seed,
        device=trained.device,
    )


def _scored(trained: Trained, asked: np.ndarray, target: int) -> dict[str, np.ndarray]:
    """``score`` (matrices, dampings, records) and ``loss`` (records,) of one target."""
    train = training_records(trained, target)
    query = records(trained, asked)
    member, config = trained.task.membership[target, asked], trained.task.config
    model, loss = trained.ensemble.module(target), config.loss_of
    if config.loss == "squared-error":
        # Convex in the probability, and not in the logit.
        model, loss = nn.Sequential(model, nn.Sigmoid()), _squared
    goal = objective(model, loss, *train, None, "ggn")
    decay, recipe = config.weight_decay, trained.recipe.values()
    by_matrix = (f(goal, train, query, decay) for f in (_by_matrix, _by_factors))
    score = [
        [iha_from_forms(f, f["loss"], member, len(train[0]), *recipe).score for f in of_one]
        for of_one in by_matrix
    ]
    with torch.no_grad():
        losses = goal.losses(goal.parameters, *goal.records(*query))
    return {"score": np.array(score), "loss": losses.numpy()}


def _squared(probability: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (probability.squeeze(-1) - y) ** 2


def _by_matrix(goal: Objective, train: tuple, query: tuple, decay: float) -> list[Forms]:
    """Forms by damping with the Gauss-Newton matrix itself."""
    matrix, forms = curvature_matrix(goal, *goal.records(*train)), []
    blocks = list(views(goal, train, query))
    for damping in DAMPINGS:
        damped = matrix.clone()
        damped.diagonal().add_(damping)
        if not factorised(damped):
            raise RunError(f"the Gauss-Newton matrix has no Cholesky factor with {damping:g}")
        forms += forms_of(blocks, [Factors(Factor(damped), Factor(damped))], decay)
    return forms


def _by_factors(goal: Objective, train: tuple, query: tuple, decay: float) -> list[Forms]:
    """The same with its Kronecker factors."""
    basis = kronecker(goal, *goal.records(*train), corrected=True)
    inverses = [eigenvalues(basis.values, damping) for damping in DAMPINGS]
    return forms_of(views(goal, train, query, basis), inverses, decay)


@evidence.version(2)
def _with_least(trained: Trained, asked: np.ndarray, target: int) -> dict[str, np.ndarray]:
    """As `_scored`, with the ``least`` eigenvalue of the Hessian, by products in float32."""
    config, (x, y) = trained.task.config, training_records(trained, target)
    goal = objective(trained.ensemble.module(target), config.loss_of, x, y).to(torch.float32)

    def product(vectors: torch.Tensor) -> torch.Tensor:
        return curvature_products(goal, x, y, vectors.float()).double()

    least, _ = ends(product, goal.size, goal.device)
    return {**_scored(trained, asked, target), "least": np.array(least)}


@dataclass(frozen=True)
class _Found:
    """One data set's scores by matrix and damping, (targets, records), with what belongs to it."""

    evidence: xr.Dataset
    score: dict[tuple[str, float], FloatArray]
    least: FloatArray
    units: np.ndarray

    def rows(self) -> list[dict[str, Any]]:
        """Tidy rows: AUC, what a matrix adds to another and to the loss, the least eigenvalue."""
        member = self.evidence["member"].values
        loss = -self.evidence["loss"].values.astype(float)
        rows = [{**self._key(LOSS, np.nan), "metric": "AUC", **self._auc(loss, member)}]
        for (matrix, damping), score in self.score.items():
            key = self._key(matrix, damping)
            rows.append({**key, "metric": "AUC", **self._auc(score, member)})
            beside = {HESSIAN: self.score.get((HESSIAN, damping)), LOSS: loss}
            beside |= {GGN: self.score[GGN, damping]} if matrix == FACTORS else {}
            for name, other in beside.items():
                if other is None or name == matrix:
                    continue
                key = self._key(f"{matrix} less {name}", damping)
                rows.append({**key, "metric": PAIRED, **self._less(score, other, member)})
        least = metrics.summary(self.least, self.units)
        return [*rows, {**self._key(HESSIAN, np.nan), "metric": LEAST, **least}]

    def _key(self, matrix: str, damping: float) -> dict[str, Any]:
        return {"dataset": self.evidence.attrs["set"], "matrix": matrix, "damping": damping}

    def _auc(self, score: FloatArray, member: np.ndarray) -> dict[str, float]:
        each = [metrics.auc(s, m) for s, m in zip(score, member, strict=True)]
        return over_models(each, 1.0, units=self.units)

    def _less(self, one: FloatArray, other: FloatArray, member: np.ndarray) -> dict[str, float]:
        share = len(member[0]) / self.evidence.attrs["pool"]
        how = {"units": self.units, "asked_share": share, "resamples": RESAMPLES}
        return columns(metrics.paired_interval("auc", one, other, member, **how))


def control_29(
    found: Sequence[xr.Dataset],
    residual: Sequence[xr.Dataset],
    swept: Sequence[Evaluation],
    forms: Sequence[xr.Dataset],
) -> pd.DataFrame:
    """iha-ctl-29: the score by matrix and damping."""
    of_table_2 = zip(found, swept, forms, strict=True)
    parts = [*(_beside_hessian(*one) for one in of_table_2), *map(_alone, residual)]
    rows = [row for part in parts for row in part.rows()]
    sizes = {part.evidence.attrs["set"]: _size(part.evidence) for part in parts}
    note = "The residual network's least eigenvalue is right to 1e-4 of its largest."
    return tidy(rows, origin([*found, *residual], named=True, sizes=sizes, note=note))


def _scores_of(found: xr.Dataset) -> dict[tuple[str, float], FloatArray]:
    return {
        (matrix, damping): found["score"].sel(matrix=matrix, damping=damping).values.astype(float)
        for matrix in MATRICES
        for damping in DAMPINGS
    }


def _beside_hessian(found: xr.Dataset, swept: Evaluation, forms: xr.Dataset) -> _Found:
    """With the Hessian's scores of the same targets and records."""
    at = [swept.attrs["targets"].index(target) for target in found["target"].values]
    score = {
        (HESSIAN, damping): np.stack([swept.by_target[k][f"IHA, damping {damping:g}"] for k in at])
        for damping in DAMPINGS
        if swept.has(f"IHA, damping {damping:g}")
    }
    least = forms["eigenvalue"].values[at].min(1)
    return _Found(found, score | _scores_of(found), least, np.arange(len(at)))


def _alone(found: xr.Dataset) -> _Found:
    least = found["least"].values.astype(float)
    return _Found(found, _scores_of(found), least, np.arange(len(least)))


def _size(found: xr.Dataset) -> str:
    recipe, (targets, asked) = found.attrs["recipe"], found["member"].shape
    return (
        f"{targets} models attacked, {recipe['members']:,} members a model, "
        f"{recipe['parameters']:,} parameters, {asked:,} records asked"
    )


def control_29_drawn(table: pd.DataFrame) -> "Figure":
    """Control 29: AUC against damping, a line a matrix and one for the loss, by data set."""
    shown = table[table["metric"].eq("AUC") & (table["damping"] > 0)]
    flat = table[table["matrix"].eq(LOSS) & table["metric"].eq("AUC")]
    levels = pd.concat([flat.assign(damping=damping) for damping in DAMPINGS])
    shown = pd.concat([shown, levels], ignore_index=True)
    return plots.lines_with_intervals(
        shown, "damping", by="matrix", panel="dataset", log_x=True, y_label="AUC"
    )


def control_29_said(table: pd.DataFrame) -> str:
    """The best damping of the Gauss-Newton matrix on each data set."""
    auc = table[table["metric"].eq("AUC") & table["matrix"].eq(GGN)]
    best = auc.loc[auc.groupby("dataset", sort=False)["value"].idxmax()]
    parts = best["damping"].map("{:g}".format) + " on " + best["dataset"]
    return f"With the Gauss-Newton matrix the AUC is highest at a damping of {joined([*parts])}."
