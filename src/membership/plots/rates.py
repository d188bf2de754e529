"""Error rates and accuracy, one panel a setting."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.errors import InputError
from membership.plots.look import (
    GREY,
    arms,
    check_columns,
    is_narrow,
    label_rows,
    legend_above,
    new_figure,
    room,
    series,
    style,
    width,
)
from membership.plots.ticks import plain

MOST_COLUMNS, MOST_NARROW = 4, 2
PANEL_HEIGHT, NARROW_HEIGHT = 2.0, 1.6
# Few enough to stand apart below the narrowest panel.
_TICKS = (0, 0.5, 1)


def roc_panels(
    curves: pd.DataFrame,
    *,
    panel: str = "panel",
    by: str = "series",
    y: str = "tpr",
    y_label: str = "true positive rate",
    floor: float = 0.0,
) -> Figure:
    """Rates against the false positive rate, in panels of at most four a row.

    Parameters
    ----------
    curves : pandas.DataFrame
        Columns ``panel``, ``by``, ``fpr``, ``y`` (rates between 0 and 1), each curve in order;
        ``low`` and ``high``, where drawn as a band.
    panel, by : str
        The columns that name panels and curves.
    y : str
        The rate on the vertical axis: ``"tpr"``, or ``"fnr"`` for a trade-off function.
    y_label : str
        Its label.
    floor : float, default 0
        Above 0: logarithmic axes from this rate up.

    Raises
    ------
    InputError
        A column is missing, the table is empty, the floor is no rate, or there are more than
        seven curves.
    """
    check_columns(curves, [panel, by, "fpr", y])
    if not 0 <= floor < 1:
        raise InputError(f"floor = {floor}: give 0, or a rate below 1 for logarithmic axes")
    panels = list(curves[panel].unique())
    looks = series([str(name) for name in curves[by].unique()])
    most, height = (MOST_NARROW, NARROW_HEIGHT) if is_narrow() else (MOST_COLUMNS, PANEL_HEIGHT)
    rows = -(-len(panels) // most)
    columns = -(-len(panels) // rows)
    with style():
        figure = Figure(figsize=(width(), 0.5 + height * rows), layout="constrained")
        axes = _places(figure, rows, columns, len(panels))
        for name, axis in zip(panels, axes, strict=True):
            _panel(axis, curves[curves[panel] == name], by, y, looks)
            _chance(axis, y, floor)
            axis.set_title(_broken(str(name), room(columns)), fontsize=9)
        size = 9 if is_narrow() else 10
        unit = " (%)" if floor else ""
        figure.supxlabel(f"false positive rate{unit}", fontsize=size)
        figure.supylabel(f"{y_label}{unit}", fontsize=size)
        legend_above(figure, axes)
    return figure


def _places(figure: Figure, rows: int, columns: int, count: int) -> list[Axes]:
    """Panels row by row; one that is left over takes its whole row."""
    grid = figure.add_gridspec(rows, columns)
    places = [grid[i // columns, i % columns] for i in range(count)]
    if columns > 1 and count % columns == 1:
        places[-1] = grid[rows - 1, :]
    return [figure.add_subplot(place) for place in places]


def _broken(title: str, letters: int) -> str:
    """A title in two lines where it is longer than its panel, after its colon if it has one."""
    if len(title) > letters and ": " in title:
        return title.replace(": ", ":\n", 1)
    return textwrap.fill(title, letters)


def _panel(axis: Axes, part: pd.DataFrame, by: str, y: str, looks: dict) -> None:
    for label, look in looks.items():
        rows = part[part[by].astype(str) == label]
        if rows.empty:
            continue
        axis.plot(
            rows["fpr"], rows[y], color=look["color"], linestyle=look["linestyle"], label=label
        )
        if {"low", "high"} <= set(rows.columns):
            axis.fill_between(
                rows["fpr"], rows["low"], rows["high"], color=look["color"], alpha=0.2, linewidth=0
            )


def _chance(axis: Axes, y: str, floor: float) -> None:
    """What random scores reach, and the limits of the axes."""
    ends = np.array([floor, 1.0])
    axis.plot(
        ends,
        1 - ends if y == "fnr" else ends,
        color=GREY,
        linewidth=1,
        linestyle=(0, (1, 3)),
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
    names = list(table["dataset"].unique())
    looks = series(list(table["series"].unique()))
    with style():
        figure, axes = new_figure(2.8, len(names))
        for name, axis in zip(names, axes, strict=True):
            part = table[table["dataset"] == name]
            for label, look in looks.items():
                rows = part[part["series"] == label].sort_values("mu")
                line = {**look, "markersize": 3, "elinewidth": 0.8}
                axis.errorbar(rows["mu"], rows["value"], arms(rows, "value"), label=label, **line)
            axis.set(xscale="log", xlabel="privacy level mu", title=name)
            plain(axis.xaxis)
        label_rows(axes, "test accuracy (%)")
        legend_above(figure, axes)
    return figure
