"""Leave-one-out retraining: every model on the same few records, but for one.

D is a fixed training set. For records z in D, models are trained on D without z (the references of
the L-attack and of LiRA-L); for records z outside, on D with z (the clean game). Both share the
models trained on D itself, which differ in their seed alone.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from membership import training
from membership.arrays import FloatArray
from membership.errors import InputError
from membership.studies.iha import tasks
from membership.studies.iha.ensembles import scaled_logits
from membership.studies.iha.needs import N_BASE
from membership.studies.iha.recipes import size_of

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
        asked = {
            "queried_members": len(self.inside),
            "queried_non_members": len(self.outside),
            "reference_models": len(self.groups["references"]),
            "members": len(self.base),
        }
        return {**self.task.setup, **asked}

    def answers(self, x: np.ndarray, y: np.ndarray) -> FloatArray:
        """Log-odds of the true label, shape (models, records)."""
        return scaled_logits(self.ensemble, x, y)


def retrain(name: str, settings: Any) -> LeaveOneOut:
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


def small_task(name: str, settings: Any) -> tasks.Task:
    """The task of a data set on a few records, its network small enough for many Hessians."""
    whole = tasks.task(name, settings, n_models=2)
    n_features = int(np.prod(whole.pool.x.shape[1:]))
    least = size_of(n_features, (1,), whole.pool.n_classes)
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
