"""Rows of an exhibit's table as the contrasts that claims are tested on."""

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.errors import InputError
from membership.published.contrasts import Contrast


def rows_at(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows whose columns hold these values, rates within rounding; InputError if none."""
    found = table
    for name, value in where.items():
        same = np.isclose(found[name], value) if isinstance(value, float) else found[name] == value
        found = found[same]
    if found.empty:
        raise InputError(f"the run has no numbers for {where}")
    return found


def number(table: pd.DataFrame, label: str = "", **where: Any) -> Contrast:
    """The one row's number with its error, of tables with and without a column for it."""
    found = rows_at(table, **where)
    if len(found) != 1:
        raise InputError(f"{where} singles out {len(found)} rows")
    return of_row(found.iloc[0], label)


def of_row(row: pd.Series, label: str = "") -> Contrast:
    """A row of a table, or of a curve, as a contrast."""
    value = float(row["value"] if "value" in row else row["tpr"])
    repeats, error = int(row.get("n_repeats", 0)), row.get("standard_error", math.nan)
    if repeats < 2 and not error > 0:
        return Contrast(label, value)
    if not math.isfinite(error):
        # An end may be cut at 0, 1 or 100: the longer arm is the interval's.
        arm = max(row["high"] - value, value - row["low"])
        error = arm / stats.t.ppf(0.975, repeats - 1)
    return Contrast(label, value, float(error), repeats - 1.0, repeats)


def lead(table: pd.DataFrame, label: str, first: dict, second: dict, **where: Any) -> Contrast:
    """One row's number less another's; the two are told apart by the values of some columns."""
    return number(table, **where, **first).less(number(table, **where, **second), label)
