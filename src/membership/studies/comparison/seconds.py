"""Processor time that the parts of every attack take, on the machine that gathers the evidence.

Time on a wall would count what else the machine does.
"""

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xarray as xr

from membership import attacks, training
from membership.studies.comparison import opening, trained
from membership.studies.comparison.trained import World

# Models that are trained again, apart from the cache, to see how long one takes.
TIMED = 8


def measured(
    found: World,
    ensemble: training.Ensemble,
    parts: list[xr.Dataset],
    opened: bool,
    functions: tuple[Callable, Callable],
) -> dict[str, float]:
    """Processor seconds by part: of one model, of one target, or of one attack's score.

    ``train`` and ``ask`` are of one reference model, among as many at once as `TIMED`; ``open`` of
    one target's Hessian and gradients, ``posterior`` of one reference, ``regression`` of one
    target, ``score: <attack>`` of the statistic alone.
    """
    first, reference = found.targets[0], found.references[0]
    closed_form, regressed = functions
    some = range(len(found.targets), len(found.targets) + TIMED)
    seconds = {
        "train": _trained_again(found, list(some)) / len(some),
        "ask": _timed(lambda: ensemble.logits(found.pool.x)) / len(ensemble),
        "posterior": _timed(lambda: closed_form(found, ensemble, reference)),
        "regression": _timed(lambda: regressed(found, ensemble, first)),
    }
    if opened:
        seconds["open"] = _timed(lambda: opening.observe(found, ensemble, first))
    seen = attacks.observe(*parts, target=first)
    for name, attack in attacks.registry().items():
        if not seen.lacking(attack.needs):
            seconds[f"score: {name}"] = _timed(lambda attack=attack: attack.score(seen))
    return seconds


def _trained_again(found: World, models: list[int]) -> float:
    models = [model % len(found.membership) for model in models]
    if found.cell.kind == "private":
        return _timed(lambda: [trained.private_layer(found, model) for model in models])
    with TemporaryDirectory() as folder:
        return _timed(
            lambda: training.train(
                trained.recipes.factory(found.cell.kind, found.pool),
                found.pool,
                found.membership[models],
                found.config,
                [found.seeds[model] for model in models],
                device=found.settings.device,
                n_jobs=1,
                cache_folder=Path(folder),
                progress=False,
            )
        )


def _timed(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
