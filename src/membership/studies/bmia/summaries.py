"""Scores of several targets as rows of a tidy table: means with intervals over the targets."""

from typing import Any

import numpy as np
import pandas as pd

from membership import metrics
from membership.arrays import FloatArray

Pairs = list[tuple[FloatArray, np.ndarray]]
"""Scores and truth of each target's queries."""

GRID = np.logspace(-3, 0, 61)
RATES = (0.001, 0.01)


def tpr(pairs: Pairs, fpr: float) -> list[float]:
    """The true-positive rate in percent, target by target."""
    return [100 * metrics.tpr_at_fpr(score, member, fpr) for score, member in pairs]


def auc(pairs: Pairs) -> list[float]:
    """The area under the ROC curve in percent, target by target."""
    return [100 * metrics.auc(score, member) for score, member in pairs]


def rate_name(fpr: float) -> str:
    """A metric's name as the published tables spell it: "TPR(%)@FPR=0.1%"."""
    return f"TPR(%)@FPR={100 * fpr:g}%"


def measured(pairs: Pairs, rates: tuple[float, ...] = RATES) -> dict[str, list[float]]:
    """The statistics of every table, by metric, target by target."""
    return {**{rate_name(fpr): tpr(pairs, fpr) for fpr in rates}, "auc(%)": auc(pairs)}


def rows(key: dict[str, Any], pairs: Pairs, rates: tuple[float, ...] = RATES) -> list[dict]:
    """One row a statistic: true-positive rates, then the AUC, in percent."""
    asked = sum(int(member.sum()) for _, member in pairs)
    found = {rate_name(fpr): tpr(pairs, fpr) for fpr in rates}
    listed = [
        {**key, "metric": name, **percent(values, asked=asked)} for name, values in found.items()
    ]
    return [*listed, {**key, "metric": "auc(%)", **percent(auc(pairs))}]


def percent(values: Any, *, asked: int | None = None) -> dict[str, float]:
    """`metrics.summary` of percentages; ``asked`` where they are rates among so many records."""
    return metrics.summary(values, asked=asked, scale=100.0, lowest=0.0, highest=100.0)


def roc(key: dict[str, Any], pairs: Pairs) -> pd.DataFrame:
    """The mean ROC curve on a grid of false-positive rates, with intervals over the targets."""
    band = metrics.roc_band(pairs, GRID)
    del band["standard_error"]
    return pd.DataFrame({**key, **band})
