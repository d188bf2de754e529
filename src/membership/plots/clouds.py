"""Clouds of points in the plane with curves about them: a schematic, to one scale both ways."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    COLOURS,
    GREY,
    check_columns,
    legend_above,
    new_figure,
    style,
)

_LOOKS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "markersize": 2.5, "linestyle": "none", "color": COLOURS[6], "alpha": 0.7},
    {"color": COLOURS[1], "linewidth": 2.4},
    {"color": GREY, "linewidth": 0.9, "linestyle": "--"},
)


def clouds(table: pd.DataFrame, *, axes_labels: tuple[str, str]) -> Figure:
    """A panel a cloud: points, one strong curve, and thin ones behind.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``panel``, ``series``, ``line``, ``x`` and ``y``. The series are, in the order of
        their appearance, the points, the strong curve and the thin ones; each value of ``line``
        is a curve of its own.
    axes_labels : tuple of str
        What the two directions are.

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    check_columns(table, ["panel", "series", "line", "x", "y"])
    panels = list(table["panel"].unique())
    x, y = (1.05 * table[name].abs().max() for name in ("x", "y"))
    with style():
        figure, axes = new_figure(2.5, len(panels))
        for axis, name in zip(axes, panels, strict=True):
            _draw(axis, table[table["panel"] == name])
            axis.set(title=name, xlim=(-x, x), ylim=(-y, y), xlabel=axes_labels[0])
            axis.set(ylabel=axes_labels[1], xticks=[], yticks=[], aspect="equal")
        legend_above(figure, axes)
    return figure


def _draw(axis: Axes, rows: pd.DataFrame) -> None:
    for look, (series, part) in zip(_LOOKS, rows.groupby("series", sort=False), strict=True):
        for place, (_, line) in enumerate(part.groupby("line", sort=False)):
            axis.plot(line["x"], line["y"], label=series if place == 0 else None, **look)
    axis.plot(0, 0, marker="+", color=COLOURS[4], markersize=8, linestyle="none", label="minimum")
