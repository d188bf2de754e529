"""How tables of the chapter's first page are drawn: which rows are compared, and with what."""

from typing import TYPE_CHECKING

import pandas as pd

from membership import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {
    "predicted at K = d, d parameters": "predicted at K = d",
    "rank in the place of d": "rank, not d",
    "each record's K in the place of its mean": "spread of K",
    "moments estimated, if normal": "estimated moments",
    "the rest": "the rest",
    "found, GLiR": "found, GLiR",
}
STARTS = ("predicted", "found")
LOST = r"accuracy lost to noise for (?P<level>mu = [\d.]+), (?P<C>C .*) \(points\)"
RATE = "TPR at 10% FPR (%)"
OVER_GDP = "tau over that of differential privacy"
LOW_RATE = "TPR at 1% FPR (%)"
STATED = "promised, K = d"
RIVALS = {
    "GLiR": "GLiR",
    "GLiR, moments of up to 20,000 records": "GLiR, 20,000 records",
    "likelihood ratio, moments of up to 20,000 records": "likelihood ratio",
    "LOSS": "LOSS",
    "LiRA": "LiRA",
    "LiRA, one variance": "LiRA, one variance",
    "RMIA": "RMIA",
}
BY_GRADIENT = tuple(RIVALS)[:3]
ASKED = {
    "all": "all records",
    "upper twentieth of K": "largest 5% of K",
    "upper hundredth of K": "largest 1% of K",
}
TRAINED = {"fresh": "found, records drawn anew", "fixed": "found, records fixed"}
QUANTILES = {"0.01": "1% of records", "0.5": "median", "0.99": "99% of records", "1": "largest"}


def waterfall(table: pd.DataFrame) -> "Figure":
    """Control 13, one step: from the predicted AUC down to that found, a bar a reason."""
    shown = table[table["steps"] == "one step"].copy()
    is_end = shown["part"].str.startswith(STARTS)
    shown["kind"] = is_end.map({True: "AUC", False: "what takes it away"})
    shown["told"] = shown["value"]
    shown["row"] = shown["part"].map(lambda part: PARTS.get(part, part))
    for _, part in shown.groupby("data"):
        above = part["value"].cumsum()
        # A reason's bar begins where the one above it ends; a level's begins at a coin's.
        start = above.shift(fill_value=50.0).where(~is_end[part.index], 50.0)
        moved = start.where(~is_end[part.index], 0.0)
        shown.loc[part.index, "start"] = start
        shown.loc[part.index, ["value", "low", "high"]] = part[["value", "low", "high"]].add(
            moved, axis=0
        )
    return plots.dots_by_row(
        shown, "row", by="kind", panel="data", label="AUC (%)", stems=True, told="z.1f"
    )


def price_of_c(table: pd.DataFrame) -> "Figure":
    """Control 15: the accuracy that noise costs at either clipping norm, at one promise."""
    parts = table["quantity"].str.extract(LOST)
    shown = table.join(parts).dropna(subset="C")
    return plots.dots_by_row(
        shown,
        "data",
        by="C",
        label=f"points of accuracy lost to noise, {shown['level'].iloc[0]}",
        baseline=0.0,
        stems=True,
        told=".1f",
    )


def promise(table: pd.DataFrame) -> "Figure":
    """Control 17: what is found after all steps, beside what is stated."""
    rates = table[table["quantity"] == RATE]
    stated = rates[rates["others"] == "Equation 10"].set_index("data")["value"].to_dict()
    shown = rates[rates["asked"].isin(ASKED) & rates["others"].isin(TRAINED)]
    shown = shown.assign(asked=shown["asked"].map(ASKED), others=shown["others"].map(TRAINED))
    return plots.dots_by_row(
        shown,
        "asked",
        by="others",
        panel="data",
        label=RATE,
        baseline=stated,
        baseline_label="stated (Equation 10)",
    )


def rivals(table: pd.DataFrame) -> "Figure":
    """Control 20: what each attack finds at each length of training, beside what is promised."""
    rates = table[table["quantity"] == LOW_RATE]
    stated = rates[rates["attack"] == STATED]
    shown = rates[rates["attack"].isin(RIVALS)]
    shown = shown.assign(
        row=shown["attack"].map(RIVALS),
        kind=shown["attack"].isin(BY_GRADIENT).map({True: "by gradients", False: "by losses"}),
    )
    return plots.dots_by_row(
        shown,
        "row",
        by="kind",
        panel="steps",
        label=LOW_RATE,
        baseline=stated.set_index("steps")["value"].to_dict(),
        baseline_label="promised at K = d",
    )


def noise_by_bound(table: pd.DataFrame) -> "Figure":
    """Control 21: the noise that the larger level takes by each bound, for shares of records."""
    shown = table[table["quantity"] == OVER_GDP]
    shown = shown[shown["mu"] == shown["mu"].max()]
    return plots.dots_by_row(
        shown.assign(panel="C = " + shown["C"]),
        "record",
        by="method",
        panel="panel",
        label=f"noise over that of differential privacy, mu = {shown['mu'].iloc[0]:g}",
        baseline=1.0,
        baseline_label="differential privacy",
        log_x=True,
    )


def spread_of_k(table: pd.DataFrame) -> "Figure":
    """Control 6: the records' K as a strip from the lowest to the largest, beside the law's."""
    parts = table["quantity"].str.extract(r"K / rank, quantile (?P<at>[\d.]+)")
    shown = table.join(parts).dropna(subset="at")
    row = shown["data"].where(shown["method"] == "measured", shown["data"] + ", if normal")
    shown = shown.assign(row=row, at=shown["at"].map(QUANTILES)).sort_values(
        "data", key=lambda names: names.map(list(names.unique()).index), kind="stable"
    )
    return plots.dots_by_row(
        shown,
        "row",
        by="at",
        label="K over the rank (the average record has 1)",
        baseline=1.0,
        log_x=True,
        joined=True,
    )
