"""What is gathered of the last data set only, beyond what `gather` does for all."""

import functools
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from membership import evidence, metrics, signals
from membership.arrays import FloatArray
from membership.attacks.bmia import bmia_sampled
from membership.studies.bmia.gather import about
from membership.studies.bmia.settings import Settings
from membership.studies.bmia.trained import Trained, train
from membership.studies.bmia.worlds import world

DRAWS = {"tiny": 200, "quick": 1000, "paper": 10_000}
QUERIES = 500
SAMPLINGS = {"tiny": 2, "quick": 10, "paper": 10}
METHODS = ("lln", "mc")
FPR = 0.01
_AT_ONCE = 2**22


def population(name: str, settings: Any) -> xr.Dataset:
    """What references answer for records that some of them were trained on."""
    trained = _own(name, settings)
    rows, models = trained.world.population, list(trained.references)
    logits = trained.ensemble.logits(trained.world.dataset.x[rows])[models]
    label = trained.world.dataset.y[rows]
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, label),
            "member": trained.ensemble.membership[models][:, rows],
            "label": label,
        },
        {"model": models, "record": rows},
        **{**about(trained), "targets": []},
    )


def distances(name: str, settings: Any) -> xr.Dataset:
    """How far each query's drawn hinge is from normal, by target."""
    trained, n = _own(name, settings), DRAWS[settings.profile]
    found = [_distances(trained, trained.first(t), n) for t in range(trained.n_targets)]
    measured = {"distance": (("target", "query"), np.array(found))}
    return evidence.dataset("measured", measured, **about(trained), draws=n)


def samplings(name: str, settings: Any) -> xr.Dataset:
    """BMIA's rate at 1% with several seeds of the draws, of logits and of weights."""
    trained = _own(name, settings)
    rate = [
        [[_rate(trained, t, method, seed) for t in range(trained.n_targets)] for method in METHODS]
        for seed in range(SAMPLINGS[settings.profile])
    ]
    return evidence.dataset(
        "measured",
        {"rate": (("sampling", "draw", "target"), np.array(rate))},
        {"draw": list(METHODS)},
        **about(trained),
    )


def _hinges(trained: Trained, model: int, n: int, method: str, seed: int, rows: Any) -> FloatArray:
    """Draws of a reference's hinges at some queries, (n, rows)."""
    features, y = trained.layer(model, "queries").features[rows], trained.y[rows]
    step = max(1, _AT_ONCE // (n * trained.world.dataset.n_classes))
    parts = []
    for first in range(0, len(y), step):
        some = slice(first, first + step)
        # Draws of weights are shared by all queries; draws of logits are each query's own.
        own = (seed << 20) + (0 if method == "mc" else first)
        logits = trained.posterior(model).sample(features[some], n, own, method)
        parts.append(signals.hinge(logits, None, y[some]))
    return np.concatenate(parts, axis=1)


def _distances(trained: Trained, model: int, n: int) -> FloatArray:
    """Kolmogorov's, of each query's drawn hinges from the normal law with their moments."""
    rows = np.arange(min(QUERIES, len(trained.y)))
    seed = 1_000_000 * trained.world.settings.seed + 999
    return distance_from_normal(_hinges(trained, model, n, "lln", seed, rows))


def distance_from_normal(drawn: FloatArray) -> FloatArray:
    """Largest distance of the empirical distribution from the fitted normal one, by column."""
    ordered, n = np.sort(drawn, axis=0), len(drawn)
    law = stats.norm.cdf(ordered, drawn.mean(axis=0), drawn.std(axis=0, ddof=1))
    steps = np.arange(n + 1)[:, None] / n
    return np.maximum(steps[1:] - law, law - steps[:-1]).max(axis=0)


def _rate(trained: Trained, target: int, method: str, seed: int) -> float:
    """BMIA's true-positive rate in percent at 1%, with one seed of the draws."""
    n = trained.world.settings.n_samples
    own = 1_000_000 * trained.world.settings.seed + 1 + seed
    hinges = _hinges(trained, trained.first(target), n, method, own, slice(None))
    score = bmia_sampled(trained.answers.hinge[target], hinges)
    return 100 * metrics.tpr_at_fpr(score, trained.member[target], FPR)


@functools.lru_cache(maxsize=1)
def _own(name: str, settings: Settings) -> Trained:
    return train(world(name, settings))
