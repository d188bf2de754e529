"""Rows of an exhibit's table: numbers over units, shares and correlations with their ends."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import metrics
from membership.arrays import FloatArray


def over_units(table: pd.DataFrame, keys: Sequence[str], **bounds: Any) -> list[dict[str, Any]]:
    """A row for each combination of some columns: the summary of ``value`` over the rows of it.

    In the order of their first rows; ``bounds`` as `metrics.summary` takes them.
    """
    return [
        dict(zip(keys, key, strict=True)) | metrics.summary(values.to_numpy(), **bounds)
        for key, values in table.groupby(list(keys), sort=False)["value"]
    ]


def of_each(
    key: Mapping[str, Any],
    columns: str | Sequence[str],
    values: Mapping[Any, Any],
    **bounds: Any,
) -> list[dict[str, Any]]:
    """A row for each of several numbers, (units,) each: the key, its name or names, its summary."""
    columns = [columns] if isinstance(columns, str) else columns
    return [
        {**key, **dict(zip(columns, [name] if len(columns) == 1 else name, strict=True))}
        | metrics.summary(numbers, **bounds)
        for name, numbers in values.items()
    ]


def of_error(
    value: float,
    error: float,
    units: int,
    degrees: float = math.inf,
    *,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> dict[str, float]:
    """A number with Student's 95% interval of its own standard error and degrees of freedom."""
    half = float(stats.t.ppf(0.975, degrees)) * error
    return {
        "value": value,
        "low": max(value - half, lowest),
        "high": min(value + half, highest),
        "standard_error": error,
        "degrees_of_freedom": degrees,
        "n_repeats": units,
    }


def share(hit: Any) -> dict[str, float]:
    """Of independent trials, in percent, with Clopper and Pearson's 95% limits."""
    count, n = int(np.sum(hit)), np.size(hit)
    limits = stats.binomtest(count, n).proportion_ci(method="exact")
    return {
        "value": 100 * count / n,
        "low": 100 * float(limits.low),
        "high": 100 * float(limits.high),
    }


def correlation(x: FloatArray, y: FloatArray) -> dict[str, float]:
    """Pearson's correlation of independent pairs, with Fisher's 95% interval."""
    value = float(np.corrcoef(x, y)[0, 1])
    half = stats.norm.ppf(0.975) / np.sqrt(max(len(x) - 3, 1))
    middle = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
    # Rounding may leave a correlation of exactly one outside.
    low, high = min(np.tanh(middle - half), value), max(np.tanh(middle + half), value)
    return {"value": value, "low": float(low), "high": float(high)}


def rank_correlation(x: FloatArray, y: FloatArray) -> dict[str, float]:
    """Spearman's in the same way."""
    return correlation(stats.rankdata(x), stats.rankdata(y))
