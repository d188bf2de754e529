"""Names at the right ends of lines, in the place of a legend."""

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb

from membership.plots.look import GREY, REST

WIDTH = 1.3
"""Inches that names take at most."""
_LETTERS = 19
_SIZE = 9
_LINE = 1.2 * _SIZE / 72
"""Inches from a line of text to the next."""
_FARTHEST = 0.5
"""Of a panel's width: a line that ends before it is not named at the panel's end."""
_PALE = 0.4
Ends = dict[str, tuple[dict[str, Any], float, float]]
"""The look of each line by its name, and where it ends."""


def of_lines(rows: pd.DataFrame, x: str, y: str) -> tuple[float, float]:
    """Where a line ends on the right."""
    shown = rows.dropna(subset=[y])
    return (shown[x].iloc[-1], shown[y].iloc[-1]) if len(shown) else (np.nan, np.nan)


def label_ends(drawn: Iterable[tuple[Axes, Ends]], inches: float) -> set[str]:
    """Name lines beside the last panel of each row, of so many inches, and return their names.

    Nothing is named, and the set is empty, where a line ends far from the panel's end, or would
    have no name.
    """
    drawn = list(drawn)
    last = [(axis, ends) for axis, ends in drawn if ends and _is_last(axis)]
    places = [(axis, ends, _places(axis, ends)) for axis, ends in last]
    named = {name for _, ends, _ in places for name in ends}
    is_far = any((at[:, 0] < _FARTHEST).any() for _, _, at in places)
    if is_far or named != {name for _, ends in drawn for name in ends}:
        return set()
    for axis, ends, at in places:
        names = [textwrap.fill(name, _LETTERS) for name in ends]
        tall = np.array([_LINE * (1 + name.count("\n")) for name in names]) / inches
        colours = [look["color"] for look, *_ in ends.values()]
        for name, colour, height in zip(names, colours, apart(at[:, 1], tall), strict=True):
            ink = {"color": _ink(colour), "fontsize": _SIZE, "linespacing": 1.0}
            beside = {"xycoords": "axes fraction", "annotation_clip": False, "va": "center"}
            axis.annotate(name, (1.01, height), **beside, **ink)
    return named


def _is_last(axis: Axes) -> bool:
    """Whether a panel stands in the last column."""
    own = axis.get_subplotspec()
    return own is not None and own.colspan.stop == own.get_gridspec().ncols


def _places(axis: Axes, ends: Ends) -> np.ndarray:
    """The ends as shares of the panel's width and height."""
    axis.get_xlim(), axis.get_ylim()  # What is drawn sets them when they are asked for.
    at = np.array([place for _, *place in ends.values()], dtype=float)
    return axis.transAxes.inverted().transform(axis.transData.transform(at))


def apart(heights: np.ndarray, tall: np.ndarray) -> np.ndarray:
    """Heights near those given at which texts so tall do not touch, in the same order."""

    def edges(block: list[int]) -> tuple[float, float]:
        middle, half = heights[block].mean(), tall[block].sum() / 2
        return float(middle - half), float(middle + half)

    order = np.argsort(heights, kind="stable")
    # Each block of texts that touch stands around the mean of where they would stand.
    blocks: list[list[int]] = []
    for text in order:
        blocks.append([int(text)])
        while len(blocks) > 1 and edges(blocks[-2])[1] > edges(blocks[-1])[0]:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    found = np.empty(len(heights))
    for block in blocks:
        edge, _ = edges(block)
        for text in block:
            found[text] = edge + tall[text] / 2
            edge += tall[text]
    return found


def _ink(colour: str) -> str:
    """A colour dark enough for letters."""
    if colour == REST:
        return GREY
    light = float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))
    return to_hex(np.array(to_rgb(colour)) * min(1.0, _PALE / light)) if light else colour
