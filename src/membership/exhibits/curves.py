"""Curves of error rates as a page's script reads them: one rate at every false positive rate."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

RATES = {"tpr": "true positive rate", "fnr": "false negative rate"}
_DIGITS = 3


@dataclass(frozen=True)
class Curves:
    """The rate on the vertical axis by name, and the curves of each panel, as plain JSON values."""

    rate: str
    panels: list[dict[str, Any]]

    @property
    def data(self) -> dict[str, Any]:
        """Both, for the page."""
        return {"rate": self.rate, "panels": self.panels}


def curves(table: pd.DataFrame) -> Curves | None:
    """The curves of a table with columns ``panel``, ``series``, ``fpr`` and a rate, else None."""
    column = next((name for name in RATES if name in table.columns), "")
    if not column or not {"panel", "series", "fpr"} <= set(table.columns):
        return None
    parts = [_panel(str(name), rows, column) for name, rows in _split(table, "panel")]
    return Curves(RATES[column], parts)


def _split(rows: pd.DataFrame, by: str) -> Any:
    return rows.groupby(by, sort=False)


def _panel(name: str, rows: pd.DataFrame, column: str) -> dict[str, Any]:
    """A panel with the false positive rates that all its curves share, where they do."""
    drawn = [_curve(str(name), part, column) for name, part in _split(rows, "series")]
    shared = drawn[0]["fpr"]
    if any(curve["fpr"] != shared for curve in drawn):
        return {"name": name, "curves": drawn}
    return {"name": name, "fpr": shared, "curves": [_without(curve, "fpr") for curve in drawn]}


def _curve(name: str, rows: pd.DataFrame, column: str) -> dict[str, Any]:
    rows = rows.sort_values("fpr")
    curve = {"name": name, "fpr": _numbers(rows["fpr"]), "value": _numbers(rows[column])}
    if {"low", "high"} <= set(rows.columns) and rows[["low", "high"]].notna().all(axis=None):
        ends = {"low": _numbers(rows["low"]), "high": _numbers(rows["high"])}
        # What is computed exactly has no interval.
        curve |= ends if ends["low"] != ends["high"] else {}
    return curve


def _without(curve: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in curve.items() if name != key}


def _numbers(values: pd.Series) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values]
