"""Curves of error rates and clouds of scores."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    check_columns,
    legend_above,
    new_figure,
    series,
    style,
)


def scatter(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    identity: bool = True,
    x_label: str = "",
    y_label: str = "",
) -> Figure:
    """One score against another, one point a record.

    The points are stored as an image of 200 dots an inch, so that a figure of many thousand
    stays small; axes and text remain lines.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``x``, ``y`` and, with ``by``, that one.
    x, y : str
        The columns to draw.
    by : str, optional
        A column that splits the points, such as ``member``.
    identity : bool, default True
        Whether to draw the line on which both scores are equal.
    x_label, y_label : str
        Axis labels with units; the columns' names unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven groups.
    """
    check_columns(table, [x, y, *([by] if by else [])])
    groups = [str(name) for name in table[by].unique()] if by else [""]
    with style():
        figure, (axis,) = new_figure(2.8)
        figure.set_dpi(200)
        for group, look in series(groups).items():
            rows = table if by is None else table[table[by].astype(str) == group]
            _points(axis, rows[x], rows[y], look, group or "_nolegend_")
        if identity:
            middle = (table[x].mean(),) * 2
            axis.axline(middle, slope=1, color="black", linestyle="--", label="equal scores")
        axis.set(xlabel=x_label or x, ylabel=y_label or y)
        if by or identity:
            legend_above(figure, [axis])
    return figure


def _points(axis: Axes, x: pd.Series, y: pd.Series, look: dict, label: str) -> None:
    shape = {"marker": look["marker"], "markersize": 3, "linestyle": "none", "alpha": 0.7}
    paint = {"markerfacecolor": "none", "markeredgecolor": look["color"]}
    axis.plot(x, y, label=label, rasterized=True, **shape, **paint)
