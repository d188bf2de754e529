"""Error rates and accuracy, one panel a setting."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.errors import InputError
from membership.plots.look import (
    GREY,
    WIDTH,
    arms,
    check_columns,
    legend_above,
    new_figure,
    series,
    style,
)

MOST_COLUMNS = 4
PANEL_HEIGHT = 2.0
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
    rows = -(-len(panels) // MOST_COLUMNS)
    columns = -(-len(panels) // rows)
    with style():
        figure = Figure(figsize=(WIDTH, 0.5 + PANEL_HEIGHT * rows), layout="constrained")
        axes = list(np.ravel(figure.subplots(rows, columns, squeeze=False)))
        for name, axis in zip(panels, axes, strict=False):
            _panel(axis, curves[curves[panel] == name], by, y, looks)
            _chance(axis, y, floor)
            axis.set_title(_broken(str(name), 72 // columns), fontsize=9)
        for axis in axes[len(panels) :]:
            axis.remove()
        figure.supxlabel("false positive rate", fontsize=10)
        figure.supylabel(y_label, fontsize=10)
        legend_above(figure, axes[: len(panels)], columns=4)
    return figure


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
        axes[0].set_ylabel("test accuracy (%)")
        legend_above(figure, axes, columns=2)
    return figure
