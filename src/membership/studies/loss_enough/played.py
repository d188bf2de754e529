"""The games of ridge regression, played: one AUC and one rate an attack, game and setting."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from membership import metrics
from membership.exhibits.tidy import tidy
from membership.studies.loss_enough.names import (
    ALL,
    APART,
    APART_BY,
    AUC,
    BEHIND,
    BEST_LOSS,
    BEST_PARAMETERS,
    COMPARED,
    CORRECTED,
    IHA,
    IHA_STAR,
    KNOWLEDGE_LESS_ACCESS,
    LOG_RATES,
    MALT,
    MAST,
    PARAMETERS_LESS_LOSS,
    POPULATION,
    POSTERIOR,
    RATE,
    RIDGE,
    SGD,
    THRESHOLD_LESS_ACCESS,
)
from membership.studies.loss_enough.ridge import Noise, RidgeGame

EXPONENTS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
KNOWN = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
ENDS = {POSTERIOR: 0.0, SGD: 1.0}
# A rate of 0 in a game has no logarithm: half a member is added to both.
_HALF = 0.5

Key = tuple[float, float | None, float]
"""SGD's share of the noise, or the exponent in its place, and the share of known labels."""


def exponents(settings: Any) -> pd.DataFrame:
    """Every attack as the noise's covariance goes through the powers of K."""
    keys = {(0.0, one, 1.0): {"exponent": one} for one in EXPONENTS}
    return _table(settings, keys)


def shares(settings: Any) -> pd.DataFrame:
    """Every attack as SGD's own noise takes the place of the posterior's."""
    keys = {(one, None, 1.0): {"share": one} for one in SHARES}
    return _table(settings, keys)


def knowledge(settings: Any) -> pd.DataFrame:
    """Every attack as more labels of the others are known, at both ends."""
    keys = {
        (share, None, known): {"optimiser": name, "known": known}
        for name, share in ENDS.items()
        for known in KNOWN
    }
    return _table(settings, keys)


def two_by_two(settings: Any) -> list[dict[str, Any]]:
    """The rows of ridge regression, for both optimisers, with the contrasts of the claims."""
    rows = []
    for name, share in ENDS.items():
        wide = {
            others: played(*_sizes(settings), (share, None, known))
            for others, known in ((ALL, 1.0), (POPULATION, 0.0))
        }
        key = {"game": RIDGE, "optimiser": name}
        for others, found in wide.items():
            for attack in (BEST_LOSS, BEST_PARAMETERS):
                for metric in (AUC, RATE):
                    told = {**key, "others": others, "attack": attack, "metric": metric}
                    rows.append(told | metrics.summary(found[attack, metric].to_numpy()))
        asked = (BEST_LOSS, BEST_PARAMETERS, MALT, MAST)
        areas = {o: {one: each[one, AUC].to_numpy() for one in asked} for o, each in wide.items()}
        for label, values in contrasts(areas).items():
            told = {**key, "others": COMPARED, "attack": label, "metric": APART_BY}
            rows.append(told | metrics.summary(values))
    return rows


def contrasts(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the claims on the two-by-two compare, from AUCs by knowledge and attack."""
    every, law = found[ALL], found[POPULATION]
    added = law[BEST_PARAMETERS] - law[BEST_LOSS]
    return {
        KNOWLEDGE_LESS_ACCESS: every[BEST_LOSS] - law[BEST_PARAMETERS],
        PARAMETERS_LESS_LOSS: added,
        THRESHOLD_LESS_ACCESS: law[MAST] - law[MALT] - added,
    }


def _sizes(settings: Any) -> tuple[int, int, int, int]:
    return settings.seed, settings.n_games, settings.n_records, settings.n_draws


@cache
def played(seed: int, games: int, records: int, draws: int, key: Key) -> pd.DataFrame:
    """A row a game, a column an attack and metric; every setting plays the same games."""
    share, exponent, known = key
    rows = []
    for one in range(games):
        game = RidgeGame([seed, one], records, draws)
        scores = game.play(Noise(share, exponent), known)
        member = np.repeat([[False, True]], draws, axis=1).repeat(records, axis=0).ravel()
        row = {}
        for attack, score in scores.items():
            row[attack, AUC] = 100 * metrics.auc(score.ravel(), member)
            row[attack, RATE] = 100 * metrics.tpr_at_fpr(score.ravel(), member, 0.01)
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(rows[0]))


def _table(settings: Any, keys: dict[Key, dict[str, Any]]) -> pd.DataFrame:
    sizes = _sizes(settings)
    rows = [row for key, told in keys.items() for row in _rows(told, played(*sizes, key), sizes)]
    return tidy(rows, {"sizes": named_sizes(settings), "note": NOTE})


NOTE = (
    "Intervals are over games, each with its own other records; attacks are compared on the same "
    "draws. One threshold for all records."
)


def named_sizes(settings: Any) -> dict[str, str]:
    """The sizes of the ridge games, as a card shows them."""
    return {
        "Games": str(settings.n_games),
        "Records a game": str(settings.n_records),
        "Models a record": f"{settings.n_draws} with it, {settings.n_draws} without",
    }


def _rows(told: dict[str, Any], found: pd.DataFrame, sizes: tuple) -> list[dict[str, Any]]:
    def row(attack: str, metric: str, values: Any) -> dict[str, Any]:
        return {**told, "attack": attack, "metric": metric} | metrics.summary(np.asarray(values))

    names = list(dict.fromkeys(found.columns.get_level_values(0)))
    best = found[BEST_PARAMETERS, AUC]
    rows = [row(one, metric, found[one, metric]) for metric in (AUC, RATE) for one in names]
    rows += [row(one, BEHIND, best - found[one, AUC]) for one in names if one != BEST_PARAMETERS]
    rows.append(row(CORRECTED, AUC, found[IHA_STAR, AUC] - found[IHA, AUC]))
    half = 100 * _HALF / (sizes[2] * sizes[3])
    logs = [np.log(found[one, RATE] + half) for one in (BEST_PARAMETERS, BEST_LOSS)]
    return [*rows, row(APART, LOG_RATES, logs[0] - logs[1])]
