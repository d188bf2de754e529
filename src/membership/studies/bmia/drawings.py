"""How tables of the chapter's first page are drawn: which rows are compared, and with what."""

from typing import TYPE_CHECKING

import pandas as pd

from membership import plots
from membership.studies.bmia import p_values, tables
from membership.studies.bmia.experiment import LABELS
from membership.studies.bmia.scores import LIRA, LOG_LOSS, LOG_ODDS, PLAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOUND = "TPR(%)@FPR=1%"
GAINED = {f"{FOUND} gained": "members found at 1% FPR", "AUC(%) gained": "AUC"}
# By what they need: no reference, one, or several.
ATTACKS = {
    "Attack-P": "Attack-P",
    "QMIA": "QMIA",
    "difference": "plain difference",
    "BMIA": "BMIA",
    "Attack-R": "Attack-R",
    "LiRA": "LiRA",
    "RMIA": "RMIA",
}
GAINS = {f"{FOUND} gained": "TPR at 1% FPR", "AUC(%) gained": "AUC"}
DRAWN = ("BMIA, closed form", PLAIN, "Attack-R", LIRA, LOG_ODDS, "RMIA", LOG_LOSS)
ACCUSED = "false among those accused at 10% (%)"


def posterior_added(table: pd.DataFrame) -> "Figure":
    """Control 1: what BMIA gains over the plain difference to the same reference."""
    shown = table[(table["attack"] == "BMIA") & table["metric"].isin(GAINED)]
    return plots.dots_by_row(
        shown.assign(metric=shown["metric"].map(GAINED)),
        "dataset",
        panel="metric",
        label="BMIA minus plain difference (points)",
        baseline=0.0,
        stems=True,
        told="+.1f",
    )


def references(table: pd.DataFrame) -> "Figure":
    """Table 1: members found, an attack a row and its number of references a mark."""
    shown = table[(table["metric"] == FOUND) & table["attack"].isin(ATTACKS)]
    order = list(ATTACKS)
    shown = shown.sort_values("attack", key=lambda attack: attack.map(order.index), kind="stable")
    shown = shown.sort_values("dataset", key=lambda data: data.map(_place(table)), kind="stable")
    plain = shown[shown["attack"] == "difference"].set_index("dataset")["value"].to_dict()
    count = shown["n_reference"].astype(int)
    words = count.map(lambda n: "no reference" if n == 0 else f"{n} reference" + "s" * (n > 1))
    return plots.dots_by_row(
        shown.assign(row=shown["attack"].map(ATTACKS), references=words),
        "row",
        by="references",
        panel="dataset",
        label="members found at 1% FPR (%)",
        baseline=plain,
        baseline_label="plain difference",
        joined=True,
    )


def _place(table: pd.DataFrame) -> dict[str, int]:
    return {name: place for place, name in enumerate(table["dataset"].unique())}


def nominal(table: pd.DataFrame) -> "Figure":
    """Control 2: the share of non-members below a nominal rate, beside that rate."""
    shown = table.assign(panel=table["panel"].str.removesuffix(p_values.AT_NOMINAL))
    promised = shown.drop_duplicates(["panel", "n_samples"])
    promised = promised.assign(series="promised", value=1.0, low=1.0, high=1.0)
    return plots.lines_with_intervals(
        pd.concat([shown[shown["series"] != "published, exact"], promised]),
        "n_samples",
        by="series",
        panel="panel",
        log_x=True,
        same_scale=True,
        x_label="samples",
    )


def accused(table: pd.DataFrame) -> "Figure":
    """Control 17: how many of those accused are no members, beside the share that was promised."""
    return plots.dots_by_row(
        table[table["metric"] == ACCUSED].assign(series="found"),
        "p_value",
        by="series",
        panel="dataset",
        label="of those accused, no members (%)",
        baseline=10.0,
        baseline_label="promised",
        told=".0f",
    )


# Three attacks of one name.
VARIANCES = {
    "a record, one-sided": "a variance a record",
    "a record, two-sided": "the same, two-sided",
    "global, one-sided": "one variance for all",
}


def three_liras(table: pd.DataFrame) -> "Figure":
    """Control 6: members that each LiRA finds by its number of references, BMIA's as a line."""
    rates = table[table["metric"] == FOUND]
    bmia = rates[rates["variance"] == tables.OURS].set_index("dataset")["value"].to_dict()
    shown = pd.concat([rates[rates["variance"] == variance] for variance in VARIANCES])
    shown = shown.sort_values("dataset", key=lambda data: data.map(_place(table)), kind="stable")
    return plots.dots_by_row(
        shown.assign(
            row=shown["variance"].map(VARIANCES),
            references=shown["n_reference"].astype(int).map("{} references".format),
        ),
        "row",
        by="references",
        panel="dataset",
        label="members that LiRA finds at 1% FPR (%)",
        baseline=bmia,
        baseline_label="BMIA, one reference",
        joined=True,
    )


def against_accuracy(table: pd.DataFrame) -> "Figure":
    """Control 16: both gains against the accuracy."""
    panels = {metric: f"{word} gained (points)" for metric, word in GAINS.items()}
    shown = table[table["metric"].isin(panels)]
    simulated = shown["dataset"] == LABELS["purchase_like"]
    own = simulated & (shown["network"] == "mlp-32")
    series = (
        shown["dataset"]
        .mask(simulated, "Purchase-like, other networks")
        .mask(own, "Purchase-like, mlp-32")
    )
    panel = shown["metric"].map(panels)
    return plots.lines_with_intervals(
        shown.assign(series=series, panel=panel).sort_values("test accuracy (%)"),
        x="test accuracy (%)",
        by="series",
        panel="panel",
        x_label="accuracy on other records (%)",
    )


def by_references(table: pd.DataFrame) -> "Figure":
    """Control 12: the rate at 1% against the number of references."""
    rates = table[(table["metric"] == FOUND) & table["attack"].isin(DRAWN)]
    order = rates["attack"].map(DRAWN.index)
    shown = rates.assign(panel=rates["dataset"] + ": TPR (%)").loc[order.sort_values().index]
    return plots.lines_with_intervals(
        shown, x="n_reference", panel="panel", log_x=True, x_label="references"
    )
