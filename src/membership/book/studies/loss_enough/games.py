"""The three games, played or summed: one AUC and one rate an attack, game and setting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import metrics, plots
from membership.book.exhibits.tidy import tidy
from membership.book.studies.loss_enough.logistic import OPTIMISERS, OTHERS, PENALTY, LogisticGame
from membership.book.studies.loss_enough.mean import DIMENSIONS, RECORDS, MeanGame
from membership.book.studies.loss_enough.names import (
    ALL,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    CONDITION,
    DECAY,
    DRAWN,
    IHA,
    IHA_STAR,
    LOGISTIC,
    MALT,
    MAST,
    MEAN,
    POPULATION,
    POSTERIOR,
    RATE,
    RIDGE,
    SGD,
    STEP,
)
from membership.book.studies.loss_enough.ridge import PLAIN, Noise, Recipe, RidgeGame
from membership.book.studies.loss_enough.settings import Settings
from membership.metrics import exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHERS_KNOWN = "others known"
"""What stands for an attack's knowledge where it is drawn along an axis."""
BEHIND, LOG_RATES = "AUC behind the best (points)", "log TPR at 1% FPR"
CORRECTED, APART = f"{IHA_STAR} less {IHA}", f"{BEST_PARAMETERS} over {BEST_LOSS}"
# The contrasts of the two-by-two, and what stands for the knowledge of a contrast.
COMPARED = "compared"
KNOWLEDGE_LESS_ACCESS = "loss, all others known, less parameters, their law known"
PARAMETERS_LESS_LOSS = "parameters less loss, their law known"
THRESHOLD_LESS_ACCESS = "MAST less MALT, less what the parameters add, their law known"
PARAMETERS_LESS_LOSS_ALL = "parameters less loss, all others known"
THRESHOLD_LESS_ACCESS_ALL = "MAST less MALT, less what the parameters add, all others known"
APART_BY = "difference in AUC (points)"
EXPONENTS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
KNOWN = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
ENDS = {POSTERIOR: 0.0, SGD: 1.0}
KNOWLEDGE = {ALL: 1.0, POPULATION: 0.0}
KNOWN_RECORDS = {ALL: RECORDS - 1, POPULATION: 0}
# Of the games under SGD, one changed at a time; large steps where the Hessian is ill-conditioned.
DECAYS = (5e-5, 5e-4, 5e-3, 5e-2)
CONDITIONS = (10.0, 100.0, 1000.0, 10_000.0)
RATES = (0.005, 0.05, 0.2, 0.5)
ILL = 1000.0
TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
EXACT = {"residue": 1e-6}
# A rate of 0 in a game has no logarithm: half a member is added to both.
_HALF = 0.5


@dataclass(frozen=True)
class Setting:
    """The optimiser's noise, the share of the others' labels that is known, and the recipe."""

    noise: Noise
    known: float = 1.0
    recipe: Recipe = PLAIN


def exponents(settings: Settings) -> pd.DataFrame:
    """Every attack as the noise's covariance goes through the powers of K."""
    return _table(
        settings,
        {Setting(Noise(exponent=exponent)): {"exponent": exponent} for exponent in EXPONENTS},
    )


def shares(settings: Settings) -> pd.DataFrame:
    """Every attack as SGD's own noise takes the place of the posterior's."""
    return _table(settings, {Setting(Noise(share)): {"share": share} for share in SHARES})


def knowledge(settings: Settings) -> pd.DataFrame:
    """Every attack as more labels of the others are known, at both ends."""
    keys = {
        Setting(Noise(share), known): {"optimiser": name, "known": known}
        for name, share in ENDS.items()
        for known in KNOWN
    }
    return _table(settings, keys)


def decays(settings: Settings) -> pd.DataFrame:
    """Every attack under SGD by the weight decay."""
    return _swept(settings, DECAY, {decay: Recipe(weight_decay=decay) for decay in DECAYS})


def conditions(settings: Settings) -> pd.DataFrame:
    """Every attack under SGD by the condition number of the Hessian."""
    return _swept(
        settings, CONDITION, {condition: Recipe(condition=condition) for condition in CONDITIONS}
    )


def rates(settings: Settings) -> pd.DataFrame:
    """Every attack under SGD by the size of a step, where the Hessian is ill-conditioned."""
    return _swept(settings, STEP, {rate: Recipe(rate=rate, condition=ILL) for rate in RATES})


def _swept(settings: Settings, name: str, recipes: dict[float, Recipe]) -> pd.DataFrame:
    rows = []
    for value, recipe in recipes.items():
        rows += _two(settings, {name: value}, Noise(ENDS[SGD]), recipe, (*DRAWN, MALT, MAST))
    first = next(iter(recipes.values()))
    sizes = {k: v for k, v in named_sizes(settings, first).items() if k != name.capitalize()}
    return tidy(rows, {"sizes": sizes})


