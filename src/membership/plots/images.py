"""Small pictures in rows: records, and what was made of them."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.errors import InputError
from membership.plots.look import (
    check_columns,
    is_narrow,
    legend_above,
    plain,
    series,
    style,
    width,
)

MOST_PICTURES, MOST_NARROW = 10, 5
"""Pictures side by side at most."""
_SIDE, _SIDE_NARROW, _WIDEST, _GAP = 0.58, 0.74, 1.2, 0.06
"""A picture's side, what one takes of a row at most, and the gap between two, inches."""
_LINE, _LETTER, _TEXT = 0.15, 0.07, 8.5
"""A line of text and a letter of a row's name, inches; the text below a picture, points."""
# On a phone: pictures of a search beside each other, and letters of a line below an axis.
MOST_BESIDE, _LABEL = 4, 34
_COLUMNS = ["row", "column", "text", "shape", "pixels"]


def image_grid(table: pd.DataFrame) -> Figure:
    """Pictures in named rows, in the order of the table, at most ten a row (narrow: five).

    Parameters
    ----------
    table : pandas.DataFrame
        One row a picture. Columns ``row`` and ``column`` (its place), ``text`` (a few letters
        below it, or empty), ``shape`` ("channels x height x width", such as "3x32x32") and
        ``pixels`` (whole numbers from 0 to 255 with spaces between them, channel by channel).
        Rows without pixels are left out. With more columns than fit, the rows of
        pictures are broken and go on below.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or the pixels do not fill the shape.
    """
    check_columns(table, _COLUMNS)
    table = table[table["pixels"].fillna("") != ""].copy()
    if table.empty:
        raise InputError("no picture in the table: records of features only cannot be shown")
    rows, columns = list(table["row"].unique()), list(table["column"].unique())
    n_blocks = -(-len(columns) // (MOST_NARROW if is_narrow() else MOST_PICTURES))
    blocks = [list(block) for block in np.array_split(np.array(columns, dtype=object), n_blocks)]
    lines = [(block, row) for block in blocks for row in rows]
    # Names stand left of the pictures, or above them where there is no room.
    left = 0.05 if is_narrow() else _LETTER * max(len(str(row)) for row in rows) + 0.15
    pitch = min((width() - left) / len(blocks[0]), _WIDEST)
    left += (width() - left - pitch * len(blocks[0])) / 2
    side = min(pitch - _GAP, _SIDE_NARROW if is_narrow() else _SIDE)
    table["text"] = [_wrapped(text, pitch) for text in table["text"].fillna("").astype(str)]
    parts = [table[table["column"].isin(block) & (table["row"] == row)] for block, row in lines]
    above = 0.05
    tall = [side + _GAP + _LINE * (_deepest(part["text"]) + is_narrow()) for part in parts]
    height = above + sum(tall)
    with style():
        figure = Figure(figsize=(width(), height))
        for i, ((block, row), cells) in enumerate(zip(lines, parts, strict=True)):
            up = height - above - sum(tall[:i]) - side - _LINE * is_narrow()
            places = [left + pitch * block.index(column) for column in cells["column"]]
            for x, cell in zip(places, cells.itertuples(), strict=True):
                box = (x / width(), up / height, side / width(), side / height)
                axis = figure.add_axes(box)
                axis.set_axis_off()
                _show(axis, cell)
            _name(figure, str(row), left, up, side)
    return figure


def _deepest(texts: pd.Series) -> int:
    """How many lines the longest of the texts has."""
    return max((len(text.split("\n")) for text in texts if text), default=0)


def _wrapped(text: str, inches: float) -> str:
    """Lines below a picture, none wider than what it has of the row."""
    letters = max(int(inches / (0.58 * _TEXT / 72)), 4)
    return "\n".join(
        textwrap.fill(line, letters, break_long_words=False) for line in text.split("\n")
    )


def _name(figure: Figure, name: str, left: float, up: float, side: float) -> None:
    width, height = figure.get_size_inches()
    if is_narrow():
        figure.text(left / width, (up + side + 0.04) / height, name, fontsize=9, va="bottom")
    else:
        place = ((left - 0.1) / width, (up + side / 2) / height)
        figure.text(*place, name, fontsize=9, va="center", ha="right")


def optimisation(
    table: pd.DataFrame,
    *,
    labels: tuple[str, str] = ("step of Adam", "KL (nats)"),
    log_x: bool = False,
) -> Figure:
    """A search: its pictures step by step, and the value of every start below them.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows with ``pixels`` are pictures as in `image_grid`; the others are points of curves:
        columns ``series``, ``step`` and ``kl``, drawn on a logarithmic axis.
    labels : (str, str)
        Of the axes of the curves.
    log_x : bool
        Whether their horizontal axis is logarithmic.

    Raises
    ------
    InputError
        A column is missing or the table is empty.
    """
    check_columns(table, [*_COLUMNS, "series", "step", "kl"])
    is_picture = table["pixels"].fillna("") != ""
    shown, curves = table[is_picture], table[~is_picture]
    looks = series([str(name) for name in curves["series"].unique()])
    with style():
        lines = _lines(shown)
        rows = max(len(lines), 1)
        tall = (0.9 * rows + 0.2, 2.6 if is_narrow() else 2.1)
        figure = Figure(figsize=(width(), sum(tall)), layout="constrained")
        # pyrefly: ignore[not-iterable] - two of them are an array
        upper, lower = figure.subfigures(2, 1, height_ratios=tall)
        axes = upper.subplots(rows, max(map(len, lines), default=1), squeeze=False)
        for axis in axes.ravel():
            axis.set_axis_off()
        for row, cells in zip(axes, lines, strict=False):
            for axis, cell in zip(row, cells.itertuples(), strict=False):
                _show(axis, cell)
        axis = lower.subplots()
        for label, look in looks.items():
            of = curves[curves["series"].astype(str) == label]
            line = {"color": look["color"], "linestyle": look["linestyle"], "label": label}
            axis.plot(of["step"], of["kl"], **line)
        below = textwrap.fill(labels[0], _LABEL) if is_narrow() else labels[0]
        axis.set(yscale="log", xlabel=below, ylabel=labels[1])
        if log_x:
            axis.set(xscale="log")
            plain(axis.xaxis)
        plain(axis.yaxis)
        if is_narrow():
            legend_above(lower, [axis])
        else:
            lower.legend(loc="outside right upper")
    return figure


def _lines(shown: pd.DataFrame) -> list[pd.DataFrame]:
    """The pictures of each line: a row's, or as many as a phone has room for of each, in turns."""
    columns = shown["column"].unique()
    n_blocks = -(-len(columns) // MOST_BESIDE) if is_narrow() else 1
    return [
        part[part["column"].isin(block)]
        for block in np.array_split(columns, max(n_blocks, 1))
        for _, part in shown.groupby("row", sort=False)
    ]


def picture(shape: str, pixels: str) -> np.ndarray:
    """The picture that a table's cells hold, as (height, width) or (height, width, 3) of uint8.

    Raises
    ------
    InputError
        The pixels do not fill the shape, are no numbers, or there are neither 1 nor 3 channels.
    """
    try:
        size = tuple(int(part) for part in shape.split("x"))
        values = np.array([int(part) for part in pixels.split()], dtype=np.uint8).reshape(size)
    except (ValueError, OverflowError) as error:
        raise InputError(f"a picture of shape {shape!r} has unreadable pixels: {error}") from error
    if len(size) != 3 or size[0] not in (1, 3):
        raise InputError(f"a picture of shape {shape!r}: expected 1 or 3 channels x height x width")
    return values[0] if size[0] == 1 else values.transpose(1, 2, 0)


def _show(axis: Axes, cell: Any) -> None:
    looks = {"cmap": "gray", "vmin": 0, "vmax": 255, "interpolation": "none"}
    shown = picture(cell.shape, cell.pixels)
    # A line of bars, one a feature, fills the square.
    axis.imshow(shown, aspect="auto" if len(shown) == 1 else "equal", **looks)
    if isinstance(cell.text, str) and cell.text:
        below = {"ha": "center", "va": "top", "transform": axis.transAxes, "fontsize": _TEXT}
        axis.text(0.5, -0.04, cell.text, **below)
