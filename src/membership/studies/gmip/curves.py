"""ROC curves over repeats, as tidy rows: measured ones with intervals, and analytic ones."""

from typing import Any

import numpy as np
import pandas as pd

from membership import metrics, privacy
from membership.arrays import FloatArray

GRID = np.unique(np.r_[np.logspace(-3, 0, 31), np.linspace(0.02, 1, 50)])
SUMMARY_RATES = (0.001, 0.01, 0.1)


def measured(key: dict[str, Any], scores: list[FloatArray], member: FloatArray) -> pd.DataFrame:
    """The mean ROC curve of repeats with Student's 95% intervals, at the rates of `GRID`."""
    band = metrics.roc_band(((score, member) for score in scores), GRID)
    return pd.DataFrame({**key, **band})


def analytic(key: dict[str, Any], tpr: FloatArray) -> pd.DataFrame:
    """A curve known exactly at the rates of `GRID`; columns as `measured`."""
    exact = {"tpr": tpr, "low": tpr, "high": tpr, "standard_error": 0.0, "n_repeats": 0}
    return pd.DataFrame({**key, "fpr": GRID, **exact})


def gaussian(key: dict[str, Any], mu: float) -> pd.DataFrame:
    """The ROC curve of level mu; columns as `measured`."""
    return analytic(key, privacy.gaussian_tpr(GRID, mu))


def area(key: dict[str, Any], scores: list[FloatArray], member: FloatArray) -> dict[str, Any]:
    """One row: the AUC in percent, mean and interval over the repeats."""
    values = [100 * metrics.auc(score, member) for score in scores]
    return {**key, "metric": "auc(%)", **metrics.summary(values)}
