"""Accuracy under noise: Figure 3, and what noise shared by the classes does (Control 9)."""

from typing import Any

import numpy as np
import pandas as pd

from membership import privacy
from membership.errors import InputError
from membership.metrics.arrays import FloatArray
from membership.studies.gmip import curves
from membership.studies.gmip.tasks import Task, attrs
from membership.studies.gmip.theory import levels
from membership.training.ensemble import device_of
from membership.training.private import PrivateConfig, train_softmax_layers, with_constant

NOTIONS = {"GMIP": "mip", "GDP": "gdp"}
SGD_LEARNING_RATE = 0.1


def figure_3(some: list[Task], settings: Any) -> pd.DataFrame:
    """Test accuracy over the privacy levels, with independent and with shared noise (Figure 3).

    Parameters
    ----------
    some : list of Task
        From `tasks`.
    settings : Settings
        Uses ``n_levels``, ``utility_seeds``, ``seed`` and ``device``.

    Returns
    -------
    DataFrame
        Columns dataset, noise, notion, series (both), mu, tau, metric ("test_accuracy(%)"),
        value, low, high, n_repeats, standard_deviation (over the seeds, as the paper shows).

    Raises
    ------
    InputError
        Fewer than two levels or seeds.
    """
    _check(settings)
    mus, rows = levels(settings.n_levels), []
    for task in some:
        taus = {notion: [_noise(task, mu, text) for mu in mus] for notion, text in NOTIONS.items()}
        distinct = sorted({tau for each in taus.values() for tau in each})
        for kind in ("independent", "shared"):
            accuracy = _accuracies(task, distinct, settings, kind)
            for notion, needed in taus.items():
                for mu, tau in zip(mus, needed, strict=True):
                    values = accuracy[:, distinct.index(tau)]
                    rows.append(
                        {
                            "dataset": task.name,
                            "noise": kind,
                            "notion": notion,
                            "series": f"{notion}, {kind} noise",
                            "mu": round(mu, 4),
                            "tau": tau,
                            "metric": "test_accuracy(%)",
                            **curves.spread(values),
                            "standard_deviation": values.std(ddof=1),
                        }
                    )
    table = pd.DataFrame(rows)
    table.attrs = attrs(some, str(device_of(settings.device)))
    return table


def shared_noise(some: list[Task], settings: Any) -> pd.DataFrame:
    """Accuracy with the noise for mu = 0.4 and without, by kind of noise and optimiser.

    Returns
    -------
    DataFrame
        Columns dataset, optimiser, noise ("none", "independent", "shared"), metric, value, low,
        high, n_repeats (Control 9).
    """
    _check(settings)
    rows = []
    for task in some:
        strong = _noise(task, 0.4, "gdp")
        for optimiser in ("adam", "sgd"):
            for kind in ("independent", "shared"):
                accuracy = _accuracies(task, [0.0, strong], settings, kind, optimiser)
                named = {"none": accuracy[:, 0], kind: accuracy[:, 1]}
                if kind == "shared":
                    del named["none"]
                for noise, values in named.items():
                    key = {"dataset": task.name, "optimiser": optimiser, "noise": noise}
                    rows.append({**key, "metric": "test_accuracy(%)", **curves.spread(values)})
    table = pd.DataFrame(rows)
    table.attrs = attrs(some, str(device_of(settings.device)))
    return table


def _noise(task: Task, mu: float, notion: str) -> float:
    """The noise for a level, at the paper's K = d = the number of parameters."""
    r, d = task.recipe, task.dimension
    return privacy.required_noise(mu, notion, d, r.batch_size, d, r.clip, r.n_records, task.steps)


def _accuracies(
    task: Task, taus: list[float], settings: Any, kind: str, optimiser: str = "adam"
) -> FloatArray:
    """Test accuracy in percent, one row a seed and one column a noise level."""
    r = task.recipe
    rate = r.learning_rate if optimiser == "adam" else SGD_LEARNING_RATE
    config = PrivateConfig(r.epochs, r.batch_size, rate, r.clip, optimiser, kind)
    x, y = task.features[task.train], task.y[task.train]
    queries = with_constant(task.features[: task.n_test]).numpy()
    truth = task.y[: task.n_test]
    rows = []
    for repeat in range(settings.utility_seeds):
        seed = 1000 * settings.seed + repeat
        weight = train_softmax_layers(x, y, r.classes, config, taus, seed, settings.device)
        logits = np.einsum("np,rcp->rnc", queries, weight, optimize=True)
        rows.append(100 * (logits.argmax(axis=2) == truth).mean(axis=1))
    return np.array(rows)


def _check(settings: Any) -> None:
    if settings.utility_seeds < 2:
        raise InputError(f"utility_seeds = {settings.utility_seeds}: give at least 2")
