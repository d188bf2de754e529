"""The numbers behind claims: contrasts of an exhibit's rows, and outcomes over data sets."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership.errors import InputError
from membership.published import Contrast, Outcome
from membership.published.outcomes import every, overall

PAPER = ("Adult",)
"""Data sets with the paper's records, sizes and features; CIFAR-10 has other features here."""
UNITS = ("Audited models", "Seeds")
_SHOWN = 6

Table = pd.DataFrame


def rows_at(table: Table, **where: Any) -> Table:
    """The rows whose columns hold these values, rates within rounding.

    Raises
    ------
    InputError
        There are none.
    """
    found = table
    for name, value in where.items():
        same = np.isclose(found[name], value) if isinstance(value, float) else found[name] == value
        found = found[same]
    if found.empty:
        raise InputError(f"the run has no numbers for {where}")
    return found


def number(table: Table, label: str, **where: Any) -> Contrast:
    """One row's number with its error, of tables with and without a column for it."""
    found = rows_at(table, **where)
    if len(found) != 1:
        raise InputError(f"{where} singles out {len(found)} rows")
    return of_row(found.iloc[0], label)


def of_row(row: pd.Series, label: str) -> Contrast:
    """A row of a table, or of a curve, as a contrast; lower ends may be cut at 0."""
    value = float(row["value"] if "value" in row else row["tpr"])
    repeats = int(row.get("n_repeats", 0))
    error = row.get("standard_error", math.nan)
    if repeats < 2 and not error > 0:
        return Contrast(label, value)
    if not math.isfinite(error):
        error = (row["high"] - value) / stats.t.ppf(0.975, repeats - 1)
    return Contrast(label, value, float(error), repeats - 1.0, repeats)


def scaled(one: Contrast, factor: float, label: str = "") -> Contrast:
    """A contrast in another unit, or turned round."""
    return replace(
        one,
        label=label or one.label,
        difference=factor * one.difference,
        standard_error=abs(factor) * one.standard_error,
    )


def summed_up(outcomes: Iterable[Outcome]) -> Outcome:
    """All of a claim's parts, of which the widest few are shown."""
    outcomes = list(outcomes)
    whole = every(outcomes)
    telling = [one for one in outcomes if one.word == whole.word] or outcomes
    numbers = [number for one in telling for number in one.numbers]
    numbers.sort(key=lambda one: -max(abs(end) for end in one.interval()))
    return replace(whole, numbers=tuple(numbers[:_SHOWN]))


def over_data(
    table: Table, test: Callable[[str, int], Outcome], *, column: str = "dataset", **options: Any
) -> Outcome:
    """One outcome from those on each data set; the test takes its name and how many there are."""
    names = [name for name in dict.fromkeys(table[column]) if is_real(name)]
    if not names:
        raise InputError("the run has no real data")
    sizes = table.attrs.get("sizes", {})
    units = next((f"{key.lower()}: {sizes[key]}" for key in UNITS if key in sizes), "")
    found = {
        name: test(name, len(names)).on(f"{name}, {units}" if units else name) for name in names
    }
    return overall(found, PAPER, **options)


def is_real(name: str) -> bool:
    """Whether a row is of a data set, and not of a simulation or a formula."""
    return not name.startswith("simulated")


def on_simulation(outcome: Outcome) -> Outcome:
    """What a simulation says of a sentence about real data: it is told and decides nothing."""
    return overall({"simulation": outcome}, PAPER, simulated=("simulation",))
