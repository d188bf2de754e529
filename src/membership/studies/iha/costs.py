"""Seconds and memory of the attacks on one model, measured several times (Table 6)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from membership import attacks, memory, training
from membership.attacks.forms import forms_of
from membership.curvature.factor import Factor, factorised
from membership.curvature.hessians import hessian_matrix
from membership.curvature.inverse import Factors
from membership.curvature.objective import objective
from membership.curvature.white_box import views
from membership.errors import InputError
from membership.studies.iha.ensembles import Trained, scaled_logits
from membership.studies.iha.measured import recipe
from membership.studies.iha.tasks import halves
from membership.studies.iha.white_box import records, training_records

REPEATS = 3
QUERIES, QUERIES_CG = 100, 8
# Epochs that are timed of a reference model, and models where many are trained side by side.
TIMED_EPOCHS, SIDE_BY_SIDE = 2, 32
CASES = ("IHA", "IHA (Approx)", "LiRA", "LiRA, side by side", "LOSS")

Variables = dict[str, tuple[tuple[str, ...], Any]]


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes, before the first record and for a number of records."""

    before: float
    after: float
    held: float
    held_after: float
    queries: int


def measured(trained: Trained, settings: Any) -> Variables:
    """The attacks on the first model of an ensemble, each in turn, three times over.

    LiRA's reference models are those of the settings: one after the other, or many side by side;
    their time is that of a few epochs, scaled to all.
    """
    of = {
        "IHA": lambda: _exact(trained, settings.damping),
        "IHA (Approx)": lambda: _by_cg(trained, settings.damping),
        "LiRA": lambda: _lira(trained, settings, 1),
        "LiRA, side by side": lambda: _lira(trained, settings, SIDE_BY_SIDE),
        "LOSS": lambda: _loss(trained),
    }
    found = [[of[name]() for _ in range(REPEATS)] for name in CASES]
    parts = {
        "before": [[one.before for one in some] for some in found],
        "each": [[one.after / one.queries for one in some] for some in found],
        "held": [[one.held for one in some] for some in found],
        "held_after": [[one.held_after for one in some] for some in found],
    }
    return {
        "attack": (("case",), np.array(CASES)),
        "reference_models": ((), np.int32(settings.n_models)),
        **{name: (("case", "repeat"), np.array(values)) for name, values in parts.items()},
    }


def _asked(trained: Trained, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Some of the queries, and which of them are members of the first model."""
    queries = trained.queries[:most]
    return queries, trained.task.membership[0, queries]


def _exact(trained: Trained, damping: float) -> Cost:
    """One Cholesky factor of the Hessian, and what IHA makes of it for each record."""
    queries, _ = _asked(trained, QUERIES)
    train, query = training_records(trained, 0), records(trained, queries)
    goal = objective(trained.ensemble.module(0), trained.task.config.loss_of, *train)
    x, y = goal.records(*train)

    def factor(amount: float) -> Factor | None:
        matrix = hessian_matrix(goal, x, y)
        matrix.diagonal().add_(amount)
        return Factor(matrix) if factorised(matrix) else None

    while True:
        found, before, held = _timed(lambda amount=damping: factor(amount))
        if found is not None:
            break
        damping *= 2

    def score() -> None:
        forms_of(views(goal, train, query), [Factors(found, found)], 0.0)

    _, after, held_after = _timed(score)
    return Cost(before, after, held, held_after, len(queries))


def _by_cg(trained: Trained, damping: float) -> Cost:
    """Conjugate gradients, which need nothing beforehand."""
    queries, member = _asked(trained, QUERIES_CG)
    arguments = (
        trained.ensemble.module(0),
        trained.task.config.loss_of,
        training_records(trained, 0),
        records(trained, queries),
        member,
    )

    def score(amount: float) -> bool:
        try:
            attacks.iha(*arguments, **recipe(trained), damping=amount, solver="cg")
        except InputError:
            return False
        return True

    # As with the factor: where a damping is too small, the first that is not is timed.
    while True:
        found, after, held = _timed(lambda amount=damping: score(amount))
        if found:
            return Cost(0.0, after, 0.0, held, len(queries))
        damping *= 2


def _lira(trained: Trained, settings: Any, at_once: int) -> Cost:
    """The reference models, so many at once, and the scores that they give."""
    task, count = trained.task, settings.n_models
    config = replace(task.config, epochs=min(TIMED_EPOCHS, task.config.epochs))
    members = halves(2 * SIDE_BY_SIDE, len(task.pool), settings.seed)[:at_once]
    with TemporaryDirectory() as folder:
        _, taken, held = _timed(
            lambda: training.train(
                task.factory,
                task.pool,
                members,
                config,
                range(at_once),
                device=trained.device,
                cache_folder=Path(folder),
                progress=False,
            )
        )
    before = taken * task.config.epochs / config.epochs * count / at_once
    queries, _ = _asked(trained, QUERIES)
    some, pool = len(trained.ensemble), task.pool
    scaled, answered, held_after = _timed(
        lambda: scaled_logits(trained.ensemble, pool.x[queries], pool.y[queries])
    )
    # As many answers as there are reference models, no two alike: a fit takes as long with any.
    models = np.arange(count)
    answers = scaled[models % some] + 1e-3 * models[:, None]
    among = models[:, None] % 2 == np.arange(len(queries)) % 2
    _, fitted, _ = _timed(lambda: attacks.lira(scaled[0], answers, among))
    return Cost(before, answered * count / some + fitted, held, held_after, len(queries))


def _loss(trained: Trained) -> Cost:
    """One pass forward."""
    queries, _ = _asked(trained, QUERIES)
    model, query = trained.ensemble.module(0), records(trained, queries)

    def score() -> None:
        with torch.no_grad():
            attacks.malt(trained.task.config.loss_of(model(query[0]), query[1]).numpy())

    _, after, held = _timed(score)
    return Cost(0.0, after, 0.0, held, len(queries))


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What work gives, its seconds, and the bytes that it held more than before (NaN: unknown)."""
    before = memory.reset_peak()
    started = time.perf_counter()
    result = work()
    taken = time.perf_counter() - started
    return result, taken, memory.peak() - before
