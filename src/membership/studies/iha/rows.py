"""From scores to tidy rows: means over targets with intervals, and the published numbers beside."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, published
from membership.metrics.arrays import BoolArray, FloatArray
from membership.studies.iha.ensembles import Trained

Scores = Sequence[FloatArray]
"""One array of scores a target."""

RATES = {"TPR@1%FPR (%)": 0.01, "TPR@0.1%FPR (%)": 0.001}
METRICS = ("AUC", *RATES)


def measured(
    key: dict[str, Any], scores: Scores, member: Sequence[BoolArray], names: Sequence[str] = METRICS
) -> list[dict[str, Any]]:
    """One row a metric: the mean over targets with Student's 95% interval.

    Parameters
    ----------
    key : dict
        Key columns.
    scores, member : sequence of array, shape (records,)
        One a target, at least two: the scores and the truth.
    names : sequence of str
        Of the metrics, "AUC" or one of `RATES`.

    Returns
    -------
    list of dict
        `key`, metric, value, low, high, n_repeats.
    """
    return [
        {
            **key,
            "metric": name,
            **spread(
                [_number(name, s, m) for s, m in zip(scores, member, strict=True)],
                highest=1.0 if name == "AUC" else 100.0,
            ),
        }
        for name in names
    ]


def spread(
    values: Sequence[float], highest: float = np.inf, lowest: float = 0.0
) -> dict[str, float]:
    """Mean of repeats with Student's 95% interval, as the columns of a row.

    The interval is cut to the values that are possible, from `lowest` to `highest`.
    """
    low, high = metrics.mean_interval(values)
    low, high = max(low, lowest), min(high, highest)
    return {"value": float(np.mean(values)), "low": low, "high": high, "n_repeats": len(values)}


def exactly(value: float) -> dict[str, float]:
    """A number without error, as the columns of a row."""
    return {"value": value, "low": value, "high": value, "n_repeats": 0}


def judged(
    table: pd.DataFrame, reference: pd.DataFrame, on: list[str], some: Sequence[Trained]
) -> pd.DataFrame:
    """The published numbers beside a table's, each data set judged by its own deviations.

    Parameters
    ----------
    table : DataFrame
        With the column dataset, which holds the tasks' labels.
    reference : DataFrame
        Published numbers, dataset as the paper calls it.
    on : list of str
        The columns that say which number is which, "dataset" among them.
    some : sequence of Trained
        The models behind the table.
    """
    parts = []
    for task in (one.task for one in some):
        part = table[table["dataset"] == task.label]
        if part.empty:
            continue
        part.attrs = {
            **table.attrs,
            "comparable": task.comparable,
            "deviations": list(task.deviations),
        }
        printed = reference[reference["dataset"] == task.published].assign(dataset=task.label)
        parts.append(published.compare(part, printed, on))
    joined = pd.concat(parts, ignore_index=True)
    joined.attrs = {**table.attrs, "tolerance": 0.0}
    return joined


def _number(name: str, score: FloatArray, member: BoolArray) -> float:
    if name == "AUC":
        return metrics.auc(score, member)
    return 100.0 * metrics.tpr_at_fpr(score, member, RATES[name])
