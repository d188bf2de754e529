"""How tables of risk on the first page are drawn: what calibration, and a flag, is worth."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from membership import attacks, plots
from membership.attacks.registry import BOTH, OUT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OFTEN = "records with an FPR above"
BY_CHANCE = "the same by chance (%)"
TRAINED = {
    "none": "no references",
    OUT: "references without the record",
    BOTH: "references with and without the record",
}
PPV = r"PPV where (?P<share>[\d.]+)% are members"
SHARES = np.geomspace(0.001, 0.5, 28)


def trained(attack: pd.Series) -> pd.Series:
    """What each attack trains references on, in words."""
    known = {one.display: one.references for one in attacks.registry().values()}
    return attack.map(known).map(lambda kind: TRAINED.get(kind, kind))


def gains(table: pd.DataFrame) -> "Figure":
    """Control 2: what calibration adds at few false positives, and on average."""
    words = {name: name.removeprefix("gain in ").split(" (")[0] for name in table["metric"]}
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
    shown = table[table["metric"].str.startswith(OFTEN) & ~table["attack"].str.contains(" - ")]
    chance = table[table["metric"] == BY_CHANCE]
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
    found = table["metric"].str.extract(PPV)["share"].astype(float) / 100
    shown = table.assign(share=found).dropna(subset="share")
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
