"""Leave-one-out retraining: models on the same few records but for one, and their evidence.

D is a fixed training set. For records z in D, models are trained on D without z (the references of
the L-attack and of LiRA-L); for records z outside, on D with z (the clean game). Both share the
models trained on D itself, which differ in their seed alone.

The records asked about are those left out of D, `inside`, and all records outside D: models trained
on D about every one, those trained without or with z about z alone. Forms are taken over D,
whatever a model was trained on: of models trained on D, and of half of those trained on D + z.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
import xarray as xr

from membership import evidence, signals, training
from membership.arrays import BoolArray, FloatArray
from membership.attacks.forms import TERMS
from membership.book.exhibits import Source
from membership.book.exhibits.tidy import origin
from membership.book.studies.iha import experiment as tasks
from membership.book.studies.iha import forms as white_box
from membership.book.studies.iha import scores, subjects
from membership.book.studies.iha.experiment import about_task, scaled_logits
from membership.book.studies.iha.scores import NORM, Scores, by_inverse
from membership.book.studies.iha.settings import N_BASE, Settings
from membership.book.studies.iha.subjects import Subject, size_of
from membership.curvature.inverse import enough
from membership.errors import InputError

MOST_PARAMETERS = 800
BATCH_SIZE = 32
# Of a model at most: tiny and own numbers of epochs may be fewer.
EPOCHS = {"tiny": 300, "quick": 150, "paper": 300}
FEW_MODELS = 256


@dataclass(frozen=True)
class LeaveOneOut:
    """Retrained models of one data set, and what they answer.

    Attributes
    ----------
    task : tasks.Task
        Its pool holds D first, then as many records outside.
    inside, outside : numpy.ndarray of int, shape (R,)
        The records z in D and outside that are played for.
    ensemble : training.Ensemble
        All models; the groups below say which is which.
    groups : dict of str to numpy.ndarray of int
        "references" and "targets", shape (K,): trained on D. "without" and "with", shape (R, K):
        on D less, or with, one record. "ordinary", shape (K,): on halves of the pool.
    """

    task: tasks.Task
    inside: np.ndarray
    outside: np.ndarray
    ensemble: training.Ensemble
    groups: dict[str, np.ndarray]

    @property
    def base(self) -> np.ndarray:
        """Rows of D in the pool."""
        return np.arange(len(self.task.pool) // 2)

    @property
    def setup(self) -> dict[str, Any]:
        """What verdicts compare with the paper's set-up."""
        sizes = {
            "queried_members": len(self.inside),
            "queried_non_members": len(self.outside),
            "reference_models": len(self.groups["references"]),
            "members": len(self.base),
        }
        return {**self.task.setup, **sizes}


