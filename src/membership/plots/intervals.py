"""Numbers with their intervals: bars, lines, and rows of marks along an axis."""

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from membership.metrics.rate_names import metric_words
from membership.plots import ends
from membership.plots.look import (
    GREY,
    HATCHES,
    arms,
    at_values,
    broken,
    by_series,
    check_columns,
    in_front,
    is_narrow,
    label_rows,
    legend_above,
    new_figure,
    new_panels,
    plain,
    room,
    series,
    series_of,
    style,
    width,
)

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
    letters = 14 if flat else max(8, _BAR_LETTERS // len(categories))
    names = [textwrap.fill(name, letters) for name in categories]
    (axis.set_yticks if flat else axis.set_xticks)(range(len(categories)), names)
    axis.grid(axis="y" if flat else "x", visible=False)
    if flat:
        axis.invert_yaxis()


_MOST_MARKERS = 15
_MARKERS_LEFT = 8
_TALLER, _TALL = 1.7, 1.3
"""Inches of a panel in a single row, and among several."""


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
    coloured: Sequence[str] = (),
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
        A column with one panel a value, at most three a row, which its value names. A panel draws
        the series that it has; they are named at their ends, or in a legend for all panels.
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
    coloured : sequence of str
        Of more than four series those that are not grey; the first four unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    keys = [x, y, by, *([panel] if panel else [])]
    check_columns(table, keys)
    panels = list(table[panel].unique()) if panel else [""]
    looks = series_of(table, by, coloured=coloured)
    values = [table[x]]
    if published is not None and len(published):
        check_columns(published, keys)
        published = published[published[by].astype(str).isin(looks)]
        published = published[published[panel].isin(panels)] if panel else published
        values.append(published[x])
    drawn: list[tuple[Axes, ends.Ends]] = []
    few = is_narrow() or len(looks) == 1
    with style():
        figure, axes, lowest = new_panels(len(panels))
        for name, axis, is_lowest in zip(panels, axes, lowest, strict=True):
            part, printed, band = (
                frame if frame is None or panel is None else frame[frame[panel] == name]
                for frame in (table, published, null)
            )
            if band is not None:
                shade = {"color": GREY, "alpha": 0.25, "linewidth": 0, "label": "random scores"}
                axis.fill_between(band[x], band["low"], band["high"], **shade)
            drawn.append((axis, {}))
            for series_name, look, rows in by_series(part, by, looks):
                rows = rows.sort_values(x)
                _line(axis, rows, x, y, look, series_name)
                drawn[-1][1][series_name] = (look, *ends.of_lines(rows, x, y))
            if printed is not None and len(printed):
                _open_markers(axis, printed, x, y, by, looks)
            axis.set_title(broken(metric_words(str(name)), room(axis.get_gridspec().ncols)))
            axis.set_xlabel((x_label or x) if is_lowest else "")
        label_rows(axes, y_label or ("" if panel else y))
        if log_x:
            columns = axes[0].get_gridspec().ncols
            wide = width() - (0 if few else ends.WIDTH)
            at_values(axes, np.unique(np.concatenate(values)), wide / columns)
        if same_scale:
            limits = np.array([axis.get_ylim() for axis in axes])
            for axis in axes:
                axis.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        named = set() if few else ends.label_ends(drawn, _TALL if not all(lowest) else _TALLER)
        legend_above(figure, axes, without=named)
    return figure


def _line(axis: Axes, rows: pd.DataFrame, x: str, y: str, look: dict, label: str) -> None:
    every = len(rows) // _MARKERS_LEFT if len(rows) > _MOST_MARKERS else 1
    more = {"markevery": every, "elinewidth": 1, "label": label, **in_front(look)}
    axis.errorbar(rows[x], rows[y], yerr=arms(rows, y), **look, **more)


def _open_markers(axis: Axes, rows: pd.DataFrame, x: str, y: str, by: str, looks: dict) -> None:
    open_marker = {"linestyle": "none", "markersize": 7.5, "markerfacecolor": "none"}
    for label, look in looks.items():
        points = rows[rows[by].astype(str) == label]
        shape = {"marker": look["marker"], "markeredgecolor": look["color"]}
        axis.plot(points[x], points[y], **shape, **open_marker)
    # One entry in the legend for them all: only their being open is new.
    axis.plot([], [], "o", markeredgecolor=GREY, label="published (open)", **open_marker)


MOST_ACROSS = 4
"""Panels side by side at most."""
_SHARE = 0.7
"""Of a row's height that its marks take."""
_DIGIT = 0.075
"""Of a printed number, inches."""


def dots_by_row(
    table: pd.DataFrame,
    row: str,
    value: str = "value",
    by: str = "attack",
    *,
    panel: str | None = None,
    baseline: float | Mapping[str, float] | None = None,
    baseline_label: str = "",
    label: str = "",
    wide: bool = False,
    log_x: bool = False,
    joined: bool = False,
    stems: bool = False,
    told: str = "",
    coloured: Sequence[str] = (),
) -> Figure:
    """Numbers with 95% intervals along one axis, a row a setting, a mark a series.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``row``, ``value``, ``by``; ``low`` and ``high``, where numbers have intervals; and,
        with ``panel``, that one.
    row, value, by : str
        The columns to draw; rows stand in the order of the table, closer where each has one mark.
    panel : str, optional
        A column with one panel a value, at most four a row (narrow: one), each with its own axis.
    baseline : float or mapping, optional
        Where a vertical line stands, such as what a coin reaches; by panel, where it is a mapping.
    baseline_label : str
        What the line is, for the legend.
    label : str
        Of the axis, with unit; the column's name unless given.
    wide : bool
        Whether numbers run from 0 over powers of ten: above 0.1 the axis is logarithmic.
    log_x : bool
        Whether the axis is logarithmic, for positive numbers.
    joined : bool
        Whether the marks of a row stand on one line, which joins them.
    stems : bool
        Whether a bar leads to each mark: from the column ``start``, else from the baseline.
    told : str
        A format, such as ``".2f"``, in which each number is printed beside its mark; with a column
        ``told``, that one's numbers.
    coloured : sequence of str
        Of more than four series those that are not grey; the first four unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [row, value, by, *([panel] if panel else [])])
    looks = series_of(table, by, coloured=coloured)
    keys = [row, *([panel] if panel else [])]
    is_single = joined or not table.duplicated(keys).any()
    shifts = {
        name: 0.0 if is_single else _SHARE * ((i + 0.5) / len(looks) - 0.5)
        for i, name in enumerate(looks)
    }
    table = table.assign(_at=table[value], _label=table[row].astype(str))
    table["_shift"] = table[by].astype(str).map(shifts)
    parts = {name: part for name, part in table.groupby(panel or (lambda _: ""), sort=False)}
    with style():
        figure, axes, names = _new(list(parts.values()), is_single)
        for (name, part), axis, rows in zip(parts.items(), axes, names, strict=True):
            line = baseline.get(name) if isinstance(baseline, Mapping) else baseline
            part = part.assign(_row=part["_label"].map(rows.index) + part["_shift"])
            if stems and "start" not in part:
                part = part.assign(start=line or 0.0)
            for label_of, look, marks in by_series(part, by, looks):
                _marks(axis, marks, look, label_of, stems)
            if joined:
                for place, marks in part.groupby("_row"):
                    between = marks["_at"].min(), marks["_at"].max()
                    axis.hlines(place, *between, color=GREY, linewidth=1, zorder=1)
            if line is not None:
                axis.axvline(line, color=GREY, linewidth=1, label=baseline_label or "_nolegend_")
            _scale(axis, wide, log_x)
            if told:
                inches = width() * (1.0 if is_narrow() else 0.8 / len(axes))
                _tell(axis, part, told, inches, line)
            axis.set_ylim(len(rows) - 0.5, -0.5)
            if panel:
                axis.set_title(textwrap.fill(str(name), _letters(len(axes))), fontsize=9)
        below = textwrap.fill(label or value, 30 if is_narrow() else 60)
        if panel:
            figure.supxlabel(below, fontsize=9 if is_narrow() else 10)
        else:
            axes[0].set_xlabel(below)
        if len(looks) > 1 or baseline_label or not panel:
            legend_above(figure, axes)
    return figure


def _new(parts: list[pd.DataFrame], is_single: bool) -> tuple[Figure, list[Axes], list[list[str]]]:
    """A figure with an axis a part, and the names of its rows from top to bottom."""
    names = [list(part["_label"].unique()) for part in parts]
    across = 1 if is_narrow() else min(len(parts), MOST_ACROSS)
    if across > 1:
        # The names at the first panel serve all that stand beside it.
        names = [list(dict.fromkeys(name for rows in names for name in rows))] * len(parts)
    down = -(-len(parts) // across)
    each = 0.27 if is_single else 0.6 if is_narrow() else 0.5
    tall = [each * max(map(len, names[i * across : (i + 1) * across])) + 0.6 for i in range(down)]
    figure = Figure(figsize=(width(), sum(tall) + 0.6), layout="constrained")
    axes = list(figure.subplots(down, across, squeeze=False, height_ratios=tall).flat)
    for axis in axes[len(parts) :]:
        axis.remove()
    letters = (20 if is_single else 16) if is_narrow() else 34 if across == 1 else 26
    for i, (axis, rows) in enumerate(zip(axes, names, strict=False)):
        shown = [textwrap.fill(name, letters) for name in rows]
        axis.set_yticks(range(len(rows)), shown if i % across == 0 else [""] * len(rows))
        if across > 1:
            axis.locator_params(axis="x", nbins=4)
    return figure, axes[: len(parts)], names


def _letters(panels: int) -> int:
    """How many letters of a title fit above a panel, beside the names of the rows."""
    return 30 if is_narrow() else room(min(panels, MOST_ACROSS)) - 2


def _marks(axis: Axes, marks: pd.DataFrame, look: dict, label: str, stems: bool) -> None:
    if stems:
        bar = {"color": look["color"], "alpha": 0.3, "linewidth": 6}
        axis.hlines(marks["_row"], marks["start"], marks["_at"], **bar)
    shape = {"color": look["color"], "marker": look["marker"], "markersize": 4, "elinewidth": 1}
    lengths = arms(marks, "_at")
    # A mark on the edge of the panel is whole.
    shape |= {"label": label, "linestyle": "none", "clip_on": False}
    axis.errorbar(marks["_at"], marks["_row"], xerr=lengths, **shape)


def _scale(axis: Axes, wide: bool, log_x: bool) -> None:
    if wide:
        axis.set_xscale("symlog", linthresh=0.1, linscale=0.4)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlim(left=0)
    if log_x:
        axis.set_xscale("log")
        plain(axis.xaxis)
        # An interval that begins at 0 or less has no end on this axis: it is cut at the edge.
        lines = [bar for bar in axis.collections if isinstance(bar, LineCollection)]
        # A bar without an interval has a segment without points.
        bars = [(bar, [x for one in bar.get_segments() for x, _ in one]) for bar in lines]
        for drawn, x in [*bars, *((mark, mark.get_xdata()) for mark in axis.lines)]:
            if (np.asarray(x, dtype=float) <= 0).any():
                drawn.set_clip_on(True)


def _tell(axis: Axes, part: pd.DataFrame, told: str, inches: float, line: float | None) -> None:
    """Each number to the right of its mark, its interval and its bar, where room is made for it.

    Where it would stand on a vertical line it stands behind that.
    """
    texts = [format(number, told) for number in part.get("told", part["_at"])]
    free = _DIGIT * max(map(len, texts)) + 0.1
    low, high = axis.get_xlim()
    axis.set_xlim(low, high + (high - low) * free / (inches - free))
    ends = part[[name for name in ("_at", "high", "start") if name in part]].max(axis=1)
    if line is not None:
        span = (high - low) * free / (inches - free)
        ends = ends.mask((ends < line) & (ends + span > line), line)
    for text, end, place in zip(texts, ends, part["_row"], strict=True):
        # On white: a line may pass behind it.
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        beside = {"xytext": (4, 0), "textcoords": "offset points", "fontsize": 8, "bbox": ground}
        axis.annotate(text, (end, place), va="center", **beside)
