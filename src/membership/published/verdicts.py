"""How a regenerated number is judged against the published one: computed, never typed."""

import math

import pandas as pd

from membership.errors import InputError

# Printed numbers are decimals: |51.0 - 50.9| must not exceed 0.1 by a rounding of doubles.
_ROUNDING = 1e-9


def verdict(
    published: float,
    value: float,
    low: float,
    high: float,
    *,
    tolerance: float = 0.0,
    comparable: bool = True,
) -> str:
    """Judge one regenerated number.

    Parameters
    ----------
    published : float
        What the paper prints.
    value, low, high : float
        The regenerated number and its 95% interval, ``low <= high``, in the same unit. A number
        known exactly has ``low == high == value``.
    tolerance : float, default 0
        A distance from the published number that still counts as agreement, in the same unit;
        at least 0.
    comparable : bool, default True
        Whether the run had the paper's data and sizes. Where it had not, a number that happens
        to fall near the published one confirms nothing, so this is looked at first.

    Returns
    -------
    str
        ``"agrees"`` (published inside the interval, or within the tolerance), ``"differs"``, or
        ``"not comparable"``.

    Raises
    ------
    InputError
        A number is not finite, the interval is inverted, or the tolerance is negative.
    """
    _check_tolerance(tolerance)
    numbers = {"published": published, "value": value, "low": low, "high": high}
    for name, number in numbers.items():
        if not math.isfinite(number):
            raise InputError(f"{name} = {number}: a verdict needs finite numbers")
    if low > high:
        raise InputError(f"low = {low} is above high = {high}: give the interval's ends in order")
    if not comparable:
        return "not comparable"
    slack = _ROUNDING * max(1.0, abs(published))
    inside = low - slack <= published <= high + slack
    near = abs(published - value) <= tolerance + slack
    return "agrees" if inside or near else "differs"


def compare(
    table: pd.DataFrame, reference: pd.DataFrame, on: list[str], *, tolerance: float = 0.0
) -> pd.DataFrame:
    """Set every regenerated number beside the published one.

    Parameters
    ----------
    table : pandas.DataFrame
        A study's tidy table: the columns ``on``, ``value``, ``low``, ``high``; its ``attrs`` hold
        ``comparable`` (bool) and ``deviations`` (list of str).
    reference : pandas.DataFrame
        The published numbers: the columns ``on`` and ``value``, one row a key.
    on : list of str
        The columns that say which number is which.
    tolerance : float, default 0
        See `verdict`.

    Returns
    -------
    pandas.DataFrame
        One row a row of ``table``, in its order: ``on``, ``published``, ``value``, ``low``,
        ``high``, ``verdict``, ``reason``. Where the paper gives no number, ``published`` is NaN
        and ``verdict`` is empty. Its ``attrs`` are the table's, and ``tolerance``.

    Raises
    ------
    InputError
        A column or attribute is missing, a key occurs twice, a number is no number, or the run
        is called not comparable without saying why.
    """
    _check_tolerance(tolerance)
    _check_columns("table", table, [*on, "value", "low", "high"])
    _check_columns("reference", reference, [*on, "value"])
    _check_unique("table", table, on)
    _check_unique("reference", reference, on)
    comparable, deviations = _comparability(table)
    printed = _published_numbers(reference, on)
    try:
        rows = table[[*on, "value", "low", "high"]].merge(printed, on=on, how="left")
    except ValueError as error:
        raise InputError(f"the columns {on} of table and reference differ in type") from error
    judged = [
        ("", "the paper gives no number")
        if pd.isna(row.published)
        else _judge(row, tolerance, comparable, deviations)
        for row in rows.itertuples()
    ]
    rows["verdict"] = [word for word, _ in judged]
    rows["reason"] = [reason for _, reason in judged]
    rows = rows[[*on, "published", "value", "low", "high", "verdict", "reason"]]
    rows.attrs = {**table.attrs, "tolerance": tolerance}
    return rows


def _judge(row, tolerance: float, comparable: bool, deviations: list[str]) -> tuple[str, str]:
    word = verdict(
        row.published, row.value, row.low, row.high, tolerance=tolerance, comparable=comparable
    )
    if word == "not comparable":
        return word, "; ".join(deviations)
    inside = verdict(row.published, row.value, row.low, row.high) == "agrees"
    if inside:
        return word, "published inside the interval"
    if word == "agrees":
        return word, f"published within {tolerance:g} of the regenerated value"
    if row.published > row.high:
        return word, f"published {row.published - row.high:.2g} above the interval"
    return word, f"published {row.low - row.published:.2g} below the interval"


def _published_numbers(reference: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    printed = reference[on].copy()
    try:
        printed["published"] = pd.to_numeric(reference["value"]).astype(float)
    except (ValueError, TypeError) as error:
        raise InputError(f"reference column 'value' holds text ({error}); keep numbers") from error
    return printed


def _comparability(table: pd.DataFrame) -> tuple[bool, list[str]]:
    missing = {"comparable", "deviations"} - set(table.attrs)
    if missing:
        raise InputError(f"table.attrs lacks {sorted(missing)}; a study states both")
    comparable, deviations = table.attrs["comparable"], table.attrs["deviations"]
    if not comparable and not deviations:
        raise InputError("table.attrs['comparable'] is False and 'deviations' is empty; say why")
    return comparable, deviations


def _check_columns(name: str, frame: pd.DataFrame, wanted: list[str]) -> None:
    missing = [column for column in wanted if column not in frame.columns]
    if missing:
        raise InputError(f"{name} lacks the columns {missing}; it has {list(frame.columns)}")


def _check_unique(name: str, frame: pd.DataFrame, on: list[str]) -> None:
    twice = frame[frame.duplicated(on)]
    if len(twice):
        key = ", ".join(str(value) for value in twice.iloc[0][on])
        raise InputError(f"{name} holds ({key}) twice; name the columns that tell rows apart")


def _check_tolerance(tolerance: float) -> None:
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise InputError(f"tolerance = {tolerance}: give a finite number of at least 0")
