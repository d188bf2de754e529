"""Trained models of one data set, what they answer, and which records the targets are asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from membership import signals, training
from membership.arrays import FloatArray
from membership.studies.iha.tasks import Task

CHUNK = 8192
# Numbers in the batches of one step, all models together, below which a second thread only waits.
WORTH_A_THREAD = 4_000_000


@dataclass(frozen=True)
class Trained:
    """The models of one task.

    Attributes
    ----------
    task : Task
    ensemble : training.Ensemble
        In the order of the task's memberships.
    targets : list of int
        The models that are attacked.
    n_queries : int
        Records asked of every target.
    seed : int
    device : str
    """

    task: Task
    ensemble: training.Ensemble
    targets: list[int]
    n_queries: int
    seed: int
    device: str

    @property
    def queries(self) -> np.ndarray:
        """Records that every target is asked about, sorted: about half of them its members."""
        rng = np.random.default_rng([self.seed, 11])
        return np.sort(rng.choice(len(self.task.pool), self.n_queries, replace=False))

    def asked(self, count: int) -> np.ndarray:
        """At most so many of the queries, at random, sorted."""
        if count >= len(self.queries):
            return self.queries
        rng = np.random.default_rng([self.seed, 31])
        return np.sort(rng.choice(self.queries, count, replace=False))


def train(task: Task, settings: Any) -> Trained:
    """Train the models of one task, or find them in the cache.

    Parameters
    ----------
    task : Task
    settings : Settings
        Uses ``n_queries``, ``seed``, ``device`` and ``n_jobs``.
    """
    count = len(task.membership)
    ensemble = training.train(
        task.factory,
        task.pool,
        task.membership,
        task.config,
        [settings.seed * 10_000 + model for model in range(count)],
        device=settings.device,
        n_jobs=settings.n_jobs if _worth_threads(task) else 1,
    )
    return Trained(
        task,
        ensemble,
        list(task.targets),
        min(settings.n_queries, task.most_queries, len(task.pool)),
        settings.seed,
        str(ensemble.device),
    )


def scaled_logits(ensemble: training.Ensemble, x: np.ndarray, y: np.ndarray) -> FloatArray:
    """Log-odds of the true label, shape (models, records), also of models with one logit."""
    return _signal(signals.scaled_logit, ensemble, x, y)


def utility(trained: Trained) -> dict[str, FloatArray]:
    """Accuracy and mean loss of every model on unseen records."""
    task = trained.task
    records = task.pool if task.test is None else task.test
    right = _signal(signals.correct, trained.ensemble, records.x, records.y)
    unseen = ~task.membership if task.test is None else np.ones(right.shape, bool)
    scaled = scaled_logits(trained.ensemble, records.x, records.y)
    each = signals.loss_of_log_odds(scaled, task.config.loss)
    return {
        "test accuracy (%)": 100.0 * np.mean(right, axis=1, where=unseen),
        "test loss": np.mean(each, axis=1, where=unseen),
    }


def _worth_threads(task: Task) -> bool:
    """Whether a step is large enough for more than one core."""
    numbers = len(task.membership) * task.config.batch_size * task.pool.x[0].size
    return numbers >= WORTH_A_THREAD


def _signal(signal, ensemble: training.Ensemble, x: np.ndarray, y: np.ndarray) -> FloatArray:
    """One of `membership.signals` in parts, where a single logit becomes the two (0, logit)."""
    found = []
    for rows in _chunks(len(y)):
        logits = ensemble.logits(x[rows])
        if logits.shape[-1] == 1:
            logits = torch.cat([torch.zeros_like(logits), logits], dim=-1)
        found.append(signal(logits, None, y[rows]))
    return np.concatenate(found, axis=1)


def _chunks(n: int) -> Iterator[slice]:
    for first in range(0, n, CHUNK):
        yield slice(first, first + CHUNK)
