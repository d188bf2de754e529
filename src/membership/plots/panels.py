"""Clouds of points, curves along a line of queries, and a number for each pair as colours."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    COLOURS,
    GREY,
    arms,
    by_series,
    check_columns,
    in_front,
    is_narrow,
    legend_above,
    new_figure,
    panels_of,
    plain,
    series,
    series_of,
    style,
    width,
)

_FEW = 15


def scatter_panels(
    table: pd.DataFrame,
    *,
    panel: str = "panel",
    x: str = "x",
    y: str = "y",
    by: str = "series",
    identity: bool = False,
    within: float = 0.0,
    log_x: bool = False,
    labels: Mapping[str, tuple[str, str]] | None = None,
    coloured: Sequence[str] = (),
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
    within : float
        Above 0: ``y`` is a difference, and this far from none is shaded.
    log_x : bool, default False
        Logarithmic horizontal axes, for positive ``x``.
    labels : mapping of str to (str, str), optional
        The axes' labels of a panel; the columns' names for panels that it leaves out.
    coloured : sequence of str
        Of more than four series those that are not grey; the first four unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [panel, by, x, y])
    looks = series_of(table, by, coloured=coloured)

    def draw(axis: Axes, name: str, rows: pd.DataFrame) -> None:
        for label, look, points in by_series(rows, by, looks):
            shape = {"marker": look["marker"], "markersize": 3.5, "linestyle": "none", "alpha": 0.8}
            paint = {"color": look["color"], "markerfacecolor": "none", "elinewidth": 0.6}
            paint |= {"capsize": 0, "label": label}
            axis.errorbar(points[x], points[y], yerr=arms(points, y), **shape, **paint)
        if identity:
            middle = (rows[x].mean(),) * 2
            axis.axline(middle, slope=1, color=GREY, linewidth=1, label="equal")
        if within:
            axis.axhline(0.0, color=GREY, linewidth=1, label="equal")
            shade = {"color": GREY, "alpha": 0.15, "linewidth": 0}
            axis.axhspan(-within, within, **shade, label=f"within {within:g} of it")
            low, high = axis.get_ylim()
            axis.set_ylim(min(low, -1.6 * within), max(high, 1.6 * within))
        if log_x:
            axis.set_xscale("log")
            plain(axis.xaxis)
        _name(axis, name, (labels or {}).get(name, (x, y)))

    return panels_of(table, panel, draw, legend=len(looks) > 1 or identity or within > 0)


def line_panels(
    table: pd.DataFrame,
    *,
    panel: str = "panel",
    x: str = "x",
    y: str = "value",
    by: str = "series",
    labels: Mapping[str, tuple[str, str]] | None = None,
    log_x: bool = False,
    marks: Mapping[str, float] | None = None,
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
    log_x : bool, default False
        Logarithmic horizontal axes, for positive ``x``.
    marks : mapping of str to float, optional
        Where a panel has a vertical line, at its differing record.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [panel, by, x, y])
    looks, places = series_of(table, by), marks or {}

    def draw(axis: Axes, name: str, rows: pd.DataFrame) -> None:
        for label, look, points in by_series(rows, by, looks):
            _curve(axis, points, x, y, look, label)
        if name in places:
            axis.axvline(places[name], color=GREY, linewidth=1, label="differing record")
        if log_x:
            axis.set_xscale("log")
            plain(axis.xaxis)
        _name(axis, name, (labels or {}).get(name, (x, y)))

    return panels_of(table, panel, draw)


def _name(axis: Axes, title: str, labels: tuple[str, str]) -> None:
    axis.set(xlabel=labels[0], ylabel=labels[1])
    axis.set_title(str(title), fontsize=9)


def _curve(axis: Axes, rows: pd.DataFrame, x: str, y: str, look: dict, label: str) -> None:
    marker = look["marker"] if len(rows) <= _FEW else ""
    shape = {"color": look["color"], "linestyle": look["linestyle"], "marker": marker}
    axis.plot(rows[x], rows[y], label=label, **shape, **in_front(look))
    if {"low", "high"} <= set(rows.columns) and (rows["low"] < rows["high"]).any():
        band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
        axis.fill_between(rows[x], rows["low"], rows["high"], **band)


def scatter(
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    x_label: str = "",
    y_label: str = "",
) -> Figure:
    """One score against another, one point a record, and the line on which both are equal.

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
    x_label, y_label : str
        Axis labels with units; the columns' names unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven groups.
    """
    check_columns(table, [x, y, *([by] if by else [])])
    groups = series_of(table, by) if by else series(["_nolegend_"])
    with style():
        figure, (axis,) = new_figure(2.8)
        figure.set_dpi(200)
        for group, look in groups.items():
            rows = table[table[by].astype(str) == group] if by else table
            shape = {"marker": look["marker"], "markersize": 3, "linestyle": "none", "alpha": 0.7}
            paint = {"markerfacecolor": "none", "markeredgecolor": look["color"]}
            axis.plot(rows[x], rows[y], label=group, rasterized=True, **shape, **paint)
        middle = (table[x].mean(),) * 2
        axis.axline(middle, slope=1, color="black", linestyle="--", label="both equal")
        axis.set(xlabel=x_label or x, ylabel=y_label or y)
        legend_above(figure, [axis])
    return figure


def heat_maps(
    table: pd.DataFrame,
    row: str,
    column: str,
    value: str = "value",
    *,
    panel: str,
    bottom: float = 0.0,
    top: float = 1.0,
    two_sided: bool = False,
    turned: bool = True,
    across: int = 0,
) -> Figure:
    """Numbers as colours in rows and columns, each number in its cell.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``row``, ``column``, ``value`` and ``panel``; a cell that no row fills stays empty.
        With a column ``text``, that one's words stand in the cells, such as a name, the number and
        its interval in three lines.
    row, column, value, panel : str
        The columns to draw; names stand in the order of their first appearance, panels too. Where
        rows and columns share a name, both have all names.
    bottom, top : float
        The numbers with the palest and the darkest colour.
    two_sided : bool
        Whether the number halfway stays white, and those above and below it have a colour each.
    turned : bool
        Whether the names of the columns are, so that long ones have room.
    across : int
        Panels side by side, all of them unless given; of two the cells and letters are large.

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    from seaborn import blend_palette, heatmap

    check_columns(table, [row, column, value, panel])
    panels = list(table[panel].unique())
    rows, columns = list(table[row].unique()), list(table[column].unique())
    is_square = not set(rows).isdisjoint(columns)
    if is_square:
        rows = columns = list(dict.fromkeys([*rows, *columns]))
    if "text" not in table:
        table = table.assign(text=table[value].map("{:.2f}".format))
    lines = 1 + table["text"].str.count("\n").max()
    across = 1 if is_narrow() else across or len(panels)
    down, large = -(-len(panels) // across), across == 2
    side = width() / across if is_square else len(rows) * (0.16 + 0.16 * lines) + 0.4
    side *= 1.25 if large else 1.0
    # Pale enough for black letters: what is dark here is pale on a dark page.
    ground = blend_palette([*[COLOURS[5]] * two_sided, "white", COLOURS[6]], as_cmap=True)
    with style():
        more = 0.5 if down == 1 else -0.3 if is_square else 0.3
        figure = Figure(figsize=(width(), down * (side + more)), layout="constrained")
        axes = list(figure.subplots(down, across, squeeze=False).flat)[: len(panels)]
        for axis, name in zip(axes, panels, strict=True):
            part = table[table[panel] == name]
            numbers, words = (
                part.pivot(index=row, columns=column, values=each).reindex(rows, columns=columns)
                for each in (value, "text")
            )
            heatmap(
                numbers.astype(float),
                ax=axis,
                annot=words.astype(object).fillna(""),
                annot_kws={"size": 10 if large else 9, "color": "black"},
                fmt="",
                cmap=ground,
                vmin=bottom,
                vmax=top,
                cbar=False,
                square=is_square,
                linewidths=1,
                # The names of the rows serve all panels that stand side by side.
                yticklabels=axes.index(axis) % across == 0,
            )
            axis.set(title=str(name), xlabel="", ylabel="")
            axis.grid(visible=False)
            axis.tick_params(axis="x", rotation=45 if turned else 0, length=0)
            axis.tick_params(axis="y", rotation=0, length=0)
    return figure


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
    for look, (name, part) in zip(_LOOKS, rows.groupby("series", sort=False), strict=True):
        for place, (_, line) in enumerate(part.groupby("line", sort=False)):
            axis.plot(line["x"], line["y"], label=name if place == 0 else None, **look)
    axis.plot(0, 0, marker="+", color=COLOURS[4], markersize=8, linestyle="none", label="minimum")
