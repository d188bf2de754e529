"""Single numbers of a table by name, for prose."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from membership.errors import InputError
from membership.exhibits import numbers


def number(
    table: pd.DataFrame, where: Mapping[str, Any], form: str = "", column: str = "value"
) -> str:
    """The number in a column of the one row whose columns hold these values, as text."""
    value = row(table, where, column)[column]
    return format(value, form) if form else numbers.number(value)


def row(table: pd.DataFrame, where: Mapping[str, Any], *columns: str) -> pd.Series:
    """The one row whose columns hold these values; ``columns`` have to be there too.

    Raises
    ------
    InputError
        As `number`.
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