def retrain(name: str, settings: Settings) -> LeaveOneOut:
    """Train every model of the experiment, side by side."""
    task = small_task(name, settings)
    half, count, models = len(task.pool) // 2, settings.loo_records, settings.loo_models
    rng = np.random.default_rng([settings.seed, 17])
    inside = np.sort(rng.choice(half, count, replace=False))
    outside = half + np.sort(rng.choice(half, count, replace=False))
    base = np.arange(2 * half) < half
    without = np.stack([base & (np.arange(2 * half) != z) for z in inside])
    added = np.stack([base | (np.arange(2 * half) == z) for z in outside])
    masks = {
        "references": np.repeat(base[None], models, axis=0),
        "targets": np.repeat(base[None], models, axis=0),
        "without": np.repeat(without, models, axis=0),
        "with": np.repeat(added, models, axis=0),
        "ordinary": tasks.halves(models // 2 * 2, 2 * half, settings.seed),
    }
    member = np.concatenate(list(masks.values()))
    ensemble = training.train(
        task.factory,
        task.pool,
        member,
        task.config,
        [settings.seed * 100_000 + i for i in range(len(member))],
        device=settings.device,
        # Starting processes takes longer than training a few models.
        n_jobs=settings.n_jobs if len(member) > FEW_MODELS else 1,
    )
    ends = np.cumsum([len(mask) for mask in masks.values()])
    rows = np.split(np.arange(len(member)), ends[:-1])
    groups = {
        group: index.reshape(count, models) if group in ("without", "with") else index
        for group, index in zip(masks, rows, strict=True)
    }
    return LeaveOneOut(task, inside, outside, ensemble, groups)


def small_task(name: str, settings: Settings) -> tasks.Task:
    """The task of a data set on a few records, its network small enough for many Hessians."""
    subject = Subject(name, n_models=2)
    whole = tasks.task(subject, settings)
    n_features = int(np.prod(whole.pool.x.shape[1:]))
    least = size_of(n_features, (1,), whole.pool.n_classes)
    limit = min(settings.most_parameters, max(MOST_PARAMETERS, least))
    small = tasks.task(replace(subject, most_parameters=limit), settings)
    half = min(N_BASE, len(small.pool) // 2)
    if settings.loo_records > half:
        raise InputError(
            f"loo_records = {settings.loo_records}: there are {half} training records only"
        )
    order = np.random.default_rng([settings.seed, 19]).permutation(len(small.pool))[: 2 * half]
    most = EPOCHS[settings.profile]
    config = replace(
        small.config,
        epochs=min(settings.epochs or most, most),
        batch_size=min(BATCH_SIZE, half),
    )
    return replace(small, pool=small.pool.select(order), config=config)


def outputs(subject: Subject, settings: Settings) -> xr.Dataset:
    """What every retrained model answers for the records; NaN where it was not asked."""
    experiment = retrain(subject.name, settings)
    queries = _queries(experiment)
    pool, answered = experiment.task.pool, _which_answered(experiment, queries)
    answers = scaled_logits(experiment.ensemble, pool.x[queries], pool.y[queries])
    return evidence.dataset(
        "outputs",
        {
            "log_odds": np.where(answered, answers, np.nan),
            "asked": answered,
            "member": experiment.ensemble.membership[:, queries],
        },
        {"model": np.arange(len(experiment.ensemble)), "record": queries},
        **_about(experiment),
    )


def forms(subject: Subject, settings: Settings) -> xr.Dataset:
    """Quadratic forms of the retrained models; NaN where one was not asked."""
    experiment = retrain(subject.name, settings)
    queries, inverses = _queries(experiment), white_box.main(settings.damping)
    models, rows = _models(experiment, settings, queries)
    observed = [
        _of_model(experiment, m, queries, r, settings) for m, r in zip(models, rows, strict=True)
    ]
    return evidence.dataset(
        "white_box",
        {
            "member": experiment.ensemble.membership[np.ix_(models, queries)],
            **{name: [part[name] for part in observed] for name in ("form", "damping", "norm")},
        },
        {
            "target": models,
            "query": queries,
            "term": list(TERMS),
            "inverse": [inverse.label for inverse in inverses],
            "vector": list(white_box.VECTORS),
        },
        inverses=white_box.described(inverses),
        **_about(experiment),
    )


def _queries(experiment: LeaveOneOut) -> np.ndarray:
    outside = np.arange(len(experiment.base), len(experiment.task.pool))
    return np.concatenate([experiment.inside, outside])


def _which_answered(experiment: LeaveOneOut, queries: np.ndarray) -> np.ndarray:
    """Which models are asked which records: one trained with or without z, about z alone."""
    answered = np.ones((len(experiment.ensemble), len(queries)), bool)
    for group, records in (("without", experiment.inside), ("with", experiment.outside)):
        for models, z in zip(experiment.groups[group], records, strict=True):
            answered[models] = queries == z
    return answered


def _models(
    experiment: LeaveOneOut, settings: Settings, queries: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The models whose gradients are read, and the places among the records asked of each."""
    half = experiment.groups["with"].shape[1] // 2
    shared = experiment.groups["targets"][: max(half, settings.n_targets)]
    played = experiment.groups["with"][:, half : 2 * half]
    own = [np.flatnonzero(queries == z) for z in experiment.outside]
    rows = [np.arange(len(queries))] * len(shared)
    rows += [z for z, models in zip(own, played, strict=True) for _ in models]
    return np.concatenate([shared, played.ravel()]), rows


def _of_model(
    experiment: LeaveOneOut, model: int, queries: np.ndarray, rows: np.ndarray, settings: Settings
) -> dict[str, Any]:
    """Forms (inverse, term, queries) of one model, with D as the training set whatever it was."""
    task = experiment.task

    def records(chosen: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor(task.pool.x[chosen]), torch.tensor(task.pool.y[chosen])

    how = white_box.opened(experiment.ensemble.module(model), task.config, records(experiment.base))
    raised = enough(how.spectrum.values, settings.damping)
    inverses = white_box.main(raised)
    form = white_box.empty(inverses, len(queries))
    for view, part in how.views(records(queries[rows])):
        for place, inverse in enumerate(inverses):
            white_box.fill(form, rows[part], inverse, place, how.forms(view, inverse))
    return {
        "form": form,
        "damping": [raised, raised, 0.0],
        "norm": white_box.norms_of(view, how.weight_decay),
    }


def _about(experiment: LeaveOneOut) -> dict[str, Any]:
    groups = {name: rows.tolist() for name, rows in experiment.groups.items()}
    attributes = about_task(experiment.task)
    return {
        **attributes,
        "recipe": {**attributes["recipe"], "members": len(experiment.base)},
        "setup": experiment.setup,
        "targets": groups["targets"],
        "groups": groups,
        "inside": experiment.inside.tolist(),
        "outside": experiment.outside.tolist(),
        "device": str(experiment.ensemble.device),
    }


@dataclass(frozen=True)
class Experiment:
    """Models retrained with one record more or less.

    Attributes
    ----------
    outputs, forms : xarray.Dataset
        The evidence called outputs-left-out and white-box-left-out.
    """

    outputs: xr.Dataset
    forms: xr.Dataset

    @property
    def label(self) -> str:
        """What tables call the data set."""
        return self.outputs.attrs["set"]

    @cached_property
    def groups(self) -> dict[str, np.ndarray]:
        """Which models are which: see `left_out.LeaveOneOut`."""
        return {name: np.array(rows) for name, rows in self.outputs.attrs["groups"].items()}

    @cached_property
    def inside(self) -> np.ndarray:
        """Places of the records left out."""
        return self._places(self.outputs.attrs["inside"])

    @cached_property
    def outside(self) -> np.ndarray:
        """Places of the records added."""
        return self._places(self.outputs.attrs["outside"])

    @cached_property
    def scaled(self) -> FloatArray:
        """Log-odds of the true label, shape (models, records asked)."""
        return self.outputs["log_odds"].values.astype(float)

    @cached_property
    def loss(self) -> FloatArray:
        """The loss that was minimised, shape (models, records asked)."""
        # NaN where a model was not asked.
        with np.errstate(invalid="ignore"):
            return signals.loss_of_log_odds(self.scaled, self.outputs.attrs["recipe"]["loss"])

    def white_box(self, model: int, rows: np.ndarray, member: BoolArray) -> Scores:
        """Attacks on a model's parameters by some of the records asked, with `NORM`.

        `member` says which of them the adversary takes out of D.
        """
        place = int(np.flatnonzero(self.forms["target"].values == model)[0])
        forms, norm = by_inverse(self.forms, place, rows), self.forms["norm"].values[place]
        recipe = self.outputs.attrs["recipe"]
        found = scores.white_box(forms, norm, self.loss[model, rows], member, recipe)
        return {**found, NORM: np.full(len(rows), norm[0])}

    @property
    def size(self) -> str:
        """The size of the experiment in words."""
        n_records, n_models = self.groups["with"].shape
        n_base = self.outputs.attrs["recipe"]["members"]
        return (
            f"{self.label}: {n_base} training records, {n_records} records left out "
            f"and {n_records} added, {n_models} models each (the paper: 25,000 records of "
            "Purchase-100(S), 500 left out, 100 models each)"
        )

    def _places(self, records: list[int]) -> np.ndarray:
        return np.searchsorted(self.outputs["record"].values, records)


def experiments(source: Source) -> list[Experiment]:
    """Every experiment of a run; `source` has the evidence named in `subjects.LEFT_OUT`."""
    return [
        Experiment(*(source.evidence(f"{kind}-{subject.slug}") for kind in subjects.LEFT_OUT))
        for subject in subjects.left_out(source.settings)
    ]


def origin_of(retrained: Sequence[Experiment]) -> dict[str, Any]:
    """What a table made from these experiments says about its origin."""
    sizes = {experiment.label: experiment.size.partition(": ")[2] for experiment in retrained}
    attributes = {"deviations": [experiment.size for experiment in retrained], "sizes": sizes}
    return {**origin(experiment.outputs for experiment in retrained), **attributes}
