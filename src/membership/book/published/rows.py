"""Rows of an exhibit's table as the contrasts that claims are tested on, and sums of them."""

import ast
import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.book.published.contrasts import Contrast, Correlation, Share
from membership.errors import InputError

Row = Mapping[str, Any] | pd.Series


def rows_at(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows whose columns hold these values, rates within rounding; InputError if none."""
    rows = table
    for name, value in where.items():
        same = np.isclose(rows[name], value) if isinstance(value, float) else rows[name] == value
        rows = rows[same]
    if rows.empty:
        raise InputError(f"the run has no numbers for {where}")
    return rows


def row_at(table: pd.DataFrame, **where: Any) -> pd.Series:
    """The one row whose columns hold these values."""
    rows = rows_at(table, **where)
    if len(rows) != 1:
        raise InputError(f"{where} singles out {len(rows)} rows")
    return rows.iloc[0]


def number(table: pd.DataFrame, label: str = "", **where: Any) -> Contrast:
    """The one row's number with its error, of tables with and without a column for it."""
    return of_row(row_at(table, **where), label)


def of_row(row: Row, label: str = "") -> Contrast:
    """A row of a table, or of a curve, as a contrast.

    One with an error and no repeats has a normal interval, over its ``n`` records if it has them.
    """
    value = float(row["value"] if "value" in row else row["tpr"])
    repeats, error = row.get("n_repeats", 0), row.get("standard_error", math.nan)
    repeats = int(repeats) if math.isfinite(repeats) else 0
    if repeats < 2 and not error > 0:
        return Contrast(label, value)
    if repeats < 2:
        return Contrast(label, value, float(error), units=int(row["n"]) if "n" in row else None)
    if not math.isfinite(error):
        # An end may be cut at 0, 1 or 100: the longer arm is the interval's.
        arm = max(row["high"] - value, value - row["low"])
        error = arm / stats.t.ppf(0.975, repeats - 1)
    return Contrast(label, value, float(error), repeats - 1.0, repeats)


def share(row: Row, label: str = "") -> Contrast:
    """A row's percents as a share: over repeats, or of ``n`` trials with exact limits."""
    if row.get("n_repeats", 1) > 1:
        return of_row(row).scaled(0.01, label)
    return Share.count(round(row["value"] * row["n"] / 100), int(row["n"]), label)


def correlation(row: Row, label: str = "") -> Contrast:
    """A row's correlation over its ``n`` records."""
    return Correlation.over(float(row["value"]), int(row["n"]), label)


def stated_size(attrs: Mapping[str, Any], name: str) -> int:
    """A size that a table or its evidence states, "1,000 (paper: 5,000)" as 1000; 0 without it."""
    return int(str(attrs.get("sizes", {}).get(name, "0")).split()[0].replace(",", ""))


Number = Contrast | float

_ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def total(text: str, rows: Mapping[str, Number]) -> Number:
    """A sum's number: of different rows as if they shared nothing.

    ``exact(row)`` is a row's number without its error, ``log(number)`` a natural logarithm;
    ValueError where the text is anything else.
    """
    try:
        return _total(ast.parse(text.strip(), mode="eval").body, rows)
    except SyntaxError:
        raise ValueError(f"{text!r} is no sum of rows") from None


def _total(node: ast.expr, rows: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as constant):
            return float(constant)
        case ast.Name(id=name) if name in rows:
            return rows[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _made(ast.Mult, _total(inner, rows), -1.0)
        case ast.Call(func=ast.Name(id="exact"), args=[inner], keywords=[]):
            row = _total(inner, rows)
            return row.difference if isinstance(row, Contrast) else row
        case ast.Call(func=ast.Name(id="log"), args=[ast.Constant(value=constant)], keywords=[]):
            return math.log(constant)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _ARITHMETIC:
            return _made(type(sign), _total(left, rows), _total(right, rows))
        case ast.Name(id=name):
            raise ValueError(f"{name!r} is no row; there are {', '.join(rows) or 'none'}")
    raise ValueError(f"{ast.unparse(node)!r}: a test adds rows, each times a number")


def _made(sign: type, left: Number, right: Number) -> Number:
    if not isinstance(left, Contrast) and not isinstance(right, Contrast):
        return _ARITHMETIC[sign](left, right)
    if sign in (ast.Add, ast.Sub):
        right = right if sign is ast.Sub else _made(ast.Mult, right, -1.0)
        if isinstance(left, Contrast):
            return left.less(right) if isinstance(right, Contrast) else left.minus(right)
        return _made(ast.Mult, right, -1.0).minus(-left)
    if isinstance(left, Contrast) and not isinstance(right, Contrast):
        return left.scaled(_ARITHMETIC[sign](1.0, right))
    if sign is ast.Mult and isinstance(right, Contrast) and not isinstance(left, Contrast):
        return right.scaled(left)
    raise ValueError("a test multiplies rows by numbers, and divides them by numbers")
