"""Error rates and accuracy, distributions of scores, and what was predicted of them."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from membership.errors import InputError
from membership.plots.look import (
    COLOURS,
    GREY,
    arms,
    broken,
    by_series,
    check_columns,
    in_front,
    is_narrow,
    legend_above,
    new_figure,
    panels_of,
    plain,
    room,
    series_of,
    style,
    width,
)

MOST_COLUMNS, MOST_NARROW = 4, 2
PANEL_HEIGHT, NARROW_HEIGHT = 2.0, 1.6
# Few enough to stand apart below the narrowest panel.
_TICKS = (0, 0.5, 1)


def roc_panels(
    curves: pd.DataFrame,
    *,
    y: str = "tpr",
    y_label: str = "true positive rate",
    floor: float = 0.0,
    hero: str = "",
) -> Figure:
    """Rates against the false positive rate, in panels of at most four a row.

    Parameters
    ----------
    curves : pandas.DataFrame
        Columns ``panel``, ``series``, ``fpr``, ``y`` (rates between 0 and 1), each curve in order;
        ``low`` and ``high``, where drawn as a band.
    y : str
        The rate on the vertical axis: ``"tpr"``, or ``"fnr"`` for a trade-off function.
    y_label : str
        Its label.
    floor : float, default 0
        Above 0: logarithmic axes from this rate up.
    hero : str
        The curve that the figure is about: it has the strongest line, on top of the others.

    Raises
    ------
    InputError
        A column is missing, the table is empty, the floor is no rate, or there are more than
        seven curves.
    """
    check_columns(curves, ["panel", "series", "fpr", y])
    if not 0 <= floor < 1:
        raise InputError(f"floor = {floor}: give 0, or a rate below 1 for logarithmic axes")
    looks = series_of(curves, "series", hero)

    def draw(axis: Axes, name: str, rows: pd.DataFrame) -> None:
        for label, look, curve in by_series(rows, "series", looks):
            line = {"color": look["color"], "linestyle": look["linestyle"], "label": label}
            line |= {"linewidth": 2.8, "zorder": 3} if label == hero else in_front(look)
            axis.plot(curve["fpr"], curve[y], **line)
            if {"low", "high"} <= set(curve.columns):
                band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
                axis.fill_between(curve["fpr"], curve["low"], curve["high"], **band)
        _chance(axis, y, floor)
        grid = axis.get_gridspec()
        axis.set_title(broken(str(name), room(grid.ncols if grid else 1)), fontsize=9)

    figure = panels_of(curves, "panel", draw, _new_roc_panels, legend=False)
    with style():
        size = 9 if is_narrow() else 10
        unit = " (%)" if floor else ""
        figure.supxlabel(f"false positive rate{unit}", fontsize=size)
        figure.supylabel(f"{y_label}{unit}", fontsize=size)
        legend_above(figure, figure.axes)
    return figure


def _new_roc_panels(count: int) -> tuple[Figure, list[Axes]]:
    """Panels row by row; one that is left over takes its whole row."""
    most, height = (MOST_NARROW, NARROW_HEIGHT) if is_narrow() else (MOST_COLUMNS, PANEL_HEIGHT)
    rows = -(-count // most)
    columns = -(-count // rows)
    figure = Figure(figsize=(width(), 0.5 + height * rows), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    places = [grid[i // columns, i % columns] for i in range(count)]
    if columns > 1 and count % columns == 1:
        places[-1] = grid[rows - 1, :]
    return figure, [figure.add_subplot(place) for place in places]


def _chance(axis: Axes, y: str, floor: float) -> None:
    """What random scores reach, and the limits of the axes."""
    ends = np.array([floor, 1.0])
    axis.plot(
        ends,
        1 - ends if y == "fnr" else ends,
        color=GREY,
        linewidth=1,
        zorder=1,
        label="random scores",
    )
    if floor:
        axis.set(xscale="log", yscale="log")
    else:
        axis.set(xticks=_TICKS, yticks=_TICKS)
    axis.set(xlim=(floor, 1), ylim=(floor, 1))
    if floor:
        plain(axis.xaxis, unit=0.01)
        plain(axis.yaxis, unit=0.01)


def accuracy_by_level(table: pd.DataFrame) -> Figure:
    """Test accuracy against the privacy level mu, one panel a data set.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``dataset``, ``series``, ``mu`` (above 0), ``value``, ``low``, ``high`` (in %).

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, ["dataset", "series", "mu", "value", "low", "high"])
    looks = series_of(table, "series")

    def draw(axis: Axes, name: str, rows: pd.DataFrame) -> None:
        for label, look, part in by_series(rows, "series", looks):
            part = part.sort_values("mu")
            line = {**look, "markersize": 3, "elinewidth": 0.8, **in_front(look)}
            axis.errorbar(part["mu"], part["value"], arms(part, "value"), label=label, **line)
        axis.set(xscale="log", xlabel="privacy level μ", title=name)
        plain(axis.xaxis)

    return panels_of(table, "dataset", draw, partial(new_figure, 2.8), y_label="test accuracy (%)")


