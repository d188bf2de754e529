"""What is measured of single posteriors: draws for non-members, shapes of laws, seconds.

Of the last data set also how normal draws are, what their seed does, and what references answer
for records that some of them were trained on.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from membership import evidence, metrics, signals, training
from membership.arrays import FloatArray
from membership.attacks.bmia import bmia_sampled, runner_up
from membership.book.studies.bmia.answers import about, trained_on
from membership.book.studies.bmia.experiment import World, factory
from membership.book.studies.bmia.settings import SAMPLES, Settings, sizes_up_to
from membership.book.studies.bmia.trained import Trained, moments
from membership.book.studies.experiment import timed

QUERIES = {"tiny": 100, "quick": 100, "paper": 500}
DRAWN = 1000
STRUCTURES = ("kron", "diag")
EPOCHS, TIMINGS = 2, 3
SHAPE = (
    "P(another class overtakes), mean",
    "|skewness|, mean",
    "excess kurtosis, 99% quantile",
    "frozen mean less mean, in sd",
    "frozen sd / sd, mean",
)
DRAWS = {"tiny": 200, "quick": 1000, "paper": 10_000}
SAMPLINGS = {"tiny": 2, "quick": 10, "paper": 10}
METHODS = ("lln", "mc")
FPR = 0.01
_AT_ONCE = 2**22


def shapes(name: str, settings: Settings) -> xr.Dataset:
    """Draws for some non-members of each target, and the shape of the hinge's law."""
    trained = trained_on(name, "", settings)
    return evidence.dataset(
        "measured",
        {**_of_non_members(trained, SAMPLES), **_of_shapes(trained)},
        {"draws": list(SAMPLES), "quantity": list(SHAPE)},
        **about(trained),
    )


def times(name: str, settings: Settings) -> xr.Dataset:
    """Seconds that training and inference took on this machine."""
    trained = trained_on(name, "", settings)
    sizes = sizes_up_to(settings.n_samples)
    return evidence.dataset(
        "measured",
        _of_times(trained, sizes),
        {"structure": list(STRUCTURES), "draws": sizes},
        **about(trained),
    )


