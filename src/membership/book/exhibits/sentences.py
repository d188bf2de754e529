"""What a table says, from rows that have names: the computed sentences of exhibits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from membership.book.published.rows import rows_at, total
from membership.errors import InputError

_ENDS = {"least": "min", "most": "max"}


class NamedRow(float):
    """A row's number; its other columns are its attributes, so that ``{malt.low:.1f}`` is one."""

    columns: pd.Series

    def __new__(cls, columns: pd.Series) -> "NamedRow":
        row = super().__new__(cls, columns["value"] if "value" in columns else columns["tpr"])
        row.columns = columns
        return row

    def __getattr__(self, name: str) -> Any:
        if name not in self.columns:
            raise AttributeError(f"the row has no column {name!r}")
        return self.columns[name]


class Span:
    """Several rows' numbers: ``{shares:.1f}`` is "3.0 to 5.0", ``{shares.most:.1f}`` one end.

    Another attribute names another column: ``{shares.low:.1f}``.
    """

    def __init__(self, rows: pd.DataFrame, column: str = "value") -> None:
        self.rows, self.column = rows, column

    @property
    def least(self) -> Any:
        return self.rows[self.column].min()

    @property
    def most(self) -> Any:
        return self.rows[self.column].max()

    def __format__(self, style: str) -> str:
        return _from_to(self.least, self.most, style)

    def __getattr__(self, name: str) -> "Span":
        if name not in self.rows:
            raise AttributeError(f"the rows have no column {name!r}")
        return Span(self.rows, name)


def each(
    table: pd.DataFrame,
    over: str | Sequence[str],
    text: str,
    whole: str = "{}",
    between: str = "; ",
    last: str = "",
    spans: Mapping[str, Mapping[str, Any]] | None = None,
    **rows: Mapping[str, Any] | str,
) -> str:
    """A text for each value of a column, or combination of several, one after the other.

    Parameters
    ----------
    table : pandas.DataFrame
        An exhibit's.
    over : str or sequence of str
        The columns; none for one text of the whole table. Their values stand in braces in ``text``.
    text : str
        In braces the columns of ``over`` and the names of ``rows``, each with a format:
        ``{n:,}``, ``{malt:.1f}``, ``{malt.low:+.1f}``.
    whole : str
        The sentence around all texts, with the last one's columns of ``over``; a run that lacks
        them all leaves no sentence, "".
    between : str
        What stands between two texts.
    last : str
        What stands before the last text, where it is not what stands before the others.
    spans : mapping, optional
        Each name's rows, several: a format of it says their least and largest number.
    **rows : mapping or str
        Each name's row, by what its columns hold, or a sum of rows named before it, such as
        ``"train - validation"``. A text is left out where the table has no such row.

    Raises
    ------
    InputError
        A name singles out more than one row.
    """
    over = [over] if isinstance(over, str) else list(over)
    texts, words = [], {}
    for words, part in _parts(table, over):
        try:
            named: dict[str, Any] = _named(part, rows)
            for name, where in (spans or {}).items():
                named[name] = Span(_matches(part, name, where))
        except LookupError:
            continue
        texts.append(text.format(**words, **named))
    if not texts:
        return ""
    first = between.join(texts[:-1])
    listed = (last or between).join(filter(None, (first, texts[-1])))
    return whole.format(listed, **words)


def sentence(
    declaration: Mapping[str, Any] | Sequence[Mapping[str, Any]], table: pd.DataFrame
) -> str:
    """The sentence that a chapter's list declares, or the several: what `each` takes, by name.

    ``where`` says which rows of the table it is about, as in a declared test, ``at`` whether those
    at the ``"ends"`` of the column ``of``, at its ``"least"`` or its ``"most"``, and ``order`` by
    which column they are sorted; ``rows`` are the named rows, ``spans`` groups of them.
    """
    if not isinstance(declaration, Mapping):
        return " ".join(filter(None, (sentence(part, table) for part in declaration)))
    options: dict[str, Any] = {"over": [], **declaration}
    rows, where = options.pop("rows", {}), options.pop("where", {})
    order, at, of = options.pop("order", ""), options.pop("at", ""), options.pop("of", "n")
    try:
        part = rows_at(table, **where)
    except InputError:
        return ""
    if at:
        part = ends(part, of) if at == "ends" else part[part[of] == part[of].agg(_ENDS[at])]
    return each(part.sort_values(order) if order else part, **options, **rows)


def ends(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows at the least and at the largest value of a column, in this order."""
    values = table[column]
    least, largest = (table[values == end] for end in (values.min(), values.max()))
    return table if values.nunique() < 2 else pd.concat([least, largest])


def span(values: pd.Series | np.floating, digits: int = 0, unit: str = "%") -> str:
    """From the least to the largest number, "3 to 5%"; one where both print alike."""
    return _from_to(values.min(), values.max(), f".{digits}f") + unit


def _from_to(least: float, most: float, style: str) -> str:
    first, last = format(least, style), format(most, style)
    return last if first == last else f"{first} to {last}"


def joined(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _parts(table: pd.DataFrame, over: list[str]) -> list[tuple[dict[str, Any], pd.DataFrame]]:
    if not over:
        return [({}, table)]
    groups = table.groupby(over, sort=False)
    return [(dict(zip(over, key, strict=True)), part) for key, part in groups]


def _matches(table: pd.DataFrame, name: str, where: Mapping[str, Any]) -> pd.DataFrame:
    try:
        return rows_at(table, **where)
    except InputError as lacking:
        raise LookupError(name) from lacking


def _named(table: pd.DataFrame, rows: Mapping[str, Mapping[str, Any] | str]) -> dict[str, Any]:
    """The rows by name; LookupError where one is not there."""
    named: dict[str, Any] = {}
    for name, where in rows.items():
        if isinstance(where, str):
            named[name] = total(where, named)
            continue
        matches = _matches(table, name, where)
        if len(matches) > 1:
            raise InputError(f"{name}: {dict(where)} singles out {len(matches)} rows")
        named[name] = NamedRow(matches.iloc[0])
    return named
