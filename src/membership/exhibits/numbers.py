"""Numbers as a reader wants them: no more digits than the interval allows."""

import math
from typing import Any

import pandas as pd

MISSING = "\N{EN DASH}"
_PLAIN_RANGE = (1e-3, 1e6)
_FINEST = 4
"""Decimals at most, counted from the first digit that is not 0 in a number below 1."""


def number(value: Any) -> str:
    """One cell of a table: a float to four significant digits, anything else as it is."""
    if isinstance(value, str):
        return value
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f":
        # Four digits would make 60000 into 6e+04.
        return f"{value:.{'0f' if 9999.5 <= abs(value) < 999_999.5 else '4g'}}"
    return str(value)


def with_interval(value: float, low: float, high: float) -> tuple[str, str]:
    """A number and its interval, ("57.12", "[56.80, 57.41]"), to the interval's second digit."""
    if any(x is None or pd.isna(x) for x in (value, low, high)) or low == high:
        return number(value), ""
    style = _style(max(abs(low), abs(high), abs(value)), abs(high - low))
    return f"{value:{style}}", f"[{low:{style}}, {high:{style}}]"


def _style(largest: float, width: float) -> str:
    """The format in which an interval of this width keeps two digits; "z" drops the - of -0.00."""
    if not (math.isfinite(largest) and math.isfinite(width)):
        return ".4g"
    size, finest = (math.floor(math.log10(x)) for x in (largest, width))
    if not _PLAIN_RANGE[0] <= largest < _PLAIN_RANGE[1]:
        return f".{min(max(size - finest + 2, 2), 2 + _FINEST)}g"
    most = _FINEST + max(0, -size - 1)
    return f"z.{min(max(0, 1 - finest), most)}f"
