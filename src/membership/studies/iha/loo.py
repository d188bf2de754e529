"""Leave-one-out retraining: every model on the same few records, but for one.

D is a fixed training set. For records z in D, models are trained on D without z (the references of
the L-attack and of LiRA-L); for records z outside, on D with z (the clean game). Both share the
models trained on D itself, which differ in their seed alone.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from membership import training
from membership.errors import InputError
from membership.metrics.arrays import FloatArray
from membership.studies.iha import tasks
from membership.studies.iha.ensembles import loss_of, scaled_logits

N_BASE = 200
MOST_PARAMETERS = 800
BATCH_SIZE = 32
EPOCHS = 300
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
    scaled : numpy.ndarray, shape (models, records)
        Log-odds of the true label.
    """

    task: tasks.Task
    inside: np.ndarray
    outside: np.ndarray
    ensemble: training.Ensemble
    groups: dict[str, np.ndarray]
    scaled: FloatArray

    @property
    def base(self) -> np.ndarray:
        """Rows of D in the pool."""
        return np.arange(len(self.task.pool) // 2)

    @property
    def loss(self) -> FloatArray:
        """The loss that was minimised, shape (models, records)."""
        return loss_of(self.task, self.scaled)

    @property
    def size(self) -> str:
        """The size of the experiment in words."""
        n_records, n_models = self.groups["with"].shape
        return (
            f"{self.task.label}: {len(self.base)} training records, {n_records} records left out "
            f"and {n_records} added, {n_models} models each (the paper: 25,000 records of "
            "Purchase-100(S), 500 left out, 100 models each)"
        )


def names(settings: Any) -> list[str]:
    """The data sets of the experiment: the main one, and digits for a network that overfits."""
    return list(dict.fromkeys([settings.dataset, "digits"]))


def retrain(name: str, settings: Any) -> LeaveOneOut:
    """Train every model of the experiment, side by side.

    Parameters
    ----------
    name : str
        A data set.
    settings : Settings
        Uses ``loo_records``, ``loo_models``, ``epochs``, ``seed``, ``device`` and ``n_jobs``.

    Raises
    ------
    InputError
        There are too few records.
    """
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
    scaled = scaled_logits(ensemble, task.pool.x, task.pool.y)
    return LeaveOneOut(task, inside, outside, ensemble, groups, scaled)


def small_task(name: str, settings: Any) -> tasks.Task:
    """The task of a data set on a few records, its network small enough for many Hessians.

    Raises
    ------
    InputError
        There are too few records.
    """
    whole = tasks.task(name, settings, n_models=2)
    n_features = int(np.prod(whole.pool.x.shape[1:]))
    least = tasks.size_of(n_features, (1,), whole.pool.n_classes)
    limit = min(settings.most_parameters, max(MOST_PARAMETERS, least))
    small = tasks.task(name, settings, n_models=2, most_parameters=limit)
    half = min(N_BASE, len(small.pool) // 2)
    if settings.loo_records > half:
        raise InputError(
            f"loo_records = {settings.loo_records}: there are {half} training records only"
        )
    order = np.random.default_rng([settings.seed, 19]).permutation(len(small.pool))[: 2 * half]
    config = replace(
        small.config,
        epochs=EPOCHS if not settings.epochs else min(settings.epochs, EPOCHS),
        batch_size=min(BATCH_SIZE, half),
    )
    return replace(small, pool=small.pool.select(order), config=config)


def origin(some: list[LeaveOneOut], more: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a table made from these models says about its origin."""
    return {
        "data": {name: digest for one in some for name, digest in one.task.origin.items()},
        "deviations": [*(one.size for one in some), *more],
        "comparable": False,
        "device": str(some[0].ensemble.device),
    }
