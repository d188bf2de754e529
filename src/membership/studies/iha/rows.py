"""From scores to tidy rows: means over targets with intervals, and the published numbers beside."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, published
from membership.arrays import BoolArray, FloatArray

Scores = Sequence[FloatArray]
"""One array of scores a target."""

RATES = {"TPR@1%FPR (%)": 0.01, "TPR@0.1%FPR (%)": 0.001}
METRICS = ("AUC", *RATES)
KEYS = ("dataset", "attack", "metric")


def measured(
    key: dict[str, Any],
    scores: Scores,
    member: Sequence[BoolArray],
    names: Sequence[str] = METRICS,
    units: Any = None,
) -> list[dict[str, Any]]:
    """One row a metric: the mean over targets, summarised as `over_models`."""
    rate = {"asked": sum(int(truth.sum()) for truth in member), "scale": 100.0}
    return [
        {
            **key,
            "metric": name,
            **over_models(
                [number(name, s, m) for s, m in zip(scores, member, strict=True)],
                **({} if name == "AUC" else rate),
                highest=1.0 if name == "AUC" else 100.0,
                units=units,
            ),
        }
        for name in names
    ]


def curve(
    key: dict[str, Any],
    scores: Scores,
    member: Sequence[BoolArray],
    grid: FloatArray,
    units: Any = None,
) -> list[dict[str, Any]]:
    """One row a false positive rate: the mean true positive rate over targets, as `measured`."""
    pairs = zip(scores, member, strict=True)
    curves = np.stack([metrics.tpr_on(score, truth, grid) for score, truth in pairs], axis=1)
    asked = sum(int(truth.sum()) for truth in member)
    found = []
    for fpr, values in zip(grid, curves, strict=True):
        told = over_models(values, highest=1.0, units=units, asked=asked)
        ends = {name: told[name] for name in ("low", "high", "n_repeats")}
        found.append({**key, "fpr": fpr, "tpr": told["value"], **ends})
    return found


def over_models(
    values: Sequence[float],
    highest: float = np.inf,
    lowest: float = 0.0,
    units: Any = None,
    **rate: Any,
) -> dict[str, float]:
    """Summary of one number a model, as the columns of a row.

    `units` says which models are one unit. Without it the models are all, in the order of training:
    every one is followed by that trained on the complementary records (see `tasks.halves`), and the
    two are one unit.
    """
    units = np.arange(len(values)) // 2 if units is None else units
    return metrics.summary(values, units, lowest=lowest, highest=highest, **rate)


def judged(
    table: pd.DataFrame, reference: pd.DataFrame, on: Sequence[str] = KEYS, *, unjudged: str = ""
) -> pd.DataFrame:
    """The published numbers beside a table's, each data set by its own set-up."""
    parts = [
        reference[reference["dataset"] == setup["published"]].assign(dataset=label)
        for label, setup in table.attrs["setup"].items()
    ]
    return published.compare(
        table, pd.concat(parts, ignore_index=True), list(on), unjudged=unjudged
    )


def number(name: str, score: FloatArray, member: BoolArray) -> float:
    """One of `METRICS` of one target."""
    if name == "AUC":
        return metrics.auc(score, member)
    return 100.0 * metrics.tpr_at_fpr(score, member, RATES[name])
