"""The look of every figure: read in colour, in grey, in print and on a dark page."""

import io
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter

from membership.errors import InputError

WIDTH = 7.0
"""Width of a full figure, inches."""
MOST_COLUMNS = 3
"""Panels side by side at most."""

# Okabe and Ito's colours without yellow, which white paper swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
LINES: tuple[Any, ...] = (
    "-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 2)),
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo")
GREY = "#555555"

_RC = {
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.transparent": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.edgecolor": "#333333",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "errorbar.capsize": 2.5,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    # A fixed salt and no dates: the same figure is the same bytes.
    "svg.hashsalt": "membership",
    "pdf.fonttype": 42,
}
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def style() -> AbstractContextManager:
    """The style as a context manager: ``with plots.style(): ...``; nothing outside it changes."""
    return mpl.rc_context({**sns.axes_style("ticks"), **_RC})


def new_figure(
    height: float, columns: int = 1, *, width: float = WIDTH
) -> tuple[Figure, list[Any]]:
    """A figure with a row of panels, known to no global list of figures."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)
    return figure, list(axes[0])


def new_panels(count: int) -> tuple[Figure, list[Any], list[bool]]:
    """A figure of the full width with panels in as few rows as three a row allow."""
    rows = -(-count // MOST_COLUMNS)
    columns = -(-count // rows)
    figure = Figure(figsize=(WIDTH, 2.5 if rows == 1 else 0.5 + 2 * rows), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axis in axes[count:]:
        axis.remove()
    for axis in axes[:count]:
        # A number of ticks that depends on the panel's height would depend on the layout, which
        # depends on the width of their labels: a label then lies outside of the figure.
        axis.locator_params(axis="y", nbins=5)
    return figure, axes[:count], [place + columns >= count for place in range(count)]


def series(names: list[str]) -> dict[str, dict[str, Any]]:
    """Colour, line and marker for each name, in order."""
    if len(names) > len(COLOURS):
        raise InputError(f"{len(names)} series in one figure; at most {len(COLOURS)} can be read")
    return {
        name: {"color": COLOURS[i], "linestyle": LINES[i], "marker": MARKERS[i]}
        for i, name in enumerate(names)
    }


def legend_above(figure: Figure, axes: list[Any], columns: int = 5) -> None:
    """One legend for all the panels, above them, where it hides no data."""
    pairs = [pair for axis in axes for pair in zip(*axis.get_legend_handles_labels(), strict=True)]
    # The series themselves (bars, lines with intervals) come before what is drawn around them.
    pairs.sort(key=lambda pair: not isinstance(pair[0], Container))
    by_label = {label: handle for handle, label in reversed(pairs)}
    labels = list(dict.fromkeys(label for _, label in pairs))
    handles = [by_label[label] for label in labels]
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), columns))


def save_bytes(figure: Figure, fmt: str) -> bytes:
    """A figure as a file's content, the same bytes every time.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    fmt : str
        ``"svg"``, ``"pdf"`` or ``"png"``.

    Raises
    ------
    InputError
        The format is none of these.
    """
    if fmt not in _METADATA:
        raise InputError(f"fmt = {fmt!r}: the formats are {', '.join(_METADATA)}")
    content = io.BytesIO()
    _take_names_literally(figure)
    with style():
        figure.savefig(content, format=fmt, metadata=_METADATA[fmt])
    return content.getvalue()


def _take_names_literally(figure: Figure) -> None:
    """A ``$`` in a name is no formula; only the powers at a logarithmic axis are set as one."""
    axes = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    logarithmic = [axis for axis in axes if isinstance(axis.get_major_formatter(), LogFormatter)]
    powers = {id(label) for axis in logarithmic for label in axis.get_ticklabels(which="both")}
    for text in figure.findobj(Text):
        if id(text) not in powers:
            text.set_parse_math(False)


def check_columns(table: pd.DataFrame, wanted: list[str]) -> None:
    """Stop at a table that cannot be drawn."""
    missing = [column for column in wanted if column not in table.columns]
    if missing:
        raise InputError(f"the table lacks the columns {missing}; it has {list(table.columns)}")
    if table.empty:
        raise InputError("the table to draw is empty; give at least one row")


def arms(rows: pd.DataFrame, y: str) -> np.ndarray | None:
    """The intervals as lengths below and above the value; NaN where there is no interval.

    None where no row has one: an interval of no width is an exact number, and has no bar.
    """
    if not {"low", "high"} <= set(rows.columns):
        return None
    lengths = np.stack([rows[y] - rows["low"], rows["high"] - rows[y]]).astype(float)
    has_interval = (rows["low"] < rows["high"]).to_numpy()
    if not has_interval.any():
        return None
    # A bootstrap interval may leave its own estimate outside; an arm cannot be negative.
    return np.where(has_interval, np.clip(lengths, 0, None), np.nan)