def two_by_two(settings: Settings) -> list[dict[str, Any]]:
    """The rows of ridge regression, for both optimisers, with the contrasts of the claims."""
    rows = []
    for name, share in ENDS.items():
        key = {"game": RIDGE, "optimiser": name}
        rows += _two(settings, key, Noise(share), PLAIN, (BEST_LOSS, BEST_PARAMETERS))
    return rows


def _two(
    settings: Settings, key: dict[str, Any], noise: Noise, recipe: Recipe, attacks: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Some attacks to who knows all others, and to who knows their law, and their contrasts."""
    rows = []
    wide = {o: played(settings, Setting(noise, known, recipe)) for o, known in KNOWLEDGE.items()}
    for adversary, scores in wide.items():
        for attack in attacks:
            for metric in (AUC, RATE):
                row = {**key, "others": adversary, "attack": attack, "metric": metric}
                rows.append(row | metrics.summary(scores[attack, metric].to_numpy()))
    compared = (BEST_LOSS, BEST_PARAMETERS, MALT, MAST, IHA, IHA_STAR)
    areas = {
        o: {attack: scores[attack, AUC].to_numpy() for attack in compared}
        for o, scores in wide.items()
    }
    apart = contrasts(areas)
    if IHA in attacks:
        apart[CORRECTED] = areas[ALL][IHA_STAR] - areas[ALL][IHA]
    for label, values in apart.items():
        row = {**key, "others": COMPARED, "attack": label, "metric": APART_BY}
        rows.append(row | metrics.summary(values))
    return rows


def contrasts(areas: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the claims on the two-by-two compare, from AUCs by knowledge and attack."""
    all_known, law = areas[ALL], areas[POPULATION]
    added, added_all = (known[BEST_PARAMETERS] - known[BEST_LOSS] for known in (law, all_known))
    return {
        KNOWLEDGE_LESS_ACCESS: all_known[BEST_LOSS] - law[BEST_PARAMETERS],
        PARAMETERS_LESS_LOSS: added,
        THRESHOLD_LESS_ACCESS: law[MAST] - law[MALT] - added,
        PARAMETERS_LESS_LOSS_ALL: added_all,
        THRESHOLD_LESS_ACCESS_ALL: all_known[MAST] - all_known[MALT] - added_all,
    }


@cache
def played(settings: Settings, setting: Setting) -> pd.DataFrame:
    """A row a game, a column an attack and metric; every setting plays the same games."""
    rows, records, draws = [], settings.n_records, settings.n_draws
    for place in range(settings.n_games):
        game = RidgeGame([settings.seed, place], records, draws, setting.recipe)
        scores = game.play(setting.noise, setting.known)
        member = np.repeat([[False, True]], draws, axis=1).repeat(records, axis=0).ravel()
        row = {}
        for attack, score in scores.items():
            row[attack, AUC] = 100 * metrics.auc(score.ravel(), member)
            row[attack, RATE] = 100 * metrics.tpr_at_fpr(score.ravel(), member, 0.01)
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples(rows[0]))


def _table(settings: Settings, keys: dict[Setting, dict[str, Any]]) -> pd.DataFrame:
    rows = [row for setting, key in keys.items() for row in _rows(settings, setting, key)]
    return tidy(rows, {"sizes": named_sizes(settings)})


def named_sizes(settings: Settings, recipe: Recipe = PLAIN) -> dict[str, str]:
    """The sizes of the ridge games and their recipe, as a card shows them."""
    return {
        "Games": str(settings.n_games),
        "Records a game": str(settings.n_records),
        "Models a record": f"{settings.n_draws} with it, {settings.n_draws} without",
        DECAY.capitalize(): f"{recipe.weight_decay:g}",
        STEP.capitalize(): f"{recipe.rate:g}",
        CONDITION.capitalize(): f"{recipe.condition:,g}",
    }


def _rows(settings: Settings, setting: Setting, key: dict[str, Any]) -> list[dict[str, Any]]:
    outcomes = played(settings, setting)

    def row(attack: str, metric: str, values: Any) -> dict[str, Any]:
        return {**key, "attack": attack, "metric": metric} | metrics.summary(np.asarray(values))

    names = list(dict.fromkeys(outcomes.columns.get_level_values(0)))
    best = outcomes[BEST_PARAMETERS, AUC]
    rows = [
        row(attack, metric, outcomes[attack, metric]) for metric in (AUC, RATE) for attack in names
    ]
    rows += [
        row(attack, BEHIND, best - outcomes[attack, AUC])
        for attack in names
        if attack != BEST_PARAMETERS
    ]
    rows.append(row(CORRECTED, AUC, outcomes[IHA_STAR, AUC] - outcomes[IHA, AUC]))
    half = 100 * _HALF / (settings.n_records * settings.n_draws)
    logs = [np.log(outcomes[attack, RATE] + half) for attack in (BEST_PARAMETERS, BEST_LOSS)]
    return [*rows, row(APART, LOG_RATES, logs[0] - logs[1])]


