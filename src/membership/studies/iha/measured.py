"""What is measured, no function of other evidence: an iterative solver's scores, and seconds."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from membership import attacks, curvature, training
from membership.studies.iha.ensembles import Trained, scaled_logits
from membership.studies.iha.white_box import enough, records, training_records

TARGETS = 3
LEAST_QUERIES = 60
# Epochs and models that are timed for what all reference models take.
TIMED_EPOCHS = 2
TIMED_MODELS = 32
TIMED = ("IHA", "IHA (Approx)", "LiRA", "LOSS")

Variables = dict[str, tuple[tuple[str, ...], Any]]


def by_cg(trained: Trained, dampings: list[float], settings: Any) -> Variables:
    """IHA's scores by conjugate gradients, of a few records of the first targets."""
    targets, scores, asked = trained.targets[:TARGETS], [], []
    for target in targets:
        rng = np.random.default_rng([settings.seed, 29, target])
        member = trained.task.membership[target, trained.queries]
        half = count(trained, settings) // 2
        sides = [np.flatnonzero(member), np.flatnonzero(~member)]
        chosen = np.concatenate([rng.choice(side, half, replace=False) for side in sides])
        asked.append(trained.queries[chosen])
        cg = attacks.iha(
            trained.ensemble.module(target),
            trained.task.config.loss_of,
            training_records(trained, target),
            records(trained, asked[-1]),
            member[chosen],
            **recipe(trained),
            damping=dampings[target],
            solver="cg",
        )
        scores.append(cg.score)
    return {
        "score": (("target", "query"), np.array(scores)),
        "record": (("target", "query"), np.array(asked, dtype=np.int32)),
        "asked": (("target",), np.array(targets, dtype=np.int32)),
    }


def seconds(trained: Trained, settings: Any) -> Variables:
    """Time of the attacks on one model: before the first record, and a record.

    Time for reference models is that of a few epochs, scaled to all.
    """
    n = count(trained, settings)
    queries = trained.queries[:n]
    member = trained.task.membership[0, queries]
    model, loss = trained.ensemble.module(0), trained.task.config.loss_of
    train, query = training_records(trained, 0), records(trained, queries)
    decomposed, precompute = _timed(lambda: curvature.spectrum(model, loss, *train))
    how = {**recipe(trained), "damping": enough(decomposed.values, settings.damping)}
    arguments = (model, loss, train, query, member)
    _, exact = _timed(lambda: attacks.iha(*arguments, **how, spectrum=decomposed))
    _, cg = _timed(lambda: attacks.iha(*arguments, **how, solver="cg"))
    _, of_loss = _timed(lambda: attacks.malt(_losses(model, loss, query)))
    _, of_lira = _timed(lambda: _lira(trained, queries))
    before = [precompute, 0.0, _reference_seconds(trained), 0.0]
    each = [after / n for after in (exact, cg, of_lira, of_loss)]
    return {
        "attack": (("case",), np.array(TIMED)),
        "before": (("case",), np.array(before)),
        "each": (("case",), np.array(each)),
        "queries": ((), np.int32(n)),
    }


def recipe(trained: Trained) -> dict[str, float]:
    """What IHA needs to know of the training: the initial learning rate, as the released code."""
    config = trained.task.config
    return {name: getattr(config, name) for name in ("learning_rate", "momentum", "weight_decay")}


def count(trained: Trained, settings: Any) -> int:
    """Records asked by both solvers: a hundredth of all, but enough for a curve."""
    return min(trained.n_queries, max(LEAST_QUERIES, settings.n_queries // 100)) // 2 * 2


def _reference_seconds(trained: Trained) -> float:
    """Seconds to train all models of the ensemble, from a few epochs of some of them."""
    task = trained.task
    some = min(TIMED_MODELS, len(task.membership))
    config = replace(task.config, epochs=TIMED_EPOCHS)
    with TemporaryDirectory() as folder:
        _, taken = _timed(
            lambda: training.train(
                task.factory,
                task.pool,
                task.membership[:some],
                config,
                range(some),
                device=trained.device,
                cache_folder=Path(folder),
                progress=False,
            )
        )
    return taken * task.config.epochs / TIMED_EPOCHS * len(task.membership) / some


def _losses(model, loss: Callable, query: tuple) -> np.ndarray:
    with torch.no_grad():
        return loss(model(query[0]), query[1]).numpy()


def _lira(trained: Trained, queries: np.ndarray) -> np.ndarray:
    pool = trained.task.pool
    scaled = scaled_logits(trained.ensemble, pool.x[queries], pool.y[queries])
    return attacks.lira(scaled[0], scaled[1:], trained.task.membership[1:, queries])


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started
