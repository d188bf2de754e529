"""Numbers with their intervals: bars and lines."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    GREY,
    HATCHES,
    arms,
    at_values,
    by_series,
    check_columns,
    is_narrow,
    legend_above,
    new_figure,
    new_panels,
    series,
    series_of,
    style,
    width,
)
from membership.published import metric_words

_BAR = {"edgecolor": "white", "alpha": 0.75}
_BAR_LETTERS = 80
"""How many letters of a tick label stand side by side in a figure of the full width."""


def bars_with_intervals(
    table: pd.DataFrame, category: str = "attack", *, by: str | None = None, y_label: str = "value"
) -> Figure:
    """Numbers with 95% intervals, one bar a category, or one group of bars.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``category``, ``value``, ``by``; ``low`` and ``high``, where numbers have intervals.
    category : str
        The column that names the bars.
    by : str, optional
        A column that splits each category into bars side by side.
    y_label : str
        Axis label with unit.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [category, "value", *([by] if by else [])])
    categories = [str(name) for name in table[category].unique()]
    groups = [str(name) for name in table[by].unique()] if by else ["this run"]
    looks = series(groups)
    width = 0.8 / len(groups)
    flat = is_narrow()
    with style():
        figure, (axis,) = new_figure(1.3 + 0.2 * len(table) if flat else 2.7)
        bars, error = (axis.barh, "xerr") if flat else (axis.bar, "yerr")
        for i, group in enumerate(groups):
            shift = (i - (len(groups) - 1) / 2) * width
            rows = table[table[by].astype(str) == group] if by else table
            place = np.array([categories.index(str(name)) for name in rows[category]]) + shift
            fill = {"color": looks[group]["color"], "hatch": HATCHES[i], "label": group}
            bars(place, rows["value"], 0.92 * width, **_BAR, **fill)
            # Bars lie in a narrow figure, where their names have no room beside each other.
            points = (rows["value"], place) if flat else (place, rows["value"])
            axis.errorbar(*points, **{error: arms(rows, "value")}, fmt="none", ecolor="black")
        (axis.axvline if flat else axis.axhline)(0.0, color=GREY, linewidth=1)
        _name_categories(axis, categories, flat)
        (axis.set_xlabel if flat else axis.set_ylabel)(y_label)
        legend_above(figure, [axis])
    return figure


def _name_categories(axis: Axes, categories: list[str], flat: bool) -> None:
    """Names beside the bars, broken into lines so that neighbours do not run into each other."""
    room = 14 if flat else max(8, _BAR_LETTERS // len(categories))
    names = [textwrap.fill(name, room) for name in categories]
    (axis.set_yticks if flat else axis.set_xticks)(range(len(categories)), names)
    axis.grid(axis="y" if flat else "x", visible=False)
    if flat:
        axis.invert_yaxis()


_MOST_MARKERS = 15
_MARKERS_LEFT = 8
_LETTERS = 22
"""How many letters of a label the height of a panel holds."""


def lines_with_intervals(
    table: pd.DataFrame,
    x: str,
    y: str = "value",
    by: str = "attack",
    *,
    panel: str | None = None,
    published: pd.DataFrame | None = None,
    null: pd.DataFrame | None = None,
    log_x: bool = False,
    same_scale: bool = False,
    x_label: str = "",
    y_label: str = "",
) -> Figure:
    """Numbers with 95% intervals against ``x``, one line a series.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``x``, ``y``, ``by``; ``low`` and ``high``, where numbers have intervals; and, with
        ``panel``, that one.
    x, y, by : str
        The columns to draw.
    panel : str, optional
        A column with one panel a value, at most three a row; its values name the vertical axes.
        A panel draws the series that it has, and the legend names those of all panels.
    published : pandas.DataFrame, optional
        Published numbers as open markers: columns ``x``, ``by``, ``y`` (and ``panel``). Series
        that the table lacks are left out.
    null : pandas.DataFrame, optional
        What random scores reach: columns ``x``, ``low``, ``high`` (and ``panel``), a grey band.
    log_x : bool, default False
        A logarithmic horizontal axis, with ticks at those values of ``x`` whose labels stand apart.
    same_scale : bool, default False
        One vertical scale for all panels, where numbers are to be compared across them.
    x_label, y_label : str
        Axis labels with units; the columns' names unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    keys = [x, y, by, *([panel] if panel else [])]
    check_columns(table, keys)
    panels = list(table[panel].unique()) if panel else [""]
    looks = series_of(table, by)
    values = [table[x]]
    if published is not None and len(published):
        check_columns(published, keys)
        published = published[published[by].astype(str).isin(looks)]
        published = published[published[panel].isin(panels)] if panel else published
        values.append(published[x])
    with style():
        figure, axes, lowest = new_panels(len(panels))
        for name, axis, is_lowest in zip(panels, axes, lowest, strict=True):
            part, printed, band = (
                frame if frame is None or panel is None else frame[frame[panel] == name]
                for frame in (table, published, null)
            )
            _panel(axis, part, printed, band, (x, y, by), looks)
            label = metric_words(str(name)) or y_label or y
            axis.set_ylabel(textwrap.fill(label, _LETTERS))
            axis.set_xlabel((x_label or x) if is_lowest else "")
        if log_x:
            columns = axes[0].get_gridspec().ncols
            at_values(axes, np.unique(np.concatenate(values)), width() / columns)
        if same_scale:
            limits = np.array([axis.get_ylim() for axis in axes])
            for axis in axes:
                axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        legend_above(figure, axes)
    return figure


def _panel(
    axis: Axes,
    part: pd.DataFrame,
    printed: pd.DataFrame | None,
    band: pd.DataFrame | None,
    columns: tuple[str, str, str],
    looks: dict[str, dict],
) -> None:
    x, y, by = columns
    if band is not None:
        _band(axis, band, x)
    for label, look, rows in by_series(part, by, looks):
        _line(axis, rows.sort_values(x), x, y, look, label)
    if printed is not None and len(printed):
        _open_markers(axis, printed, x, y, by, looks)


def _line(axis: Axes, rows: pd.DataFrame, x: str, y: str, look: dict, label: str) -> None:
    every = len(rows) // _MARKERS_LEFT if len(rows) > _MOST_MARKERS else 1
    more = {"markevery": every, "elinewidth": 1, "label": label}
    axis.errorbar(rows[x], rows[y], yerr=arms(rows, y), **look, **more)


def _band(axis: Axes, band: pd.DataFrame, x: str) -> None:
    looks = {"color": GREY, "alpha": 0.25, "linewidth": 0}
    axis.fill_between(band[x], band["low"], band["high"], label="random scores", **looks)


def _open_markers(axis: Axes, rows: pd.DataFrame, x: str, y: str, by: str, looks: dict) -> None:
    open_marker = {"linestyle": "none", "markersize": 7.5, "markerfacecolor": "none"}
    for label, look in looks.items():
        points = rows[rows[by].astype(str) == label]
        shape = {"marker": look["marker"], "markeredgecolor": look["color"]}
        axis.plot(points[x], points[y], **shape, **open_marker)
    # One entry in the legend for them all: only their being open is new.
    axis.plot([], [], "o", markeredgecolor=GREY, label="published (open)", **open_marker)
