"""ROC curves over repeats, as tidy rows: measured ones with intervals, and analytic ones."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import metrics, privacy
from membership.metrics.arrays import FloatArray

GRID = np.unique(np.r_[np.logspace(-3, 0, 31), np.linspace(0.02, 1, 50)])
SUMMARY_RATES = (0.001, 0.01, 0.1)


def measured(key: dict[str, Any], scores: list[FloatArray], member: FloatArray) -> pd.DataFrame:
    """The mean ROC curve of repeats with Student's 95% intervals, at the rates of `GRID`.

    Parameters
    ----------
    key : dict
        Key columns.
    scores : list of array of shape (records,)
        One a repeat, at least two.
    member : bool array of shape (records,)
        The truth, the same in every repeat.

    Returns
    -------
    DataFrame
        Key columns, then fpr, tpr, low, high, n_repeats.
    """
    rates = np.stack([_tpr(score, member) for score in scores])
    half = stats.t.ppf(0.975, len(scores) - 1) * stats.sem(rates, axis=0)
    mean = rates.mean(axis=0)
    return pd.DataFrame(
        {
            **key,
            "fpr": GRID,
            "tpr": mean,
            "low": np.clip(mean - half, 0, 1),
            "high": np.clip(mean + half, 0, 1),
            "n_repeats": len(scores),
        }
    )


def analytic(key: dict[str, Any], tpr: FloatArray) -> pd.DataFrame:
    """A curve known exactly at the rates of `GRID`; columns as `measured`."""
    exact = {"tpr": tpr, "low": tpr, "high": tpr, "n_repeats": 0}
    return pd.DataFrame({**key, "fpr": GRID, **exact})


def gaussian(key: dict[str, Any], mu: float) -> pd.DataFrame:
    """The ROC curve of level mu; columns as `measured`."""
    return analytic(key, privacy.gaussian_tpr(GRID, mu))


def area(key: dict[str, Any], scores: list[FloatArray], member: FloatArray) -> dict[str, Any]:
    """One row: the AUC in percent, mean and interval over the repeats."""
    values = [100 * metrics.auc(score, member) for score in scores]
    return {**key, "metric": "auc(%)", **spread(values)}


def spread(values: Any) -> dict[str, float]:
    """Mean of repeats with Student's 95% interval, as the columns of a row."""
    low, high = metrics.mean_interval(values)
    return {"value": float(np.mean(values)), "low": low, "high": high, "n_repeats": len(values)}


def exactly(value: float) -> dict[str, float]:
    """A number without error, as the columns of a row."""
    return {"value": value, "low": value, "high": value, "n_repeats": 0}


def _tpr(score: FloatArray, member: FloatArray) -> FloatArray:
    fpr, tpr = metrics.roc_curve(score, member)
    # The most the attacker has without exceeding the rate.
    return tpr[np.searchsorted(fpr, GRID + 1e-12, side="right") - 1]