# Outline against filled bars: the two are told apart without colour.
_LOOKS = {
    True: {"label": "members", "color": COLOURS[1], "fill": False, "linewidth": 1.4},
    False: {"label": "non-members", "color": COLOURS[0], "fill": True, "alpha": 0.45},
}
_FEWEST_BINS = 20
_CURVES = {True: "-", False: "--"}


def score_histograms(table: pd.DataFrame) -> Figure:
    """Histograms of the scores of members and non-members, one panel an attack.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``attack``; ``member`` (bool); ``series``, "record" or "exact"; ``score``;
        ``density``. A "record" row is the score of one record, its density of no account; an
        "exact" row is one point of a density curve, drawn over the histogram.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or ``series`` is something else.
    """
    check_columns(table, ["attack", "member", "series", "score", "density"])
    unknown = set(table["series"]) - {"record", "exact"}
    if unknown:
        raise InputError(f"series = {sorted(unknown)}: a row is 'record' or 'exact'")

    def draw(axis: Axes, attack: str, rows: pd.DataFrame) -> None:
        _histograms(axis, rows)
        axis.set(title=attack, xlabel="score")

    return panels_of(table, "attack", draw, partial(new_figure, 2.5), y_label="density")


def _histograms(axis: Axes, rows: pd.DataFrame) -> None:
    records, curves = (rows[rows["series"] == series] for series in ("record", "exact"))
    # The same bins for both groups, or their heights could not be compared.
    edges = np.histogram_bin_edges(records["score"], bins="auto")
    if len(edges) <= _FEWEST_BINS:
        edges = np.histogram_bin_edges(records["score"], bins=_FEWEST_BINS)
    for member, look in sorted(_LOOKS.items()):
        scores = records.loc[records["member"] == member, "score"]
        if len(scores):
            axis.stairs(np.histogram(scores, edges, density=True)[0], edges, **look)
    for member, line in sorted(_CURVES.items()):
        curve = curves[curves["member"] == member]
        if len(curve):
            label = f"{_LOOKS[member]['label']}, exact"
            axis.plot(curve["score"], curve["density"], line, c="black", lw=1.2, label=label)
    axis.xaxis.set_major_locator(MaxNLocator(4))
    axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.grid(visible=False)


DATA = "data"


def prediction_bands(table: pd.DataFrame) -> Figure:
    """Median and band of several models of one number, a panel a model, over the same records.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``series`` ("data" for the records, else the model), ``x``, ``value``, ``low``,
        ``high``.

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    check_columns(table, ["series", "x", "value", "low", "high"])
    records, models = table[table["series"] == DATA], table[table["series"] != DATA]
    looks = series_of(models, "series")

    def draw(axis: Axes, name: str, rows: pd.DataFrame) -> None:
        rows, color = rows.sort_values("x"), looks[name]["color"]
        axis.plot(records["x"], records["value"], ".", color=GREY, markersize=3, label=DATA)
        axis.plot(rows["x"], rows["value"], color=color, label="median")
        limits = {"color": color, "alpha": 0.25, "linewidth": 0}
        axis.fill_between(rows["x"], rows["low"], rows["high"], label="90% band", **limits)
        axis.set(title=name, xlabel="x")
        axis.sharey(axis.figure.axes[0])

    return panels_of(models, "series", draw, partial(new_figure, 2.6), y_label="y")


def densities_with_thresholds(table: pd.DataFrame) -> Figure:
    """Predicted densities of one record's score, with thresholds and the score itself.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``dataset`` (a panel each), ``series``, ``hinge``, ``density``, ``threshold`` and
        ``target`` (the same in all rows of a panel).

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    check_columns(table, ["dataset", "series", "hinge", "density", "threshold", "target"])
    looks = series_of(table, "series")

    def draw(axis: Axes, name: str, rows: pd.DataFrame) -> None:
        for label, look, curve in by_series(rows, "series", looks):
            line = {"color": look["color"], "linestyle": look["linestyle"]}
            axis.plot(curve["hinge"], curve["density"], label=label, **line)
            axis.axvline(curve["threshold"].iloc[0], linewidth=0.9, **line)
        axis.axvline(rows["target"].iloc[0], color="black", linewidth=2.5, label="target's score")
        axis.grid(visible=False)
        axis.set(title=name, xlabel="hinge score")

    return panels_of(table, "dataset", draw, y_label="density")
