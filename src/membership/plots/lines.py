"""Numbers with their intervals along an axis."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

from membership.plots.look import (
    GREY,
    arms,
    check_columns,
    legend_above,
    new_figure,
    series,
    style,
)
from membership.published import metric_words


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
        A column with one panel a value, side by side; its values name the vertical axes.
    published : pandas.DataFrame, optional
        Published numbers as open markers: columns ``x``, ``by``, ``y`` (and ``panel``). Series
        that the table lacks are left out.
    null : pandas.DataFrame, optional
        What random scores reach: columns ``x``, ``low``, ``high`` (and ``panel``), a grey band.
    log_x : bool, default False
        A logarithmic horizontal axis, ticks at the values of ``x``.
    x_label, y_label : str
        Axis labels with units; the columns' names unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [x, y, by, *([panel] if panel else [])])
    panels = list(table[panel].unique()) if panel else [""]
    looks = series([str(name) for name in table[by].unique()])
    with style():
        figure, axes = new_figure(3.4, len(panels))
        for name, axis in zip(panels, axes, strict=True):
            part, printed, band = (
                _of_panel(frame, panel, name) for frame in (table, published, null)
            )
            if band is not None:
                _band(axis, band, x)
            for label, look in looks.items():
                _line(axis, part[part[by].astype(str) == label], x, y, look, label)
            if printed is not None:
                _open_markers(axis, printed, x, y, by, looks)
            if log_x:
                _ticks_at(axis, part[x], slanted=len(panels) > 1)
            axis.set(xlabel=x_label or x, ylabel=metric_words(str(name)) or y_label or y)
        legend_above(figure, axes)
    return figure


def _line(axis: Axes, rows: pd.DataFrame, x: str, y: str, look: dict, label: str) -> None:
    if len(rows):
        rows = rows.sort_values(x)
        axis.errorbar(rows[x], rows[y], yerr=arms(rows, y), elinewidth=1, label=label, **look)


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


def _of_panel(frame: pd.DataFrame | None, panel: str | None, name: str) -> pd.DataFrame | None:
    if frame is None or panel is None:
        return frame
    return frame[frame[panel] == name]


def _ticks_at(axis: Axes, values: pd.Series, *, slanted: bool) -> None:
    """A logarithmic axis with a tick at each value, aslant where panels are narrow."""
    axis.set_xscale("log")
    axis.set_xticks(sorted(values.unique()))
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="x", labelrotation=45 if slanted else 0)
