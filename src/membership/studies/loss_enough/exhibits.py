"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from typing import TYPE_CHECKING

import pandas as pd

from membership.exhibits.declaration import declaring, later, of_settings
from membership.studies.loss_enough import sentences
from membership.studies.loss_enough.names import (
    ALL,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    CONDITION,
    DECAY,
    DRAWN,
    IHA,
    IHA_STAR,
    MALT,
    MAST,
    MATT,
    POPULATION,
    RATE,
    RESIDUAL,
    STEP,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

controls, played, tables = later(__package__, "controls", "played", "tables")
exhibit = declaring(__package__)

KNOWN = "others known"
"""What stands for an attack's knowledge where it is drawn along an axis."""


def _lines(
    x: str, attacks: tuple[str, ...], metrics: tuple[str, ...], x_label: str, **more: str
) -> "Callable[[pd.DataFrame], Figure]":
    """How some attacks' numbers are drawn against a key; a panel a metric unless told otherwise."""

    def draw(table: pd.DataFrame) -> "Figure":
        from membership import plots

        shown = table[table["attack"].isin(attacks) & table["metric"].isin(metrics)]
        order = {name: i for i, name in enumerate(attacks)}
        shown = shown.sort_values("attack", key=lambda names: names.map(order), kind="stable")
        if x == KNOWN:
            shown = shown.assign(**{KNOWN: shown["others"].map({POPULATION: 0.0, ALL: 1.0})})
        if more.get("panel"):
            columns = more["panel"].split()
            names = shown[columns].agg(", ".join, axis=1)
            ordered = {
                name: i for i, name in enumerate(table[columns].agg(", ".join, axis=1).unique())
            }
            shown = shown.assign(panel="AUC (%), " + names, place=names.map(ordered))
            shown = shown.sort_values("place", kind="stable")
        else:
            shown = shown.assign(panel=shown["metric"])
        return plots.lines_with_intervals(
            shown, x=x, panel="panel", x_label=x_label, log_x="log" in more
        )

    return draw


EXHIBITS = (
    exhibit("ctl-1", of_settings(controls.sufficiency), says=sentences.of_sufficiency),
    exhibit(
        "fig-1",
        of_settings(played.exponents),
        draw=_lines(
            "exponent",
            (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, RESIDUAL, IHA, MALT),
            (AUC,),
            "exponent of the noise",
        ),
        says=sentences.of_exponents,
        alt=sentences.exponents_picture,
    ),
    exhibit(
        "fig-2",
        of_settings(played.shares),
        draw=_lines(
            "share",
            (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, RESIDUAL, IHA, MALT, MATT),
            (AUC, RATE),
            "SGD's share of the noise",
        ),
        says=sentences.of_shares,
        alt=sentences.shares_picture,
    ),
    exhibit(
        "tab-1",
        of_settings(tables.all_games),
        draw=_lines(
            KNOWN,
            (BEST_PARAMETERS, BEST_LOSS),
            (AUC,),
            "others known",
            panel="game optimiser",
        ),
        says=sentences.of_cells,
        alt=sentences.cells_picture,
    ),
    exhibit(
        "fig-3",
        of_settings(played.knowledge),
        draw=_lines(
            "known",
            (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, RESIDUAL, MAST, MALT, MATT),
            (AUC,),
            "share of the others' labels known",
            panel="optimiser",
        ),
        says=sentences.of_knowledge,
        alt=sentences.knowledge_picture,
    ),
    exhibit(
        "fig-4",
        of_settings(tables.temperatures),
        draw=_lines(
            "temperature",
            (BEST_PARAMETERS, BEST_LOSS, RESIDUAL, MAST, MALT, MATT),
            (AUC,),
            "temperature T",
            panel="others",
            log="yes",
        ),
        says=sentences.of_temperatures,
        alt=sentences.temperatures_picture,
    ),
    exhibit(
        "tab-2",
        of_settings(tables.logistic),
        draw=_lines(
            KNOWN,
            (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, RESIDUAL, MAST, IHA, MALT),
            (AUC,),
            "others known",
            panel="optimiser",
        ),
        says=sentences.of_logistic,
        alt=sentences.logistic_picture,
    ),
    exhibit(
        "fig-5",
        of_settings(played.decays),
        draw=_lines(DECAY, DRAWN, (AUC,), DECAY, panel="others", log="yes"),
        says=sentences.of_decays,
        alt=sentences.decays_picture,
    ),
    exhibit(
        "fig-6",
        of_settings(played.conditions),
        draw=_lines(
            CONDITION,
            (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, IHA, RESIDUAL, MAST, MALT),
            (AUC,),
            CONDITION,
            panel="others",
            log="yes",
        ),
        says=sentences.of_swept,
        alt=sentences.swept_picture,
    ),
    exhibit(
        "fig-7",
        of_settings(played.rates),
        draw=_lines(
            STEP,
            (BEST_PARAMETERS, BEST_LOSS, IHA_STAR, IHA, RESIDUAL, MAST, MALT),
            (AUC,),
            STEP,
            panel="others",
            log="yes",
        ),
        says=sentences.of_swept,
        alt=sentences.swept_picture,
    ),
    exhibit("ctl-2", of_settings(controls.all_losses), says=sentences.of_losses),
)
