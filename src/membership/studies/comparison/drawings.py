"""How tables of risk on the first page are drawn: what calibration, and a flag, is worth."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from membership import attacks, plots
from membership.attacks.registry import BOTH, OUT
from membership.metrics.rate_names import tpr_label
from membership.plots.look import is_narrow
from membership.studies.comparison import agreement, leaderboard, names, sentences, thresholds

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
    return attack.map(known).fillna("none").map(lambda kind: TRAINED.get(kind, kind))


def gains(table: pd.DataFrame) -> "Figure":
    """Control 2: what calibration adds at few false positives, and on average."""
    words = {leaderboard.GAIN_RATE: "TPR at 1% FPR", leaderboard.GAIN_ACCURACY: "accuracy"}
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
    Of the attacks with references, which lie close, the curves are of the lowest and the highest.
    """
    shares = {thresholds.value_of(prior): prior for prior in thresholds.PRIORS}
    shown = table.assign(share=table["metric"].map(shares)).dropna(subset="share")
    shown = shown[shown["share"] == shown["share"].max()]
    worth = shown[shown["attack"] != "LOSS"].groupby("attack")["value"].mean()
    shown = shown[shown["attack"].isin(("LOSS", worth.idxmin(), worth.idxmax()))]
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


def leaders(table: pd.DataFrame) -> "Figure":
    """Tables 1 and 2: attacks by their AUC, averaged over cells.

    Those that fewer cells allow stand last, beside LOSS on the same cells.
    """
    area = table[table["metric"].isin((names.AREA, leaderboard.LOSS_THERE, names.PARAMETERS))]
    area = area.assign(
        attack=area["attack"].where(area["metric"] != leaderboard.LOSS_THERE, "LOSS")
    )
    area = area.drop_duplicates(["cells", "attack"])
    place = area["cells"].map(list(area["cells"].unique()).index)
    area = area.assign(place=place, lower=-area["value"]).sort_values(["place", "lower"])
    widest = area["cells"].iloc[0]
    fewer = " (" + area["cells"].str.split(" of ").str[0] + ")"
    name = area["attack"] + fewer.where(area["cells"] != widest, "")
    shown = area.assign(row=name, references=trained(area["attack"]))
    is_area = names.AREA in set(area["metric"])
    label = f"AUC, averaged over {widest}" if is_area else area["metric"].iloc[0]
    baseline = 0.5 if is_area else None
    return plots.dots_by_row(shown, "row", by="references", baseline=baseline, label=label)


def network(table: pd.DataFrame) -> "Figure":
    """Control 7: the largest number that there is, by queries."""
    metrics = set(table["metric"])
    shown = (names.RATE, names.AREA, sentences.ABSENT)
    metric = next(name for name in shown if name in metrics)
    rows = table[table["metric"] == metric].sort_values("value", ascending=False)
    baseline, label = (0.5, metric) if metric != names.RATE else (1.0, tpr_label(0.01))
    label = f"{label}, by queries an image"
    return plots.dots_by_row(rows, "attack", by="queries", baseline=baseline, label=label)


def cells(table: pd.DataFrame) -> "Figure":
    """Figure 1: the AUC in every cell."""
    shown = table[table["metric"] == names.AREA]
    return plots.dots_by_row(shown.assign(cell=_cell(shown)), "cell", baseline=0.5, label="AUC")


def overlaps(table: pd.DataFrame) -> "Figure":
    """Table 4: overlaps above the diagonal, by chance below, and of an attack with itself on it."""
    pairs = table["attacks"].str.split(" and ", n=1, expand=True)
    shown = table.assign(first=pairs[0], second=pairs[1], at=table["FPR"] + " FPR")
    itself = shown["second"] == sentences.OTHER
    overlap, chance = (shown["metric"] == name for name in (sentences.OVERLAP, sentences.BY_CHANCE))
    above, on = shown[overlap & ~itself], shown[overlap & itself]
    below = shown[chance & ~itself].rename(columns={"first": "second", "second": "first"})
    cells = pd.concat([above, below, on.assign(second=on["first"])])
    return plots.heat_maps(cells, "first", "second", panel="at")


def levels(table: pd.DataFrame) -> "Figure":
    """Table 5: bounds on mu beside the levels that are stated."""
    shown = table[table["metric"].str.contains(" mu")]
    shown = shown.assign(cell=_cell(shown))
    return plots.dots_by_row(shown, "cell", by="metric", label="mu", wide=True)


def seconds(table: pd.DataFrame) -> "Figure":
    """Figure 3: the AUC by seconds."""
    shown = table.assign(panel="one target, end to end", x=table["seconds"], y=table["value"])
    figure = plots.scatter_panels(
        shown,
        by="attack",
        log_x=True,
        labels={"one target, end to end": ("processor seconds", "AUC")},
    )
    if is_narrow():
        # Above the points stands a legend with a line an attack.
        figure.set_figheight(figure.get_figheight() + 0.17 * shown["attack"].nunique())
    return figure


def risk(table: pd.DataFrame) -> "Figure":
    """Figure 4: how cheap numbers order the records."""
    shown = table[table["metric"] == sentences.CORRELATION]
    return plots.dots_by_row(
        shown, "predictor", by="dataset", baseline=0.0, label=sentences.CORRELATION
    )


def found(table: pd.DataFrame) -> "Figure":
    """Figure 5: the records, or the shares where there are no pictures."""
    if (table["pixels"].fillna("") == "").all():
        ends = {agreement.SHARE: "value", agreement.LOW: "low", agreement.HIGH: "high"}
        shares = table[table["column"] == 1].drop(columns="value").rename(columns=ends)
        return plots.dots_by_row(shares, "row", by="target", label=agreement.SHARE)
    most = agreement.MOST_NARROW if is_narrow() else agreement.MOST
    return plots.image_grid(table[table["column"] <= most])


def _cell(table: pd.DataFrame) -> pd.Series:
    return table["dataset"] + ", " + table["target"]
