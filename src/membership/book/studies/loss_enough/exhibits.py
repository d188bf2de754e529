"""The chapter's exhibits, in the order of its page; their words are in ``exhibits.toml``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from membership.book.exhibits import Exhibit
from membership.book.exhibits.declaration import drawn, exhibits_of, later
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
    MALT,
    MAST,
    MATT,
    POPULATION,
    RATE,
    RESIDUAL,
    STEP,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

clouds, games, losses = later(__package__, "clouds", "games", "losses")

KNOWN = "others known"
"""What stands for an attack's knowledge where it is drawn along an axis."""
BEST = (BEST_PARAMETERS, BEST_LOSS)
TESTS = (*BEST, IHA_STAR, RESIDUAL)


def _lines(
    x: str,
    attacks: tuple[str, ...],
    x_label: str,
    panel: str = "",
    *,
    metrics: tuple[str, ...] = (AUC,),
    log: bool = False,
) -> "Callable[[pd.DataFrame], Figure]":
    """How some attacks' numbers are drawn against a key, a panel for each value of some columns.

    Without such columns there is a panel a metric.
    """

    def draw(table: pd.DataFrame) -> "Figure":
        from membership import plots

        shown = table[table["attack"].isin(attacks) & table["metric"].isin(metrics)]
        order = {name: i for i, name in enumerate(attacks)}
        shown = shown.sort_values("attack", key=lambda names: names.map(order), kind="stable")
        if x == KNOWN:
            shown = shown.assign(**{KNOWN: shown["others"].map({POPULATION: 0.0, ALL: 1.0})})
        if panel:
            names = table[panel.split()].agg(", ".join, axis=1)
            place = names.map({name: i for i, name in enumerate(names.unique())})
            shown = shown.assign(panel="AUC (%), " + names, place=place)
            shown = shown.sort_values("place", kind="stable")
        else:
            shown = shown.assign(panel=shown["metric"])
        return plots.lines_with_intervals(shown, x=x, panel="panel", x_label=x_label, log_x=log)

    return draw


_CLOUDS = drawn("clouds", axes_labels=("along the valley", "across"))
_declare = exhibits_of(__package__)


def exhibit(name: str, function: Callable[..., pd.DataFrame], **fields: Any) -> Exhibit:
    """Every table is computed from the settings alone."""
    return _declare(name, function, settings=True, **fields)


def _swept(name: str, function: Callable[..., pd.DataFrame], recipe: str) -> Exhibit:
    """Games under SGD by one number of their recipe."""
    attacks = (*BEST, IHA_STAR, IHA, RESIDUAL, MAST, MALT)
    draw = _lines(recipe, attacks, recipe, "others", log=True)
    return exhibit(name, function, draw=draw)


EXHIBITS = (
    exhibit("ctl-1", losses.sufficiency),
    exhibit("fig-8", clouds.three_clouds, draw=_CLOUDS, says=clouds.say_inside),
    exhibit(
        "fig-1",
        games.exponents,
        draw=_lines("exponent", (*TESTS, IHA, MALT), "exponent of the noise"),
    ),
    exhibit(
        "fig-2",
        games.shares,
        draw=_lines(
            "share", (*TESTS, IHA, MALT, MATT), "SGD's share of the noise", metrics=(AUC, RATE)
        ),
    ),
    exhibit("tab-1", games.all_games, draw=_lines(KNOWN, BEST, KNOWN, "game optimiser")),
    exhibit(
        "fig-3",
        games.knowledge,
        draw=_lines(
            "known", (*TESTS, MAST, MALT, MATT), "share of the others' labels known", "optimiser"
        ),
    ),
    exhibit(
        "fig-4",
        games.temperatures,
        draw=_lines(
            "temperature", (*BEST, RESIDUAL, MAST, MALT, MATT), "temperature T", "others", log=True
        ),
    ),
    exhibit(
        "tab-2", games.logistic, draw=_lines(KNOWN, (*TESTS, MAST, IHA, MALT), KNOWN, "optimiser")
    ),
    exhibit("fig-5", games.decays, draw=_lines(DECAY, DRAWN, DECAY, "others", log=True)),
    _swept("fig-6", games.conditions, CONDITION),
    _swept("fig-7", games.rates, STEP),
    exhibit("ctl-2", losses.all_losses),
    exhibit("ctl-5", losses.price_of_one, draw=losses.draw_price),
)
