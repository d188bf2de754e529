"""How tables of risk on the first page are drawn: what calibration, and a flag, is worth."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from membership import attacks, plots
from membership.attacks.registry import BOTH, OUT
from membership.studies.comparison import power, thresholds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINED = {
    "none": "no references",
    OUT: "references without the record",
    BOTH: "references with and without the record",
}
SHARES = np.geomspace(0.001, 0.5, 28)


def trained(attack: pd.Series) -> pd.Series:
    """What each attack trains references on, in words."""
    known = {
        registered.display: registered.references for registered in attacks.registry().values()
    }
    return attack.map(known).map(lambda kind: TRAINED.get(kind, kind))


def gains(table: pd.DataFrame) -> "Figure":
    """Control 2: what calibration adds at few false positives, and on average."""
    words = {power.GAIN_RATE: "TPR at 1% FPR", power.GAIN_ACCURACY: "accuracy"}
    return plots.dots_by_row(
        table.assign(cell=_cell(table), metric=table["metric"].map(words)),
        "attack",
        by="metric",
        panel="cell",
        label="gain over LOSS (points)",
        baseline=0.0,
        stems=True,
        told="+.1f",
    )


def repeated(table: pd.DataFrame) -> "Figure":
    """Control 3: how many records are accused again and again though they are no members."""
    shown = table[(table["metric"] == thresholds.ABOVE) & (table["attack"] != thresholds.PAIR)]
    chance = table[table["metric"] == thresholds.BY_CHANCE]
    chance = chance.assign(cell=_cell(chance)).groupby("cell")["value"].first().to_dict()
    return plots.dots_by_row(
        shown.assign(cell=_cell(shown), references=trained(shown["attack"])),
        "attack",
        by="references",
        panel="cell",
        label=shown["metric"].iloc[0],
        baseline=chance,
        stems=True,
        told=".1f",
    )


def worth_of_a_flag(table: pd.DataFrame) -> "Figure":
    """Table 3: who of those flagged is a member, by how many of those asked are.

    A predictive value at one share of members is one at every share: only the odds before change.
    """
    shares = {thresholds.value_of(prior): prior for prior in thresholds.PRIORS}
    shown = table.assign(share=table["metric"].map(shares)).dropna(subset="share")
    shown = shown[shown["share"] == shown["share"].max()]
    parts = [
        shown.assign(
            at=100 * share, **{end: _moved(shown, end, share) for end in ("value", "low", "high")}
        )
        for share in SHARES
    ]
    curves = pd.concat(parts).assign(
        panel=lambda rows: "flagged at " + rows["nominal FPR"] + " FPR"
    )
    axes = ("members among those asked (%)", "predictive value (%)")
    return plots.line_panels(
        curves, x="at", by="attack", log_x=True, labels=dict.fromkeys(curves["panel"], axes)
    )


def _moved(rows: pd.DataFrame, end: str, share: float) -> pd.Series:
    """A predictive value as it is where another share of those asked are members."""
    value = rows[end] / 100
    odds = value / (1 - value) * (1 - rows["share"]) / rows["share"] * share / (1 - share)
    return 100 * odds / (1 + odds)


def _cell(table: pd.DataFrame) -> pd.Series:
    return table["dataset"] + ", " + table["target"]
