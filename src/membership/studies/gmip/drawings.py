"""How tables of the chapter's first page are drawn: which rows are compared, and with what."""

from typing import TYPE_CHECKING

import pandas as pd

from membership import plots
from membership.metrics.rate_names import tpr_label
from membership.studies.gmip import names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {
    names.PREDICTED: "predicted at K = d",
    names.RANK: "rank, not d",
    names.SPREAD: "spread of K",
    names.BACKGROUND: "estimated moments",
    names.REST: "the rest",
    names.FOUND: "found, GLiR",
}
RATE = tpr_label(0.1)
OVER_GDP = "tau over that of differential privacy"
LOW_RATE = tpr_label(0.01)
RIVALS = {
    names.GLIR: "GLiR",
    names.GLIR_MORE: "GLiR, 20,000 records",
    names.RATIO_MORE: "likelihood ratio",
    names.LOSS: "LOSS",
    names.LIRA: "LiRA",
    names.LIRA_ONE: "LiRA, one variance",
    names.RMIA: "RMIA",
    names.BMIA: "BMIA",
}
STATED = (names.PROMISED, names.PROMISED_COMPOSED)
BY_GRADIENT = (names.GLIR, names.GLIR_MORE, names.RATIO_MORE)
ASKED = {
    "all": "all records",
    "upper twentieth of K": "largest 5% of K",
    "upper hundredth of K": "largest 1% of K",
}
TRAINED = {"fresh": "found, records drawn anew", "fixed": "found, records fixed"}
QUANTILES = {0.01: "1% of records", 0.5: "median", 0.99: "99% of records", 1.0: "largest"}


def waterfall(table: pd.DataFrame) -> "Figure":
    """Control 13, one step: from the predicted AUC down to that found, a bar a reason."""
    shown = table[table["steps"] == "one step"].copy()
    is_end = shown["part"].isin([names.PREDICTED, names.FOUND])
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
    shown = names.noise_losses(table)
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
    stated = rates[rates["attack"].isin(STATED)]
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
    words = {names.k_at(quantile): word for quantile, word in QUANTILES.items()}
    shown = table[table["quantity"].isin(words)]
    row = shown["data"].where(shown["method"] == "measured", shown["data"] + ", if normal")
    shown = shown.assign(row=row, at=shown["quantity"].map(words)).sort_values(
        "data", key=lambda data: data.map(list(data.unique()).index), kind="stable"
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
