"""Curves of error rates as a page's script reads them: one rate at every false positive rate."""

from typing import Any

import pandas as pd

RATES = {"tpr": "true positive rate", "fnr": "false negative rate"}
_DIGITS = 3


def curves(table: pd.DataFrame) -> dict[str, Any] | None:
    """The curves of a table with columns ``panel``, ``series``, ``fpr`` and a rate, else None.

    The rate on the vertical axis by name, and the curves of each panel, as plain JSON values.
    """
    column = next((name for name in RATES if name in table.columns), "")
    if not column or not {"panel", "series", "fpr"} <= set(table.columns):
        return None
    panels = table.groupby("panel", sort=False)
    parts = [_panel(str(name), rows, column) for name, rows in panels]
    return {"rate": RATES[column], "panels": parts}


def _panel(name: str, rows: pd.DataFrame, column: str) -> dict[str, Any]:
    """A panel with the false positive rates that all its curves share, where they do."""
    series = rows.groupby("series", sort=False)
    drawn = [_curve(str(label), part, column) for label, part in series]
    shared = drawn[0]["fpr"]
    if any(curve["fpr"] != shared for curve in drawn):
        return {"name": name, "curves": drawn}
    for curve in drawn:
        del curve["fpr"]
    return {"name": name, "fpr": shared, "curves": drawn}


def _curve(name: str, rows: pd.DataFrame, column: str) -> dict[str, Any]:
    rows = rows.sort_values("fpr")
    curve = {"name": name, "fpr": _numbers(rows["fpr"]), "value": _numbers(rows[column])}
    if {"low", "high"} <= set(rows.columns) and rows[["low", "high"]].notna().all(axis=None):
        ends = {"low": _numbers(rows["low"]), "high": _numbers(rows["high"])}
        # What is computed exactly has no interval.
        curve |= ends if ends["low"] != ends["high"] else {}
    return curve


def _numbers(values: pd.Series) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values]
