"""The numbers behind claims: contrasts of an exhibit's rows, and outcomes over data sets."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.outcomes import overall

PAPER = ("CIFAR-10", "CIFAR-100", "Purchase-100", "Texas-100", "ImageNet-1k")
SIMULATED = ("Purchase-like (simulated)",)
RATE, AUC = "TPR(%)@FPR=1%", "auc(%)"


def rows_at(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows whose columns hold these values, rates within rounding.

    Raises
    ------
    InputError
        There are none.
    """
    found = table
    for name, value in where.items():
        same = np.isclose(found[name], value) if isinstance(value, float) else found[name] == value
        found = found[same]
    if found.empty:
        raise InputError(f"the run has no numbers for {where}")
    return found


def number(table: pd.DataFrame, label: str = "", **where: Any) -> Contrast:
    """One row's number with its error, of tables with and without a column for it."""
    found = rows_at(table, **where)
    if len(found) != 1:
        raise InputError(f"{where} singles out {len(found)} rows")
    row = found.iloc[0]
    value = float(row["value"] if "value" in row else row["tpr"])
    repeats, error = int(row.get("n_repeats", 0)), row.get("standard_error", math.nan)
    if repeats < 2 and not error > 0:
        return Contrast(label, value)
    if not math.isfinite(error):
        # An end may be cut at 0 or 100: the longer arm is the interval's.
        arm = max(row["high"] - value, value - row["low"])
        error = arm / stats.t.ppf(0.975, repeats - 1)
    return Contrast(label, value, float(error), repeats - 1.0, repeats)


def scaled(one: Contrast, factor: float) -> Contrast:
    """A contrast in another unit, or turned round."""
    return replace(
        one,
        difference=factor * one.difference,
        standard_error=abs(factor) * one.standard_error,
    )


def over_data(
    table: pd.DataFrame, test: Callable[[str], Outcome], column: str = "dataset"
) -> Outcome:
    """One outcome from those on each data set; the test takes its name."""
    targets = table.attrs.get("sizes", {}).get("Target models", "?")
    found = {
        name: test(name).on(f"{name} ({targets} targets)") for name in dict.fromkeys(table[column])
    }
    return overall(found, PAPER, simulated=SIMULATED)
