"""Numbers as a reader wants them: no more digits than the interval allows."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

MISSING = "\N{EN DASH}"
_PLAIN_RANGE = (1e-3, 1e6)


def number(value: Any) -> str:
    """One cell of a table: a float to four significant digits, anything else as it is."""
    if isinstance(value, str):
        return value
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f":
        return f"{float(value):.4g}"
    return str(value)


def with_interval(value: float, low: float, high: float) -> str:
    """A number and its interval, "57.12 [56.80, 57.41]", to the interval's second digit.

    Parameters
    ----------
    value, low, high : float
        A missing value gives a dash; an interval that is missing or of no width is left out.
    """
    if any(x is None or pd.isna(x) for x in (value, low, high)) or low == high:
        return number(value)
    largest = max(abs(low), abs(high), abs(value))
    if _PLAIN_RANGE[0] <= largest < _PLAIN_RANGE[1]:
        decimals = max(0, 1 - math.floor(math.log10(high - low)))
        style = f".{min(decimals, 6)}f"
    else:
        style = ".3g"
    return f"{value:{style}} [{low:{style}}, {high:{style}}]"


def printed(values: Sequence[float], metrics: Sequence[str]) -> list[str]:
    """Published numbers with as many decimals as the paper prints for their metric.

    Parameters
    ----------
    values : sequence of float
        A missing number gives a dash.
    metrics : sequence of str
        What each number measures; the same length.
    """
    decimals: dict[str, int] = {}
    for value, metric in zip(values, metrics, strict=True):
        digits = "" if pd.isna(value) else f"{value:.10g}".partition(".")[2]
        decimals[metric] = max(decimals.get(metric, 0), len(digits))
    return [
        MISSING if pd.isna(value) else f"{value:.{decimals[metric]}f}"
        for value, metric in zip(values, metrics, strict=True)
    ]
