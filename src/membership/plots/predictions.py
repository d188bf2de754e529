"""Predicted distributions: bands along an axis, and densities with their thresholds."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    GREY,
    check_columns,
    label_rows,
    legend_above,
    new_figure,
    new_panels,
    series,
    style,
)

DATA = "data"


def prediction_bands(table: pd.DataFrame, *, x_label: str = "x", y_label: str = "y") -> Figure:
    """Median and band of several models of one number, a panel a model, over the same records.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``series`` ("data" for the records, else the model), ``x``, ``value``, ``low``,
        ``high``.
    x_label, y_label : str
        Axis labels with units.

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    check_columns(table, ["series", "x", "value", "low", "high"])
    records = table[table["series"] == DATA]
    models = [name for name in table["series"].unique() if name != DATA]
    with style():
        figure, axes = new_figure(2.6, len(models))
        for (name, look), axis in zip(series(models).items(), axes, strict=True):
            rows = table[table["series"] == name].sort_values("x")
            axis.plot(records["x"], records["value"], ".", color=GREY, markersize=3, label=DATA)
            axis.plot(rows["x"], rows["value"], color=look["color"], label="median")
            limits = {"color": look["color"], "alpha": 0.25, "linewidth": 0}
            axis.fill_between(rows["x"], rows["low"], rows["high"], label="90% band", **limits)
            axis.set(title=name, xlabel=x_label)
            axis.sharey(axes[0])
        label_rows(axes, y_label)
        legend_above(figure, axes)
    return figure


def densities_with_thresholds(table: pd.DataFrame, *, x_label: str = "hinge score") -> Figure:
    """Predicted densities of one record's score, with thresholds and the score itself.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``dataset`` (a panel each), ``series``, ``hinge``, ``density``, ``threshold`` and
        ``target`` (the same in all rows of a panel).
    x_label : str
        Label of the horizontal axes.

    Raises
    ------
    InputError
        A column is missing, or the table is empty.
    """
    check_columns(table, ["dataset", "series", "hinge", "density", "threshold", "target"])
    names = list(table["dataset"].unique())
    looks = series(list(table["series"].unique()))
    with style():
        figure, axes, _ = new_panels(len(names))
        for name, axis in zip(names, axes, strict=True):
            _densities(axis, table[table["dataset"] == name], looks)
            axis.set(title=name, xlabel=x_label)
        label_rows(axes, "density")
        legend_above(figure, axes)
    return figure


def _densities(axis: Axes, part: pd.DataFrame, looks: dict) -> None:
    for label, look in looks.items():
        rows = part[part["series"] == label]
        if rows.empty:
            continue
        line = {"color": look["color"], "linestyle": look["linestyle"]}
        axis.plot(rows["hinge"], rows["density"], label=label, **line)
        axis.axvline(rows["threshold"].iloc[0], linewidth=0.9, **line)
    axis.axvline(part["target"].iloc[0], color="black", linewidth=2.5, label="target's score")
    axis.grid(visible=False)
