"""Numbers with their intervals, attack by attack."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.plots.look import (
    GREY,
    HATCHES,
    arms,
    check_columns,
    is_narrow,
    legend_above,
    new_figure,
    series,
    style,
)

_BAR = {"edgecolor": "white", "alpha": 0.75}
_DIAMOND = {"linestyle": "none", "marker": "D", "mfc": "white", "mec": "black"}
_LETTERS = 80
"""How many letters of a tick label stand side by side in a figure of the full width."""


def bars_with_intervals(
    table: pd.DataFrame,
    category: str = "attack",
    y: str = "value",
    *,
    by: str | None = None,
    published: pd.DataFrame | None = None,
    baseline: float = 0.0,
    baseline_label: str = "",
    y_label: str = "",
) -> Figure:
    """Numbers with 95% intervals, one bar a category, or one group of bars.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``category``, ``y``, ``by``; ``low`` and ``high``, where numbers have intervals.
    category, y : str
        The columns to draw.
    by : str, optional
        A column that splits each category into bars side by side.
    published : pandas.DataFrame, optional
        Published numbers as open diamonds: columns ``category``, ``y`` (and ``by``).
    baseline, baseline_label : float, str
        Where bars start, in the unit of ``y``, and what that is, for the legend.
    y_label : str
        Axis label with unit; the column's name unless given.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or there are more than seven series.
    """
    check_columns(table, [category, y, *([by] if by else [])])
    categories = [str(name) for name in table[category].unique()]
    groups = [str(name) for name in table[by].unique()] if by else ["this run"]
    looks = series(groups)
    width = 0.8 / len(groups)
    flat = is_narrow()
    with style():
        figure, (axis,) = new_figure(1.3 + 0.2 * len(table) if flat else 2.7)
        for i, group in enumerate(groups):
            shift = (i - (len(groups) - 1) / 2) * width
            rows = _of_group(table, by, group)
            place = _places(rows[category], categories) + shift
            fill = {"color": looks[group]["color"], "hatch": HATCHES[i], "label": group}
            bars, error = (axis.barh, "xerr") if flat else (axis.bar, "yerr")
            bars(place, rows[y] - baseline, 0.92 * width, baseline, **_BAR, **fill)
            axis.errorbar(
                *_turned(place, rows[y], flat),
                **{error: arms(rows, y)},
                fmt="none",
                ecolor="black",
            )
            if published is not None:
                printed = _of_group(published, by, group)
                printed = printed[printed[category].astype(str).isin(categories)]
                # Beside the interval, which they would hide.
                place = _places(printed[category], categories) + shift + width / 4
                axis.plot(*_turned(place, printed[y], flat), label="published", **_DIAMOND)
        line = axis.axvline if flat else axis.axhline
        line(baseline, color=GREY, linewidth=1, label=baseline_label or "_nolegend_")
        _name_categories(axis, categories, flat)
        (axis.set_xlabel if flat else axis.set_ylabel)(y_label or y)
        legend_above(figure, [axis])
    return figure


def _turned(place: np.ndarray, values: pd.Series, flat: bool) -> tuple:
    """Bars lie in a narrow figure, where their names have no room beside each other."""
    return (values, place) if flat else (place, values)


def _of_group(frame: pd.DataFrame, by: str | None, group: str) -> pd.DataFrame:
    return frame if by is None else frame[frame[by].astype(str) == group]


def _name_categories(axis: Axes, categories: list[str], flat: bool) -> None:
    """Names beside the bars, broken into lines so that neighbours do not run into each other."""
    room = 14 if flat else max(8, _LETTERS // len(categories))
    names = [textwrap.fill(name, room) for name in categories]
    (axis.set_yticks if flat else axis.set_xticks)(range(len(categories)), names)
    axis.grid(axis="y" if flat else "x", visible=False)
    if flat:
        axis.invert_yaxis()


def _places(values: pd.Series, categories: list[str]) -> np.ndarray:
    return np.array([categories.index(str(value)) for value in values], dtype=float)
