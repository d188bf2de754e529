"""How tables of the chapter's first page are drawn: which rows are compared, and with what."""

from typing import TYPE_CHECKING

import pandas as pd

from membership import plots
from membership.metrics.rate_names import tpr_column
from membership.studies.bayes_optimal import ladder_tables, logistic, names, promises

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = "training less validation accuracy (points)"
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


def against_n(table: pd.DataFrame) -> "Figure":
    """Table 1: lines against n; the published values only where the data are the paper's."""
    printed = logistic.published_table_1() if _is_the_papers(table) else None
    is_difference = table["attack"] == logistic.BEHIND
    is_difference |= table["metric"].isin([logistic.GAINS, logistic.SIDES])
    shown = table[~is_difference]
    return plots.lines_with_intervals(shown, "n", panel="metric", log_x=True, published=printed)


def _is_the_papers(table: pd.DataFrame) -> bool:
    """Whether the records are trucks and ships, as in the paper."""
    setups = table.attrs.get("setup", {}).values()
    return any(setup.get("data") == "CIFAR-10 trucks and ships" for setup in setups)


def by_threshold(table: pd.DataFrame) -> "Figure":
    """Control 2: MALT and MATT, each by its threshold, beside 0-1 and random scores."""
    words = {
        names.ACCURACY: "best threshold",
        names.OTHER: "threshold of other records",
        names.MODELS: "threshold of other models",
    }
    own = table.assign(line=table["metric"].map(words))
    baselines = own[own["attack"].isin(["0-1", "random score"])]
    baselines = baselines.assign(line=baselines["attack"])
    panels = [
        pd.concat([own[own["attack"] == attack], baselines]).assign(panel=f"{attack} accuracy (%)")
        for attack in ("MALT", "MATT")
    ]
    return plots.lines_with_intervals(
        pd.concat(panels), "n", by="line", panel="panel", log_x=True, same_scale=True
    )


def by_models(table: pd.DataFrame) -> "Figure":
    """Control 17: leads by how many models taught the thresholds, a series an n."""
    shown = table[table["metric"] == names.MODELS]
    panel, size = shown["attack"] + ", accuracy (points)", "n = " + shown["n"].astype(str)
    return plots.lines_with_intervals(
        shown.assign(panel=panel, size=size),
        "models",
        by="size",
        panel="panel",
        log_x=True,
        x_label="models that the threshold is learnt from",
    )


def against_gap(table: pd.DataFrame) -> "Figure":
    """Control 10: accuracy against the model's own gap, by features."""
    shown = ladder_tables.drawn(table)
    return plots.lines_with_intervals(
        shown,
        "gap",
        by="features",
        panel="attack",
        log_x=bool((shown["gap"] > 0).all()),
        same_scale=True,
        x_label=GAP,
    )


def powers_of_n(table: pd.DataFrame) -> "Figure":
    """Control 11: the slopes; of one size alone, what there is at it."""
    slopes = table[table["quantity"].isin(names.OF_SLOPES)]
    if slopes.empty:
        ratios = table[table["quantity"] == names.RATIO].astype({"n": int})
        label = "second-order over first-order term"
        return plots.lines_with_intervals(ratios, "n", by="features", y_label=label)
    shown = slopes.assign(quantity=slopes["quantity"].map(names.OF_SLOPES))
    label = "exponent of n (line: -1/2)"
    return plots.dots_by_row(shown, "quantity", by="features", label=label, baseline=-0.5)


def against_penalty(table: pd.DataFrame) -> "Figure":
    """Control 16: accuracy against the model's own gap, by penalty."""
    shown, printed = ladder_tables.penalties_drawn(table)
    return plots.lines_with_intervals(
        shown,
        "gap",
        by="size",
        panel="panel",
        published=printed,
        same_scale=True,
        x_label=GAP,
    )


def by_references(table: pd.DataFrame) -> "Figure":
    """Control 12: both accuracies of MALT and MAST by the number of reference models."""
    shown = table[table["attack"].isin(["MALT", "MAST"]) & (table["metric"] != names.AUC)]
    return plots.lines_with_intervals(
        shown, "references", panel="metric", same_scale=True, x_label="reference models"
    )


def found_and_promised(table: pd.DataFrame) -> "Figure":
    """Control 18: the share of members over the promised one, on the line where they are equal."""
    at_one = table["attack"].isin([promises.ONE_LAW, promises.OWN_LAW, promises.THEOREM])
    shown = table[at_one & (table["metric"] == names.MEMBERS) & table["promised"].notna()]
    shown = shown.assign(panel="", series=shown["attack"])
    labels = {"": ("promised, mean of the records (%)", "members found (%)")}
    return plots.scatter_panels(shown, x="promised", y="value", identity=True, labels=labels)
