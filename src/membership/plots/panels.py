"""Panels with axes of their own: clouds of records, and curves along a line of queries."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    GREY,
    arms,
    check_columns,
    legend_above,
    new_panels,
    series,
    style,
)
from membership.plots.ticks import plain

_FEW = 15


def scatter_panels(
    table: pd.DataFrame,
    *,
    panel: str = "panel",
    x: str = "x",
    y: str = "y",
    by: str = "series",
    identity: bool = False,
    log_x: bool = False,
    labels: Mapping[str, tuple[str, str]] | None = None,
) -> Figure:
    """One score against another, one panel a setting, at most three a row.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``panel``, ``by``, ``x``, ``y``; ``low`` and ``high`` where ``y`` has intervals.
    panel, x, y, by : str
        The columns to draw; ``by`` splits the points of a panel.
    identity : bool, default False
        Draw the line on which both numbers are equal.
    log_x : bool, default False
        Logarithmic horizontal axes, for positive ``x``.
    labels : mapping of str to (str, str), optional
        The axes' labels of a panel; the columns' names for panels that it leaves out.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [panel, by, x, y])
    looks = series([str(name) for name in table[by].unique()])
    names = list(table[panel].unique())
    with style():
        figure, axes, _ = new_panels(len(names))
        for name, axis in zip(names, axes, strict=True):
            part = table[table[panel] == name]
            for label, look in looks.items():
                _points(axis, part[part[by].astype(str) == label], x, y, look, label)
            if identity:
                middle = (part[x].mean(),) * 2
                axis.axline(middle, slope=1, color=GREY, linewidth=1, label="equal")
            if log_x:
                axis.set_xscale("log")
                plain(axis.xaxis)
            left, up = (labels or {}).get(name, (x, y))
            axis.set(xlabel=left, ylabel=up)
            axis.set_title(str(name), fontsize=9)
        if len(looks) > 1 or identity:
            legend_above(figure, axes)
    return figure


def line_panels(
    table: pd.DataFrame,
    *,
    panel: str = "panel",
    x: str = "x",
    y: str = "value",
    by: str = "series",
    labels: Mapping[str, tuple[str, str]] | None = None,
    marks: Mapping[str, float] | None = None,
    mark_label: str = "differing record",
    title: str = "",
) -> Figure:
    """Curves, one panel a setting, each with axes of its own, at most three a row.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``panel``, ``by``, ``x``, ``y``, each curve in order; ``low`` and ``high``, where
        drawn as a band.
    panel, x, y, by : str
        The columns to draw.
    labels : mapping of str to (str, str), optional
        The axes' labels of a panel; the columns' names for panels that it leaves out.
    marks : mapping of str to float, optional
        Where a panel has a vertical line.
    mark_label : str
        What the line marks, for the legend.
    title : str
        Above the panels, for a figure without a caption of its own.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [panel, by, x, y])
    looks = series([str(name) for name in table[by].unique()])
    names = list(table[panel].unique())
    with style():
        figure, axes, _ = new_panels(len(names))
        for name, axis in zip(names, axes, strict=True):
            part = table[table[panel] == name]
            for label, look in looks.items():
                _curve(axis, part[part[by].astype(str) == label], x, y, look, label)
            if name in (marks or {}):
                axis.axvline(marks[name], color=GREY, linewidth=1, label=mark_label)
            left, up = (labels or {}).get(name, (x, y))
            axis.set(xlabel=left, ylabel=up)
            axis.set_title(str(name), fontsize=9)
        legend_above(figure, axes)
        if title:
            # Not a title of the figure, which would lie on the legend.
            figure.legends[0].set_title(title)
    return figure


def _points(axis: Axes, rows: pd.DataFrame, x: str, y: str, look: dict, label: str) -> None:
    if rows.empty:
        return
    shape = {"marker": look["marker"], "markersize": 3.5, "linestyle": "none", "alpha": 0.8}
    paint = {"color": look["color"], "markerfacecolor": "none", "elinewidth": 0.6, "capsize": 0}
    axis.errorbar(rows[x], rows[y], yerr=arms(rows, y), label=label, **shape, **paint)


def _curve(axis: Axes, rows: pd.DataFrame, x: str, y: str, look: dict, label: str) -> None:
    if rows.empty:
        return
    marker = look["marker"] if len(rows) <= _FEW else ""
    shape = {"color": look["color"], "linestyle": look["linestyle"], "marker": marker}
    axis.plot(rows[x], rows[y], label=label, **shape)
    if {"low", "high"} <= set(rows.columns) and (rows["low"] < rows["high"]).any():
        band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
        axis.fill_between(rows[x], rows["low"], rows["high"], **band)
