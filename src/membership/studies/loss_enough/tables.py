"""Tables of the Gaussian mean, of the logistic regression, and of all three games."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from membership.exhibits.tidy import tidy
from membership.metrics import exactly
from membership.studies.loss_enough.logistic import OPTIMISERS, OTHERS, RIDGE, LogisticGame
from membership.studies.loss_enough.mean import DIMENSIONS, RECORDS, MeanGame
from membership.studies.loss_enough.names import (
    ALL,
    APART_BY,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    COMPARED,
    LOGISTIC,
    MALT,
    MAST,
    MEAN,
    POPULATION,
    POSTERIOR,
    RATE,
)
from membership.studies.loss_enough.played import contrasts, named_sizes, two_by_two

TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
EXACT = {"residue": 1e-6}


@cache
def mean_rates(temperature: float, known: int) -> dict[str, tuple[float, float]]:
    """`MeanGame.rates`, kept."""
    return MeanGame(temperature, known).rates()


@cache
def logistic_game(points: int) -> LogisticGame:
    """One game a grid: its laws are solved for once."""
    return LogisticGame(points)


@cache
def logistic_rates(points: int, optimiser: str) -> tuple[tuple[str, str, float, float], ...]:
    """`LogisticGame.rates`, kept."""
    return tuple(logistic_game(points).rates(optimiser))


def temperatures(settings: Any) -> pd.DataFrame:
    """The Gaussian mean: every attack against the temperature, both kinds of knowledge."""
    rows = []
    for others, known in ((ALL, RECORDS - 1), (POPULATION, 0)):
        for temperature in TEMPERATURES:
            key = {"others": others, "temperature": temperature}
            rows += _exact(key, mean_rates(temperature, known))
    sizes = {"Records": str(RECORDS), "Dimensions": str(DIMENSIONS)}
    return tidy(rows, {"sizes": sizes, **EXACT})


def logistic(settings: Any) -> pd.DataFrame:
    """The logistic regression: every attack, optimiser and knowledge."""
    rows = []
    for optimiser in OPTIMISERS:
        for others, attack, *found in logistic_rates(settings.grid_points, optimiser):
            rows += _exact({"optimiser": optimiser, "others": others}, {attack: tuple(found)})
    return tidy(rows, {"sizes": _grid(settings), **EXACT})


def all_games(settings: Any) -> pd.DataFrame:
    """Outputs or parameters, population or all others known: the best attack in each cell."""
    rows = _mean_cells() + two_by_two(settings)
    for optimiser in OPTIMISERS:
        found: dict[str, dict] = {ALL: {}, POPULATION: {}}
        for others, attack, *rates in logistic_rates(settings.grid_points, optimiser):
            found[others][attack] = tuple(rates)
        rows += _cells({"game": LOGISTIC, "optimiser": optimiser}, found)
    return tidy(rows, {"sizes": {**named_sizes(settings), **_grid(settings)}, **EXACT})


def _mean_cells() -> list[dict[str, Any]]:
    found = {ALL: mean_rates(1.0, RECORDS - 1), POPULATION: mean_rates(1.0, 0)}
    return _cells({"game": MEAN, "optimiser": POSTERIOR}, found)


def _cells(key: dict[str, str], found: dict[str, dict]) -> list[dict[str, Any]]:
    """Exact cells of one game, and the contrasts of the claims."""
    rows = []
    for others, rates in found.items():
        best = {name: rates[name] for name in (BEST_LOSS, BEST_PARAMETERS)}
        rows += _exact({**key, "others": others}, best)
    areas = {
        others: {a: 100 * np.float64(rates[a][0]) for a in (BEST_LOSS, BEST_PARAMETERS, MALT, MAST)}
        for others, rates in found.items()
    }
    for label, value in contrasts(areas).items():
        told = {**key, "others": COMPARED, "attack": label, "metric": APART_BY}
        rows.append(told | exactly(float(value)))
    return rows


def _exact(key: dict[str, Any], rates: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    return [
        {**key, "attack": attack, "metric": metric} | exactly(100 * value)
        for attack, pair in rates.items()
        for metric, value in zip((AUC, RATE), pair, strict=True)
    ]


def _grid(settings: Any) -> dict[str, str]:
    return {
        "Weights on the grid": f"{settings.grid_points}² = {settings.grid_points**2:,}",
        "Weight decay, logistic regression": f"{RIDGE / (OTHERS + 1):g}",
    }
