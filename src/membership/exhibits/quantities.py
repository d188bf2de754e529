"""A tidy table's numbers one by one, in a reader's words, each with what the paper prints."""

import math
import re
from dataclasses import dataclass

import pandas as pd

from membership.exhibits.numbers import number, with_interval
from membership.published import metric_words

MODEL = "(model)"
"""The key of numbers about the models and not about an attack on them."""
_DIFFERENCE = re.compile(r"\b(less|difference|gain)\b")


@dataclass(frozen=True)
class Quantity:
    """One number: its keys by column and its metric in words, and how it was judged.

    ``published``, its ``spread`` and the ends of what counts as ``equal`` to it are NaN, and
    ``verdict`` is empty, where there is nothing to judge it by. ``is_imputed`` says that the
    published number's error was taken from ours.
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

    @property
    def is_difference(self) -> bool:
        """Whether it is the difference of two others: of "A less B", or "AUC, less that of A"."""
        return any(_DIFFERENCE.search(word) for word in (self.metric, *self.keys.values()))


def is_tidy(table: pd.DataFrame) -> bool:
    """Whether a table has one number a row, ``value``, under keys that tell rows apart."""
    if "value" not in table.columns or not pd.api.types.is_numeric_dtype(table["value"]):
        return False
    return not table.duplicated(_keys(table)).any()


def quantities(table: pd.DataFrame, judged: pd.DataFrame | None = None) -> list[Quantity]:
    """The numbers of a tidy table, or of what `membership.published.compare` made of it."""
    frame = table if judged is None else judged
    keys = [key for key in _keys(frame) if key != "metric"]
    filled = frame.assign(**{name: None for name in _OPTIONAL if name not in frame})
    metrics = [metric_words(str(word)) for word in frame.get("metric", [""] * len(frame))]
    return [
        Quantity(
            {key: _word(key, row[key]) for key in keys},
            metric,
            float(row["value"]),
            _float(row["low"], row["value"]),
            _float(row["high"], row["value"]),
            _float(row["published"]),
            printed_text(row["published"], row["decimals"]),
            _float(row["spread"]),
            (_float(row["equal_low"]), _float(row["equal_high"])),
            row["verdict"] or "",
            row["reason"] or "",
            bool(row["imputed"]),
        )
        for row, metric in zip(filled.to_dict("records"), metrics, strict=True)
    ]


_OPTIONAL = (
    *("low", "high", "published", "decimals", "spread", "equal_low", "equal_high"),
    *("verdict", "reason", "imputed"),
)


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
