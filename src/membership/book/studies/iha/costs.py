"""What the attacks cost: seconds and memory of all of them (Table 6)."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr

from membership import attacks, memory, metrics, training
from membership.attacks.forms import forms_of
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.experiment import timed
from membership.book.studies.iha import subjects
from membership.book.studies.iha.evaluation import design
from membership.book.studies.iha.experiment import Trained, halves, of_models, scaled_logits
from membership.book.studies.iha.forms import records, training_records
from membership.book.studies.iha.inversion import Variables
from membership.book.studies.iha.settings import Settings
from membership.curvature.gradients import views
from membership.curvature.hessians import curvature_matrix
from membership.curvature.inverse import Factor, Factors, factorised
from membership.curvature.objective import objective
from membership.errors import InputError

REPEATS = 3
QUERIES, QUERIES_CG = 100, 8
# Epochs that are timed of a reference model, and models where many are trained side by side.
TIMED_EPOCHS, SIDE_BY_SIDE = 2, 32
CASES = ("IHA", "IHA (Approx)", "LiRA", "LiRA, side by side", "LOSS")
MEGABYTE = 1e6


@dataclass(frozen=True)
class Cost:
    """Seconds before the first record and for each, and the bytes held before it and after."""

    before: float
    each: float
    held: float
    held_after: float


def measured(trained: Trained, settings: Settings) -> Variables:
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
    costs = np.array([[astuple(of[name]()) for _ in range(REPEATS)] for name in CASES])
    names = [field.name for field in fields(Cost)]
    return {
        "attack": (("case",), np.array(CASES)),
        "reference_models": ((), np.int32(settings.n_models)),
        **{name: (("case", "repeat"), costs[:, :, i]) for i, name in enumerate(names)},
    }


def _exact(trained: Trained, damping: float) -> Cost:
    """One Cholesky factor of the Hessian, and what IHA makes of it for each record."""
    queries = trained.queries[:QUERIES]
    train, query = training_records(trained, 0), records(trained, queries)
    goal = objective(trained.ensemble.module(0), trained.task.config.loss_of, *train)
    x, y = goal.records(*train)

    def factor(amount: float) -> Factor | None:
        matrix = curvature_matrix(goal, x, y)
        matrix.diagonal().add_(amount)
        return Factor(matrix) if factorised(matrix) else None

    cholesky, before, held = _first_that_does(factor, damping)

    def score() -> None:
        forms_of(views(goal, train, query), [Factors(cholesky, cholesky)], 0.0)

    _, after, held_after = _timed(score)
    return Cost(before, after / len(queries), held, held_after)


def _first_that_does(work: Callable[[float], Any], damping: float) -> tuple[Any, float, float]:
    """As `_timed`, of what work gives at a damping, or at the first larger one that gives some."""
    while True:
        result, seconds, held = _timed(functools.partial(work, damping))
        if result:
            return result, seconds, held
        damping *= 2


def _by_cg(trained: Trained, damping: float) -> Cost:
    """Conjugate gradients, which need nothing beforehand."""
    queries = trained.queries[:QUERIES_CG]
    arguments = (
        trained.ensemble.module(0),
        trained.task.config.loss_of,
        training_records(trained, 0),
        records(trained, queries),
        trained.task.membership[0, queries],
    )

    def score(amount: float) -> bool:
        try:
            attacks.iha(*arguments, **trained.recipe, damping=amount, solver="cg")
        except InputError:
            return False
        return True

    _, after, held_after = _first_that_does(score, damping)
    return Cost(0.0, after / len(queries), 0.0, held_after)


def _lira(trained: Trained, settings: Settings, at_once: int) -> Cost:
    """The reference models, so many at once, and the scores that they give."""
    task, count = trained.task, settings.n_models
    config = replace(task.config, epochs=min(TIMED_EPOCHS, task.config.epochs))
    members = halves(2 * SIDE_BY_SIDE, len(task.pool), settings.seed)[:at_once]
    with TemporaryDirectory() as folder:
        _, seconds, held = _timed(
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
    before = seconds * task.config.epochs / config.epochs * count / at_once
    queries = trained.queries[:QUERIES]
    n_trained, pool = len(trained.ensemble), task.pool
    scaled, answered, held_after = _timed(
        lambda: scaled_logits(trained.ensemble, pool.x[queries], pool.y[queries])
    )
    # As many answers as there are reference models, no two alike: a fit takes as long with any.
    models = np.arange(count)
    answers = scaled[models % n_trained] + 1e-3 * models[:, None]
    among = models[:, None] % 2 == np.arange(len(queries)) % 2
    _, fitted, _ = _timed(lambda: attacks.lira(scaled[0], answers, among))
    after = answered * count / n_trained + fitted
    return Cost(before, after / len(queries), held, held_after)


def _loss(trained: Trained) -> Cost:
    """One pass forward."""
    queries = trained.queries[:QUERIES]
    model, query = trained.ensemble.module(0), records(trained, queries)

    def score() -> None:
        with torch.no_grad():
            attacks.malt(trained.task.config.loss_of(model(query[0]), query[1]).numpy())

    _, after, held_after = _timed(score)
    return Cost(0.0, after / len(queries), 0.0, held_after)


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What work gives, its seconds, and the bytes that it held more than before (NaN: unknown)."""
    before = memory.reset_peak()
    result, seconds = timed(work)
    return result, seconds, memory.peak() - before


def table_6(timings: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Time and memory of the attacks on one model (Table 6), as measured when it was gathered."""
    (costs,) = timings
    models, p = int(costs["reference_models"]), costs.attrs["recipe"]["parameters"]
    times = {part: costs[part].values for part in ("before", "each", "held", "held_after")}
    whole = times["before"] + 1000 * times["each"]
    exact = whole[list(costs["attack"].values).index("IHA")]
    entries = []
    for case, attack in enumerate(map(str, costs["attack"].values)):
        peak = [float(np.max(times[part][case])) / MEGABYTE for part in ("held", "held_after")]
        numbers = {
            "precompute time (s)": times["before"][case],
            "time per sample (s)": times["each"][case],
            "time for 1000 samples (s)": whole[case],
            subjects.RATIO: whole[case] / exact,
            "memory precompute (MB)": peak[:1],
            "memory runtime (MB)": peak[1:],
            "memory max (MB)": [max(peak)],
        }
        key = {"dataset": costs.attrs["set"], "attack": attack}
        entries += [{**key, "metric": m, **_over_timings(v)} for m, v in numbers.items()]
    rows = [row for row in entries if not np.isnan(row["value"])]
    size = f"{p:,} parameters (the paper: 22,532), {models} reference models (the paper: 128)"
    # One model is attacked; the others are timed and not kept.
    few = of_models(costs.attrs["n_models"])
    kept = [text for text in costs.attrs["deviations"] if text != few]
    attributes = origin(
        [costs.assign_attrs(deviations=kept)], size, *design([]), named=True, timing=True
    )
    attributes["setup"][costs.attrs["set"]] |= {"reference_models": models}
    return tidy(rows, attributes)


def _over_timings(values: Any) -> dict[str, float]:
    """The mean of several timings with its interval; one number stands by itself."""
    if len(values) == 1 or np.ptp(values) == 0:
        return metrics.exactly(float(values[0]))
    return metrics.summary(values, lowest=0.0)
