"""Our side's standard error, of a row that states it and of one that does not.

Committed tables of runs before there was a column ``standard_error`` have a Student interval and
``n_repeats``. Until their evidence is gathered again the standard error is taken back from an end
of that interval which was not cut at 0, 1 or 100. This file goes when no such table is left.
"""

import math
from collections.abc import Mapping
from typing import Any

from scipy import stats

from membership.metrics.summaries import rate_error

_LIMITS = (0.0, 1.0, 100.0)


def standard_error(row: Mapping[str, Any], run: Mapping[str, Any]) -> tuple[float, float]:
    """Standard error and degrees of freedom of one row of a study's table, NaN where unknown.

    Parameters
    ----------
    row : mapping
        value, low, high, and where there are such columns standard_error, degrees_of_freedom,
        n_repeats; ``rate`` and ``scale`` of its metric.
    run : mapping
        The row's set-up: with ``paired_targets`` two repeats are one unit, a model and its
        complement.
    """
    if "standard_error" in row:
        return float(row["standard_error"]), float(row["degrees_of_freedom"])
    repeats = row.get("n_repeats", 0)
    if row["low"] == row["high"] == row["value"] and not repeats >= 2:
        return 0.0, math.inf
    if not repeats >= 2:
        return math.nan, math.nan
    degrees = (repeats // 2 if run.get("paired_targets") else repeats) - 1
    if degrees < 1:
        return math.nan, math.nan
    if row["low"] == row["high"]:
        return _all_equal(row, run, repeats), degrees
    free = [abs(row[end] - row["value"]) for end in ("low", "high") if row[end] not in _LIMITS]
    if not free:
        return math.nan, math.nan
    return max(free) / stats.t.ppf(0.975, repeats - 1), degrees


def _all_equal(row: Mapping[str, Any], run: Mapping[str, Any], repeats: int) -> float:
    """Units that all give the same rate are not exact; of other numbers nothing is known."""
    asked = run.get("queried_members")
    if math.isnan(row.get("rate", math.nan)) or asked is None:
        return math.nan
    unit = 100.0 if row["scale"] == "percent" else 1.0
    return unit * rate_error(row["value"] / unit, asked * repeats)
