"""Distributions of scores: what members and non-members look like to an attack."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from membership.errors import InputError
from membership.plots.look import (
    COLOURS,
    check_columns,
    label_rows,
    legend_above,
    new_figure,
    style,
)

# Outline against filled bars: the two are told apart without colour.
_LOOKS = {
    True: {"label": "members", "color": COLOURS[1], "fill": False, "linewidth": 1.4},
    False: {"label": "non-members", "color": COLOURS[0], "fill": True, "alpha": 0.45},
}
_FEWEST_BINS = 20
_CURVES = {True: "-", False: "--"}


def score_histograms(table: pd.DataFrame, *, x_label: str = "score") -> Figure:
    """Histograms of the scores of members and non-members, one panel an attack.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``attack``; ``member`` (bool); ``series``, "record" or "exact"; ``score``;
        ``density``. A "record" row is the score of one record, its density of no account; an
        "exact" row is one point of a density curve, drawn over the histogram.
    x_label : str
        Label of the horizontal axes.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or ``series`` is something else.
    """
    check_columns(table, ["attack", "member", "series", "score", "density"])
    unknown = set(table["series"]) - {"record", "exact"}
    if unknown:
        raise InputError(f"series = {sorted(unknown)}: a row is 'record' or 'exact'")
    attacks = list(table["attack"].unique())
    with style():
        figure, axes = new_figure(2.5, len(attacks))
        for attack, axis in zip(attacks, axes, strict=True):
            _panel(axis, table[table["attack"] == attack])
            axis.set(title=attack, xlabel=x_label)
        label_rows(axes, "density")
        legend_above(figure, axes)
    return figure


def _panel(axis: Axes, rows: pd.DataFrame) -> None:
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
