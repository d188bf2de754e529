"""Small pictures in rows: records, and what was made of them."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from membership.errors import InputError
from membership.plots.look import WIDTH, check_columns, series, style

MOST_PICTURES = 10
"""Pictures side by side at most."""
_COLUMNS = ["row", "column", "text", "shape", "pixels"]


def image_grid(table: pd.DataFrame, *, title: str = "") -> Figure:
    """Pictures in named rows, in the order of the table, at most ten a row.

    Parameters
    ----------
    table : pandas.DataFrame
        One row a picture. Columns ``row`` and ``column`` (its place), ``text`` (a few letters
        below it, or empty), ``shape`` ("channels x height x width", such as "3x32x32") and
        ``pixels`` (whole numbers from 0 to 255 with spaces between them, channel by channel).
        Rows without pixels are left out. With more columns than fit, the rows of
        pictures are broken and go on below.
    title : str
        Above the pictures.

    Raises
    ------
    InputError
        A column is missing, the table is empty, or the pixels do not fill the shape.
    """
    check_columns(table, _COLUMNS)
    table = table[table["pixels"].fillna("") != ""]
    if table.empty:
        raise InputError("no picture in the table: records of features only cannot be shown")
    rows, columns = list(table["row"].unique()), list(table["column"].unique())
    blocks = [columns[i : i + MOST_PICTURES] for i in range(0, len(columns), MOST_PICTURES)]
    width = len(blocks[0])
    side = (WIDTH - 1.2) / max(width, MOST_PICTURES)
    lines = table["text"].fillna("").str.count("\n").max() + 1
    height = len(blocks) * len(rows) * (side + 0.08 + 0.12 * lines) + (0.35 if title else 0.1)
    with style():
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots(len(blocks) * len(rows), width, squeeze=False)
        for axis in axes.flat:
            axis.set_axis_off()
        for i, block in enumerate(blocks):
            part = table[table["column"].isin(block)]
            for j, row in enumerate(rows):
                line = axes[i * len(rows) + j]
                _name(line[0], str(row))
                for picture in part[part["row"] == row].itertuples():
                    _show(line[block.index(picture.column)], picture)
        if title:
            figure.suptitle(title, fontsize=10)
    return figure


def optimisation(table: pd.DataFrame) -> Figure:
    """A search: its pictures step by step, and the value of every start below them.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows with ``pixels`` are pictures as in `image_grid`, in one row; the others are points of
        curves: columns ``series``, ``step`` and ``kl``, drawn on a logarithmic axis.

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
        figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
        upper, lower = figure.subfigures(2, 1, height_ratios=(1.1, 2.1))
        axes = upper.subplots(1, max(len(shown), 1), squeeze=False)[0]
        for axis in axes:
            axis.set_axis_off()
        for axis, cell in zip(axes, shown.itertuples(), strict=False):
            _show(axis, cell)
        axis = lower.subplots()
        for label, look in looks.items():
            rows = curves[curves["series"].astype(str) == label]
            line = {"color": look["color"], "linestyle": look["linestyle"], "label": label}
            axis.plot(rows["step"], rows["kl"], **line)
        axis.set(yscale="log", xlabel="step of Adam", ylabel="KL (nats)")
        lower.legend(loc="outside right upper")
    return figure


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


def _show(axis: Axes, cell: object) -> None:
    looks = {"cmap": "gray", "vmin": 0, "vmax": 255, "interpolation": "none"}
    axis.imshow(picture(cell.shape, cell.pixels), **looks)
    if isinstance(cell.text, str) and cell.text:
        below = {"ha": "center", "va": "top", "transform": axis.transAxes, "fontsize": 7}
        axis.text(0.5, -0.04, cell.text, **below)


def _name(axis: Axes, name: str) -> None:
    """The row's name left of its first picture; a hidden axis shows no label of its own."""
    place = {"xytext": (-6, 0), "textcoords": "offset points", "xycoords": "axes fraction"}
    axis.annotate(name, (0, 0.5), ha="right", va="center", fontsize=8, **place)
