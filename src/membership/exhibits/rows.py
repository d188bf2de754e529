"""What a card's table says: one row a quantity, the runs side by side."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from membership.exhibits.numbers import MISSING, number, printed, with_interval
from membership.exhibits.record import comparison_of
from membership.published import metric_words

LONGEST = 30


@dataclass(frozen=True)
class Cell:
    """One run's number, and how it was judged ("" where nothing was published)."""

    text: str = MISSING
    verdict: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """One quantity: each run's cell in the order of the runs, and what the paper prints."""

    quantity: str
    cells: tuple[Cell, ...]
    published: str = ""
    extras: tuple[str, ...] = ()


def compared(records: list[dict[str, Any]]) -> list[Row]:
    """The rows of several runs' comparisons, joined by quantity.

    Parameters
    ----------
    records : list of dict
        Records of runs, at least one with a comparison; the first run's rows come first.
    """
    frames = [frame for frame in map(comparison_of, records) if frame is not None]
    published: dict[str, str] = {}
    for frame in frames:
        metrics = frame["metric"] if "metric" in frame else [""] * len(frame)
        texts = printed(list(frame["published"]), list(metrics))
        names = _quantities(frame, "published")
        published |= dict(zip(names, texts, strict=True))
    runs = [_judged_cells(record) for record in records]
    return [
        Row(quantity, tuple(run.get(quantity, Cell()) for run in runs), text)
        for quantity, text in published.items()
    ]


def measured(tables: list[pd.DataFrame]) -> list[Row]:
    """The rows of several runs' tidy tables, where the paper printed no number.

    Parameters
    ----------
    tables : list of pandas.DataFrame
        Key columns, then ``value`` and, where there are intervals, ``low`` and ``high``; the
        first run's rows come first. Further columns are shown as the last table has them.
    """
    runs = [_measured_cells(table) for table in tables]
    quantities = dict.fromkeys(name for run in runs for name in run)
    own = tables[-1]
    extras = dict(zip(_quantities(own, "value"), own[extra_columns(own)].values, strict=True))
    return [
        Row(
            quantity,
            tuple(run.get(quantity, Cell()) for run in runs),
            extras=tuple(number(value) for value in extras.get(quantity, ())),
        )
        for quantity in quantities
    ]


def extra_columns(table: pd.DataFrame) -> list[str]:
    """The columns of a tidy table beside its keys, its number and the interval."""
    columns = list(table.columns)
    known = ("low", "high", "n_repeats", "standard_error")
    return [name for name in columns[columns.index("value") + 1 :] if name not in known]


def is_tidy(table: pd.DataFrame) -> bool:
    """Whether a table has one number a row, ``value``, under keys that tell rows apart."""
    if "value" not in table.columns:
        return False
    names = _quantities(table, "value")
    return len(set(names)) == len(names)


def _measured_cells(table: pd.DataFrame) -> dict[str, Cell]:
    value = table["value"]
    ends = (table.get("low", value), table.get("high", value))
    texts = [with_interval(*row) for row in zip(value, *ends, strict=True)]
    names = _quantities(table, "value")
    return {name: Cell(text) for name, text in zip(names, texts, strict=True)}


def _judged_cells(record: dict[str, Any]) -> dict[str, Cell]:
    frame = comparison_of(record)
    if frame is None:
        return {}
    cells = [
        Cell(with_interval(row.value, row.low, row.high), row.verdict, row.reason)
        for row in frame.itertuples()
    ]
    return dict(zip(_quantities(frame, "published"), cells, strict=True))


def _quantities(frame: pd.DataFrame, end: str) -> list[str]:
    """The key columns, those before ``end``, as words: "n = 400, MALT, attack accuracy (%)"."""
    keys = list(frame.columns)[: list(frame.columns).index(end)]
    return [
        ", ".join(_word(key, value) for key, value in zip(keys, row, strict=True))
        for row in frame[keys].itertuples(index=False)
    ]


def _word(key: str, value: Any) -> str:
    if key == "metric":
        return metric_words(str(value))
    return value if isinstance(value, str) else f"{key} = {number(value)}"