def _of_non_members(trained: Trained, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Moments of the first so many draws, for at most `QUERIES` non-members a target."""
    most = QUERIES[trained.world.settings.profile]
    fewest = int((~trained.member).sum(axis=1).min())
    place = [np.flatnonzero(~own)[: min(most, fewest)] for own in trained.member]
    by_target = []
    for target, queries in enumerate(place):
        drawn = trained.draws(trained.first(target), sizes[-1], queries=queries)
        by_target.append([moments(drawn[:n]) for n in sizes])
    mean, sd = np.moveaxis(np.array(by_target), 2, 0)
    dims = ("target", "draws", "query")
    return {
        "drawn_mean": (dims, mean),
        "drawn_sd": (dims, sd),
        "place": (("target", "query"), np.array(place)),
    }


def _of_shapes(trained: Trained) -> dict[str, Any]:
    """How far the hinge is from Gaussian, by target: `QUERIES`, 1,000 draws."""
    by_target = [_shape(trained, trained.first(t)) for t in range(trained.n_targets)]
    return {"shape": (("target", "quantity"), np.array(by_target))}


def _shape(trained: Trained, model: int) -> list[float]:
    """The quantities of `SHAPE`, in that order."""
    rows = np.arange(min(QUERIES[trained.world.settings.profile], len(trained.y)))
    layer, y = trained.layer(model, "queries"), trained.y[rows]
    logits = layer.logits[rows]
    rival = runner_up(logits, y)
    seed = 1_000_000 * trained.world.settings.seed
    drawn_logits = trained.posterior(model).sample(layer.features[rows], DRAWN, seed, "lln")
    drawn = signals.hinge(drawn_logits, None, y)
    frozen = drawn_logits[:, rows, y] - drawn_logits[:, rows, rival]
    frozen_mean = logits[rows, y] - logits[rows, rival]
    variance = trained.posterior(model).difference_variance(layer.features[rows], y, rival)
    mean, sd = moments(drawn)
    return [
        float((frozen > drawn).mean()),
        float(np.abs(stats.skew(drawn, axis=0)).mean()),
        float(np.quantile(stats.kurtosis(drawn, axis=0), 0.99)),
        float(((frozen_mean - mean) / sd).mean()),
        float((np.sqrt(variance) / sd).mean()),
    ]


def _of_times(trained: Trained, sizes: list[int]) -> dict[str, Any]:
    """Seconds of training one reference, of fitting QMIA, and of inference, three times each."""
    # The first of a process also starts its libraries.
    _inference(trained, STRUCTURES[0], sizes[0])()
    timings = [_once(trained, sizes) for _ in range(TIMINGS)]
    dims = {"training": (), "qmia": (), "inference": ("structure", "draws")}
    return {k: (("timing", *dims[k]), np.array([timing[k] for timing in timings])) for k in dims}


def _once(trained: Trained, sizes: list[int]) -> dict[str, Any]:
    """One timing of everything, one thing after the other."""
    return {
        "training": _training(trained.world),
        "qmia": timed(_fit_qmia(trained))[1],
        "inference": [[timed(_inference(trained, s, n))[1] for n in sizes] for s in STRUCTURES],
    }


def _training(world: World) -> float:
    """Of all epochs of one reference: two epochs of a fresh model, whatever the cache holds."""

    def train(epochs: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            training.train(
                factory(world.architecture, world.dataset),
                world.dataset,
                world.references[:1],
                replace(world.config, epochs=epochs, milestones=()),
                [0],
                device=world.settings.device,
                n_jobs=world.settings.n_jobs,
                cache_folder=Path(folder),
                progress=False,
            )

    # The first training of a process also starts its libraries.
    train(1)
    return timed(lambda: train(EPOCHS))[1] / EPOCHS * world.config.epochs


def _fit_qmia(trained: Trained) -> Callable[[], Any]:
    fresh = replace(trained, kept={})
    # What the regression is fitted to is not part of its time.
    fresh.held_out  # noqa: B018
    return lambda: fresh.qmia_model(0)


def _inference(trained: Trained, structure: str, n_samples: int) -> Callable[[], Any]:
    """From a trained reference to scores of all queries, nothing kept from before."""
    fresh = replace(trained, kept={})
    hinge = trained.answers.hinge[0]
    return lambda: bmia_sampled(hinge, fresh.draws(trained.first(0), n_samples, structure))


def population(name: str, settings: Settings) -> xr.Dataset:
    """What references answer for records that some of them were trained on."""
    trained = trained_on(name, "", settings)
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


def distances(name: str, settings: Settings) -> xr.Dataset:
    """How far each query's drawn hinge is from normal, by target."""
    trained, n = trained_on(name, "", settings), DRAWS[settings.profile]
    by_target = [_distances(trained, trained.first(t), n) for t in range(trained.n_targets)]
    measured = {"distance": (("target", "query"), np.array(by_target))}
    return evidence.dataset("measured", measured, **about(trained), draws=n)


def samplings(name: str, settings: Settings) -> xr.Dataset:
    """BMIA's rate at 1% with several seeds of the draws, of logits and of weights."""
    trained = trained_on(name, "", settings)
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
    """Draws of a reference's hinges at some queries, (n, rows), with a seed of their own."""
    own = {"seed": seed << 20, "at_once": _AT_ONCE}
    return trained.draws(model, n, method=method, queries=rows, **own)


def _distances(trained: Trained, model: int, n: int) -> FloatArray:
    """Kolmogorov's, of each query's drawn hinges from the normal law with their moments."""
    rows = np.arange(min(QUERIES[trained.world.settings.profile], len(trained.y)))
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
