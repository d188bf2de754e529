"""What is measured of single posteriors: draws for non-members, shapes of laws, seconds."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from membership import signals, training
from membership.attacks.bmia import bmia_sampled
from membership.attacks.distributions import runner_up
from membership.studies.bmia.trained import Trained, moments
from membership.studies.bmia.worlds import World, factory
from membership.studies.experiment import timed

QUERIES = 500
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


def of_non_members(trained: Trained, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Moments of the first so many draws, for at most 500 non-members a target."""
    fewest = int((~trained.member).sum(axis=1).min())
    place = [np.flatnonzero(~own)[: min(QUERIES, fewest)] for own in trained.member]
    found = []
    for target, queries in enumerate(place):
        drawn = trained.draws(trained.first(target), sizes[-1], queries=queries)
        found.append([moments(drawn[:n]) for n in sizes])
    mean, sd = np.moveaxis(np.array(found), 2, 0)
    each = ("target", "draws", "query")
    return {
        "drawn_mean": (each, mean),
        "drawn_sd": (each, sd),
        "place": (("target", "query"), np.array(place)),
    }


def of_shapes(trained: Trained) -> dict[str, Any]:
    """How far the hinge is from Gaussian, by target: 500 queries, 1,000 draws."""
    found = [_shape(trained, trained.first(t)) for t in range(trained.n_targets)]
    return {"shape": (("target", "quantity"), np.array(found))}


def _shape(trained: Trained, model: int) -> list[float]:
    """The quantities of `SHAPE`, in that order."""
    rows = np.arange(min(QUERIES, len(trained.y)))
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


def seconds(trained: Trained, sizes: list[int]) -> dict[str, Any]:
    """Seconds of training one reference, of fitting QMIA, and of inference, three times each."""
    # The first of a process also starts its libraries.
    _inference(trained, STRUCTURES[0], sizes[0])()
    found = [_once(trained, sizes) for _ in range(TIMINGS)]
    dims = {"training": (), "qmia": (), "inference": ("structure", "draws")}
    return {k: (("timing", *dims[k]), np.array([one[k] for one in found])) for k in dims}


def _once(trained: Trained, sizes: list[int]) -> dict[str, Any]:
    """One timing of everything, one thing after the other."""
    return {
        "training": _training(trained.world),
        "qmia": timed(_fit_qmia(trained))[1],
        "inference": [[timed(_inference(trained, s, n))[1] for n in sizes] for s in STRUCTURES],
    }


def _training(world: World) -> float:
    """Of all epochs of one reference: two epochs of a fresh model, whatever the cache holds."""
    recipe = world.recipe

    def train(epochs: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            training.train(
                factory(recipe.architecture, world.dataset),
                world.dataset,
                world.references[:1],
                replace(recipe.config, epochs=epochs, milestones=()),
                [0],
                device=world.settings.device,
                n_jobs=world.settings.n_jobs,
                cache_folder=Path(folder),
                progress=False,
            )

    # The first training of a process also starts its libraries.
    train(1)
    return timed(lambda: train(EPOCHS))[1] / EPOCHS * recipe.epochs


def _fit_qmia(trained: Trained) -> Callable[[], Any]:
    fresh = replace(trained, kept={})
    # What the regression is fitted to is not part of its time.
    fresh.held  # noqa: B018
    return lambda: fresh.qmia_model(0)


def _inference(trained: Trained, structure: str, n_samples: int) -> Callable[[], Any]:
    """From a trained reference to scores of all queries, nothing kept from before."""
    fresh = replace(trained, kept={})
    hinge = trained.answers.hinge[0]
    return lambda: bmia_sampled(hinge, fresh.draws(trained.first(0), n_samples, structure))
