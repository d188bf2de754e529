"""How tables of the chapter's first page are drawn: which rows are compared, and with what."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from membership import plots
from membership.plots.look import plain
from membership.studies.iha import against_references, clean_game, theory, whole_game

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AREA, RECORD_BY_RECORD = "AUC", "AUC, record by record"
READINGS = {AREA: "one threshold for all", RECORD_BY_RECORD: "record by record"}
_BESIDE_A_COIN: dict[str, Any] = {
    "baseline": 0.5,
    "baseline_label": "a coin",
    "stems": True,
    "told": ".3f",
}
_KNOWS, _LACKS = "told all other records", "told none"
# What an attack is called, and whether it is told the others.
WITH_AND_WITHOUT = {
    "LOSS": ("LOSS", _LACKS),
    "IHA": ("IHA", _KNOWS),
    "IHA, gradient over D for everyone": ("IHA without that knowledge", _LACKS),
    "residual norm": ("residual norm", _KNOWS),
    "residual norm, gradient over D for everyone": ("residual norm without it", _LACKS),
}


def two_by_two(table: pd.DataFrame) -> "Figure":
    """Control 14: what is looked at against whether models are retrained, by colour."""
    return _squares(table.assign(panel=table["dataset"]), clean_game.NAMES)


def two_by_two_by_rate(table: pd.DataFrame) -> "Figure":
    """Control 20: the same at the paper's size, a row of squares a schedule."""
    return _squares(table.assign(panel=table["schedule"].str.partition(" (")[0]), whole_game.NAMES)


def _squares(table: pd.DataFrame, names: dict[str, str]) -> "Figure":
    """Squares of the four adversaries: with one threshold, and record by record."""
    attacks = {names[attack]: attack for attack in clean_game.CELLS}
    shown = table[table["metric"].isin(READINGS) & table["attack"].isin(attacks)]
    shown = shown.assign(attack=shown["attack"].map(attacks))
    shown = shown.assign(
        sees=[clean_game.CELLS[attack][0] for attack in shown["attack"]],
        trains=[clean_game.CELLS[attack][1].replace(" ", "\n") for attack in shown["attack"]],
        attack=shown["attack"].replace(clean_game.SHORT),
        panel=shown["panel"] + ",\n" + shown["metric"].map(READINGS),
    )
    interval = "[" + shown["low"].map("{:.2f}".format) + ", " + shown["high"].map("{:.2f}".format)
    shown["text"] = shown["attack"] + "\n" + shown["value"].map("{:.2f}".format)
    shown["text"] += "\n" + interval + "]"
    return plots.heat_maps(
        shown, "sees", "trains", panel="panel", bottom=0.5, top=0.9, turned=False
    )


def knowledge(table: pd.DataFrame) -> "Figure":
    """Control 1: each attack with what it is told of the other records, and without."""
    shown = table[(table["metric"] == AREA) & table["attack"].isin(WITH_AND_WITHOUT)]
    shown = shown.assign(
        row=[WITH_AND_WITHOUT[attack][0] for attack in shown["attack"]],
        knowledge=[WITH_AND_WITHOUT[attack][1] for attack in shown["attack"]],
    )
    return plots.dots_by_row(
        shown,
        "row",
        by="knowledge",
        panel="dataset",
        label="AUC",
        **_BESIDE_A_COIN,
    )


# The two ways to choose references, and the printed number that tells which was chosen.
LEFT_OUT, PRINTED, AMONG = "target left out", "printed in the paper", "target among its references"


def own_reference(table: pd.DataFrame) -> "Figure":
    """Control 3: LiRA without its target, as printed, and with its target among its references."""
    judged = against_references.control_3_judged(table)
    area = judged[judged["metric"] == AREA]
    clean = area[area["attack"] == "LiRA"]
    among = area[area["attack"] == f"LiRA, {AMONG}"]
    ends = {
        "low": clean["published"] - clean["spread"],
        "high": clean["published"] + clean["spread"],
    }
    printed = clean.assign(value=clean["published"], **ends).dropna(subset="value")
    rows = pd.concat(
        [clean.assign(row=LEFT_OUT), printed.assign(row=PRINTED), among.assign(row=AMONG)]
    )
    return plots.dots_by_row(
        rows.assign(whose=rows["row"].where(rows["row"] == PRINTED, "this run")),
        "row",
        by="whose",
        panel="dataset",
        label="AUC of LiRA",
        **_BESIDE_A_COIN,
    )


def kept_by_one_loss(table: pd.DataFrame) -> "Figure":
    """Control 17: the bound and the networks' records against the condition number."""
    shown = table.rename(columns={"of": "series"})
    # Two digits: these are the places of marks on an axis.
    number = shown["condition number"]
    scale = 10.0 ** (np.floor(np.log10(number)) - 1)
    shown = shown.assign(**{"condition number": np.round(number / scale) * scale})
    panel = "share kept, " + shown["dataset"]
    return plots.lines_with_intervals(
        shown.assign(panel=panel), "condition number", by="series", panel="panel", log_x=True
    )


def weight_decay(table: pd.DataFrame) -> "Figure":
    """Control 4: the published score beside the one with the weight decay."""
    scores = {f"{AREA} of {score}": score for score in ("IHA", "IHA*")}
    shown = table[table["quantity"].isin(scores)]
    return plots.dots_by_row(
        shown.assign(score=shown["quantity"].map(scores)),
        "dataset",
        by="score",
        label="AUC",
        **_BESIDE_A_COIN,
    )


# Each paired difference in words: what stands in front, and what is taken away.
LEADS = {
    theory.LEAD: "AUC: IHA minus the best use of the loss",
    theory.GAIN: "log-density: Theorem 3.1 minus Boltzmann's law",
}


def over_the_loss(table: pd.DataFrame) -> "Figure":
    """Control 9: how far parameters are ahead of the loss where SGD ran, and the paper's law."""
    shown = table[table["metric"].isin(LEADS)]
    return plots.dots_by_row(
        shown.assign(metric=shown["metric"].map(LEADS), series="ahead by"),
        "case",
        by="series",
        panel="metric",
        baseline=0.0,
        label="paired difference",
        stems=True,
        told="+.2f",
    )


def noise_supposed(table: pd.DataFrame) -> "Figure":
    """Control 18: noise against eigenvalue, with the theorem's line."""
    shown = table.dropna(subset="eigenvalue").rename(columns={"quantity": "series"})
    labels = {name: ("eigenvalue", "variance") for name in shown["dataset"]}
    figure = plots.line_panels(shown, panel="dataset", x="eigenvalue", labels=labels, log_x=True)
    for axis in figure.axes:
        axis.set_yscale("log")
        plain(axis.yaxis)
    return figure
