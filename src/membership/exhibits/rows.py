"""What a card's table says of one run: a quantity, its number and how that was judged."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from membership.exhibits.numbers import MISSING, number, printed, with_interval
from membership.exhibits.record import comparison_of
from membership.published import metric_words

LONGEST = 30


@dataclass(frozen=True)
class Cell:
    """One run's number: how it was judged ("" where nothing was published), and by what."""

    value: str = MISSING
    interval: str = ""
    verdict: str = ""
    reason: str = ""
    published: str = MISSING
    extras: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The number with its interval: "54.4 [53.2, 55.6]"."""
        return f"{self.value} {self.interval}".rstrip()


@dataclass(frozen=True)
class Entry:
    """One quantity of one run: its keys by column and its metric, in words, and the number."""

    keys: dict[str, str]
    metric: str
    cell: Cell

    @property
    def quantity(self) -> str:
        """The quantity in words: "n = 400, MALT, attack accuracy (%)"."""
        return ", ".join([*self.keys.values(), *([self.metric] if self.metric else [])])


@dataclass(frozen=True)
class Row:
    """One quantity and each run's cell, in the order of the runs."""

    quantity: str
    cells: tuple[Cell, ...]

    @property
    def published(self) -> str:
        """What the paper prints, by whichever run has the quantity."""
        return next((c.published for c in self.cells if c.published != MISSING), MISSING)


def entries(record: dict[str, Any], table: pd.DataFrame) -> list[Entry]:
    """The quantities of one run, judged where its record holds a comparison.

    Parameters
    ----------
    record : dict
        The run's record.
    table : pandas.DataFrame
        Its table: used where there is no comparison, and then tidy.
    """
    judged = comparison_of(record)
    frame = table if judged is None else judged
    cells = _measured(table) if judged is None else _judged(judged)
    return [
        Entry(words, words.pop("metric", ""), cell)
        for words, cell in zip(_keys(frame), cells, strict=True)
    ]


def side_by_side(runs: list[list[Entry]]) -> list[Row]:
    """The quantities of several runs joined by name; the first run's come first."""
    named = [{entry.quantity: entry.cell for entry in run} for run in runs]
    quantities = dict.fromkeys(name for run in named for name in run)
    return [Row(name, tuple(run.get(name, Cell()) for run in named)) for name in quantities]


def is_tidy(table: pd.DataFrame) -> bool:
    """Whether a table has one number a row, ``value``, under keys that tell rows apart."""
    if "value" not in table.columns:
        return False
    words = [tuple(each.items()) for each in _keys(table)]
    return len(set(words)) == len(words)


def _keys(frame: pd.DataFrame) -> list[dict[str, str]]:
    """The columns before the first number, in words, row by row."""
    columns = list(frame.columns)
    keys = columns[: columns.index("published" if "published" in columns else "value")]
    return [
        {key: _word(key, value) for key, value in zip(keys, row, strict=True)}
        for row in frame[keys].itertuples(index=False)
    ]


def _measured(table: pd.DataFrame) -> list[Cell]:
    value = table["value"]
    extras = _extra_columns(table)
    columns = [value, table.get("low", value), table.get("high", value)]
    return [
        Cell(*with_interval(*numbers), extras=_words(extras, beside))
        for *numbers, beside in zip(*columns, table[extras].itertuples(index=False), strict=True)
    ]


def _extra_columns(table: pd.DataFrame) -> list[str]:
    """The columns of a tidy table beside its keys, its number and the interval."""
    columns = list(table.columns)
    known = ("low", "high", "n_repeats", "standard_error")
    return [name for name in columns[columns.index("value") + 1 :] if name not in known]


def _words(names: list[str], values: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, number(value)) for name, value in zip(names, values, strict=True))


def _judged(frame: pd.DataFrame) -> list[Cell]:
    metrics = frame["metric"] if "metric" in frame else [""] * len(frame)
    texts = printed(list(frame["published"]), list(metrics))
    return [
        Cell(*with_interval(row.value, row.low, row.high), row.verdict, row.reason, text)
        for row, text in zip(frame.itertuples(), texts, strict=True)
    ]


def _word(key: str, value: Any) -> str:
    if key == "metric":
        return metric_words(str(value))
    return value if isinstance(value, str) else f"{key} = {number(value)}"
