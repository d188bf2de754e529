"""A table's numbers in a reader's words: no more digits than the interval allows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

import pandas as pd

from membership.book.published.comparison import MODEL
from membership.book.published.tables import rate_of
from membership.errors import InputError
from membership.metrics.rate_names import metric_words

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


def number_at(
    table: pd.DataFrame, where: Mapping[str, Any], form: str = "", column: str = "value"
) -> str:
    """The number in a column of the one row whose columns hold these values, as text."""
    value = row_at(table, where, column)[column]
    return format(value, form) if form else number(value)


def row_at(table: pd.DataFrame, where: Mapping[str, Any], *columns: str) -> pd.Series:
    """The one row whose columns hold these values; ``columns`` have to be there too.

    Raises
    ------
    InputError
        There is no such column, or not exactly one such row.
    """
    missing = [name for name in (*where, *columns) if name not in table.columns]
    if missing:
        raise InputError(
            f"no column {missing[0]!r}; there are {', '.join(map(str, table.columns))}"
        )
    rows = table
    for name, value in where.items():
        rows = rows[rows[name].astype(str) == str(value)]
    if len(rows) != 1:
        raise InputError(f"{dict(where)} singles out {len(rows)} rows; name exactly one")
    return rows.iloc[0]


@dataclass(frozen=True)
class Quantity:
    """One number: its keys by column and its metric in words, and how it was judged.

    ``published``, its ``spread`` and the ends of what counts as ``equal`` to it are NaN, and
    ``verdict`` is empty, where there is nothing to judge it by. ``is_imputed`` says that the
    published number's error was taken from ours. ``rate`` is the false positive rate in percent of
    a true positive rate, NaN for any other metric.
    """

    keys: dict[str, str]
    metric: str
    value: float
    low: float
    high: float
    published: float = math.nan
    published_text: str = ""
    spread: float = math.nan
    equal: tuple[float, float] = (math.nan, math.nan)
    verdict: str = ""
    reason: str = ""
    is_imputed: bool = False
    rate: float = math.nan
    is_difference: bool = False

    @property
    def text(self) -> str:
        """The number, to the digits that its interval allows."""
        return with_interval(self.value, self.low, self.high)[0]

    @property
    def interval(self) -> str:
        """Its interval: "[0.541, 0.549]", empty for a number known exactly."""
        return with_interval(self.value, self.low, self.high)[1]

    @property
    def is_of_the_model(self) -> bool:
        """Whether it describes the models attacked."""
        return MODEL in self.keys.values()


def is_tidy(table: pd.DataFrame) -> bool:
    """Whether a table has one number a row, ``value``, under keys that tell rows apart."""
    if "value" not in table.columns or not pd.api.types.is_numeric_dtype(table["value"]):
        return False
    return not table.duplicated(_keys(table)).any()


def quantities(
    table: pd.DataFrame,
    judged: pd.DataFrame | None = None,
    differences: Mapping[str, str] = MappingProxyType({}),
) -> list[Quantity]:
    """The numbers of a tidy table, or of what `membership.book.published.compare` made of it.

    ``differences`` as an `Exhibit` declares them.
    """
    frame = table if judged is None else judged
    keys = [key for key in _keys(frame) if key != "metric"]
    return [
        Quantity(
            {key: _word(key, row[key]) for key in keys},
            metric_words(str(row.get("metric", ""))),
            float(row["value"]),
            _float(row.get("low"), row["value"]),
            _float(row.get("high"), row["value"]),
            _float(row.get("published")),
            printed_text(row.get("published"), row.get("decimals")),
            _float(row.get("spread")),
            (_float(row.get("equal_low")), _float(row.get("equal_high"))),
            row.get("verdict", ""),
            row.get("reason", ""),
            bool(row.get("imputed")),
            rate_of(str(row.get("metric", ""))),
            any(fnmatchcase(str(row.get(key)), form) for key, form in differences.items()),
        )
        for row in frame.to_dict("records")
    ]


def _keys(frame: pd.DataFrame) -> list[str]:
    """The columns before the first number."""
    columns = list(frame.columns)
    return columns[: columns.index("published" if "published" in columns else "value")]


def _word(key: str, value: object) -> str:
    return value if isinstance(value, str) else f"{key.replace('_', ' ')} = {number(value)}"


def _float(value: object, otherwise: float = math.nan) -> float:
    return float(otherwise if value is None or pd.isna(value) else value)


def printed_text(value: object, decimals: object) -> str:
    """A published number as the paper prints it."""
    if value is None or pd.isna(value):
        return ""
    if decimals is None or pd.isna(decimals):
        return number(float(value))
    return f"{float(value):.{max(0, int(decimals))}f}"