def temperatures(settings: Settings) -> pd.DataFrame:
    """The Gaussian mean: every attack against the temperature, both kinds of knowledge."""
    rows = []
    for adversary, known in KNOWN_RECORDS.items():
        for temperature in TEMPERATURES:
            key = {"others": adversary, "temperature": temperature}
            rows += _exact(key, MeanGame(temperature, known).rates())
    sizes = {"Records": str(RECORDS), "Dimensions": str(DIMENSIONS)}
    return tidy(rows, {"sizes": sizes, **EXACT})


def logistic(settings: Settings) -> pd.DataFrame:
    """The logistic regression: every attack, optimiser and knowledge."""
    rows = []
    for optimiser in OPTIMISERS:
        for adversary, rates in LogisticGame(settings.grid_points).rates(optimiser).items():
            rows += _exact({"optimiser": optimiser, "others": adversary}, rates)
    return tidy(rows, {"sizes": _grid(settings), **EXACT})


def all_games(settings: Settings) -> pd.DataFrame:
    """Outputs or parameters, population or all others known: the best attack in each cell."""
    of_mean = {o: MeanGame(1.0, known).rates() for o, known in KNOWN_RECORDS.items()}
    rows = _cells({"game": MEAN, "optimiser": POSTERIOR}, of_mean) + two_by_two(settings)
    for optimiser in OPTIMISERS:
        key = {"game": LOGISTIC, "optimiser": optimiser}
        rows += _cells(key, LogisticGame(settings.grid_points).rates(optimiser))
    return tidy(rows, {"sizes": {**named_sizes(settings), **_grid(settings)}, **EXACT})


def _cells(key: dict[str, str], by_knowledge: dict[str, dict]) -> list[dict[str, Any]]:
    """Exact cells of one game, and the contrasts of the claims."""
    rows = []
    for adversary, rates in by_knowledge.items():
        best = {name: rates[name] for name in (BEST_LOSS, BEST_PARAMETERS)}
        rows += _exact({**key, "others": adversary}, best)
    areas = {
        adversary: {
            a: 100 * np.float64(rates[a][0]) for a in (BEST_LOSS, BEST_PARAMETERS, MALT, MAST)
        }
        for adversary, rates in by_knowledge.items()
    }
    for label, value in contrasts(areas).items():
        row = {**key, "others": COMPARED, "attack": label, "metric": APART_BY}
        rows.append(row | exactly(float(value)))
    return rows


def _exact(key: dict[str, Any], rates: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    return [
        {**key, "attack": attack, "metric": metric} | exactly(100 * value)
        for attack, pair in rates.items()
        for metric, value in zip((AUC, RATE), pair, strict=True)
    ]


def _grid(settings: Settings) -> dict[str, str]:
    return {
        "Weights on the grid": f"{settings.grid_points}² = {settings.grid_points**2:,}",
        "Weight decay, logistic regression": f"{PENALTY / (OTHERS + 1):g}",
    }


def lines_drawn(
    table: pd.DataFrame,
    x: str,
    attacks: Sequence[str],
    x_label: str,
    panel: str = "",
    metrics: Sequence[str] = (AUC,),
    log: bool = False,
    coloured: Sequence[str] = (),
) -> "Figure":
    """Some attacks' numbers against a key, a panel for each value of some columns.

    Without such columns there is a panel a metric.
    """
    shown = table[table["attack"].isin(attacks) & table["metric"].isin(metrics)]
    order = {name: i for i, name in enumerate(attacks)}
    shown = shown.sort_values("attack", key=lambda names: names.map(order), kind="stable")
    if x == OTHERS_KNOWN:
        shown = shown.copy()
        shown[OTHERS_KNOWN] = shown["others"].map({POPULATION: 0.0, ALL: 1.0})
    if panel:
        names = table[panel.split()].agg(", ".join, axis=1)
        place = names.map({name: i for i, name in enumerate(names.unique())})
        shown = shown.assign(panel="AUC (%), " + names, place=place)
        shown = shown.sort_values("place", kind="stable")
    else:
        shown = shown.assign(panel=shown["metric"])
    return plots.lines_with_intervals(
        shown, x=x, panel="panel", x_label=x_label, log_x=log, coloured=coloured
    )


def squares_drawn(table: pd.DataFrame) -> "Figure":
    """Table 1: what is seen against what is known, a square per game and optimiser."""
    sees = {BEST_LOSS: "loss", BEST_PARAMETERS: "parameters"}
    knows = {POPULATION: "law\nknown", ALL: "others\nknown"}
    shown = table[table["attack"].isin(sees) & table["others"].isin(knows)]
    shown = shown[shown["metric"] == AUC].sort_values(
        "others", key=lambda names: names == ALL, kind="stable"
    )
    shown = shown.assign(
        sees=shown["attack"].map(sees),
        knows=shown["others"].map(knows),
        panel=shown["game"].str.replace(" ", "\n", n=1) + ",\n" + shown["optimiser"],
        text=shown["value"].map("{:.1f}".format),
    )
    return plots.heat_maps(
        shown, "sees", "knows", panel="panel", bottom=50.0, top=85.0, turned=False
    )
