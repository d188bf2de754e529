"""Numbers of many attacks in many settings: a row a setting, a mark an attack."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from membership.plots.look import (
    GREY,
    arms,
    check_columns,
    is_narrow,
    legend_above,
    new_figure,
    series,
    style,
)

_SHARE = 0.7
"""Of a row's height that its marks take."""


def dots_by_row(
    table: pd.DataFrame,
    row: str,
    value: str = "value",
    by: str = "attack",
    *,
    baseline: float | None = None,
    label: str = "",
    wide: bool = False,
) -> Figure:
    """Numbers with 95% intervals along one axis, a row a setting, a mark a series.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``row``, ``value``, ``by``; ``low`` and ``high``, where numbers have intervals.
    row, value, by : str
        The columns to draw; rows stand in the order of the table, closer where each has one mark.
    baseline : float, optional
        Where a vertical line stands, such as what a coin reaches.
    label : str
        Of the axis, with unit; the column's name unless given.
    wide : bool
        Whether numbers run from 0 over powers of ten: above 0.1 the axis is logarithmic.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [row, value, by])
    rows = [str(name) for name in table[row].unique()]
    looks = series([str(name) for name in table[by].unique()])
    is_single = not table.duplicated(row).any()
    each = 0.27 if is_single else 0.6 if is_narrow() else 0.5
    height = each * len(rows) + 1.2
    with style():
        figure, (axis,) = new_figure(height)
        for i, (name, look) in enumerate(looks.items()):
            shift = 0.0 if is_single else _SHARE * ((i + 0.5) / len(looks) - 0.5)
            part = table[table[by].astype(str) == name]
            place = np.array([rows.index(str(one)) for one in part[row]], dtype=float) + shift
            mark = {"color": look["color"], "marker": look["marker"], "markersize": 4}
            axis.errorbar(
                part[value],
                place,
                xerr=arms(part, value),
                linestyle="none",
                elinewidth=1,
                label=name,
                **mark,
            )
        if wide:
            axis.set_xscale("symlog", linthresh=0.1, linscale=0.4)
            axis.xaxis.set_major_formatter("{x:g}")
            axis.set_xlim(left=0)
        if baseline is not None:
            axis.axvline(baseline, color=GREY, linewidth=1)
        room = (20 if is_single else 16) if is_narrow() else 34
        axis.set_yticks(range(len(rows)), [textwrap.fill(name, room) for name in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlabel(textwrap.fill(label or value, 24 if is_narrow() else 60))
        legend_above(figure, [axis])
    return figure
