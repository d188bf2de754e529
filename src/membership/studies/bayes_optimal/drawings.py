"""How tables of the chapter's first page are drawn: which rows are compared, and with what."""

from typing import TYPE_CHECKING

import pandas as pd

from membership import plots
from membership.metrics.rate_names import tpr_column
from membership.studies.bayes_optimal import names, promises

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a record's score is compared with, by attack.
COMPARED = {
    "0-1": "one threshold for all records",
    "MALT": "one threshold for all records",
    "MAST": "a threshold for each record",
    "shadow attack": "learnt from reference models",
}
# Accuracy beside names found, and what a coin has of each.
PANELS = {
    names.ACCURACY: ("right decisions (%)", 50.0),
    tpr_column(0.01): ("members found at 1% false positives (%)", 1.0),
}


def right_and_found(table: pd.DataFrame) -> "Figure":
    """Table 2: how often each attack is right, beside how many members it can name."""
    shown = table[table["attack"].isin(COMPARED) & table["metric"].isin(PANELS)]
    order = list(COMPARED)
    shown = shown.sort_values("attack", key=lambda attack: attack.map(order.index), kind="stable")
    return plots.dots_by_row(
        shown.assign(
            compared=shown["attack"].map(COMPARED),
            panel=shown["metric"].map(lambda metric: PANELS[metric][0]),
        ),
        "attack",
        by="compared",
        panel="panel",
        label="share (%)",
        baseline=dict(PANELS.values()),
        baseline_label="a coin",
        stems=True,
        told=".1f",
    )


def _against(table: pd.DataFrame, pair: dict[str, str], key: str, word: str) -> "Figure":
    """The AUC of one attack over another's, game by game: on the line where they are level."""
    across, up = (
        table[(table["attack"] == name) & (table["metric"] == names.AUC)] for name in pair
    )
    keys = [name for name in ("n", "ratio", "temperature") if name in table]
    points = up.merge(across[[*keys, "value"]], on=keys, suffixes=("", "_across"))
    points = points.assign(panel="", series=points[key].map(lambda value: f"{word} = {value:g}"))
    labels = {"": tuple(f"AUC of {name} (%)" for name in pair.values())}
    return plots.scatter_panels(points, x="value_across", y="value", identity=True, labels=labels)


def twins(table: pd.DataFrame) -> "Figure":
    """Control 3: MATT over the loss difference that it is nearly."""
    return _against(table, {"loss difference": "the loss difference", "MATT": "MATT"}, "n", "n")


def parameters_and_loss(table: pd.DataFrame) -> "Figure":
    """Control 9: the best attack on all parameters over the best on the record's loss."""
    return _against(table, {"loss": "the loss", "parameters": "parameters"}, "temperature", "T")


def found_and_promised(table: pd.DataFrame) -> "Figure":
    """Control 18: the share of members over the promised one, on the line where they are equal."""
    shown = promises.drawn(table)
    shown = shown.assign(panel="", series=shown["attack"])
    labels = {"": ("promised, mean of the records (%)", "members found (%)")}
    return plots.scatter_panels(shown, x="promised", y="value", identity=True, labels=labels)
