"""The look of every figure: read in colour, in grey, in print and on a dark page; its panels."""

import base64
import io
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from membership.attacks import looks
from membership.attacks.looks import (
    BLACK,
    BLUE,
    GREEN,
    LINES,
    MARKERS,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
)
from membership.errors import InputError
from membership.plots.compact import compact

WIDTH, NARROW = 7.0, 3.25
"""Width of a full figure, and of one for a phone or a column of a paper, inches."""
MOST_COLUMNS = 3
"""Panels side by side at most."""
_HEIGHT = 2.0
"""Of a panel among several rows, inches."""
_HANDLE, _LETTER = 5.0, 0.6
"""A legend's line with the gaps around it, and a letter or digit, in ems."""
_ENTRY = 1.5
"""The height of a legend's row, in ems."""
_is_narrow: ContextVar[bool] = ContextVar("narrow", default=False)

COLOURS = (BLUE, VERMILION, GREEN, PINK, BLACK, ORANGE, SKY)
MOST_COLOURS = 4
"""Series in colour in one figure; the rest are grey."""
MOST_SERIES = 7
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---", "ooo")
GREY = "#555555"
REST = "#8F8F8F"
"""Of a series that the figure is not about."""
_RAMP = ("#7CC4EC", "#002C47")
"""From the least to the most of one quantity."""
_NUMBER = re.compile(r"\bno\b|-?\d[\d.,]*")

_FONT = "Membership Sans"
_FONTS = resources.files(__package__) / "fonts"
"""A subset of IBM Plex Sans, under a name of its own as its licence asks, and that licence."""

_RC = {
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.transparent": False,
    "font.family": _FONT,
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
    # Text stays text: a reader can search it, and a browser draws it sharp.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # A `$` in a name is no formula.
    "text.parse_math": False,
}
# At the width of a phone a figure is shown as large as it is drawn.
_RC_NARROW = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
}
# Letters are as wide as the format's own measure of them has it.
_CANVAS = {"svg": FigureCanvasSVG, "pdf": FigureCanvasPdf}
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


@contextmanager
def style() -> Iterator[None]:
    """The style as a context manager: ``with plots.style(): ...``; nothing outside it changes.

    It begins from matplotlib's own defaults: no setting of the reader's (``text.usetex``, which
    calls LaTeX) is left in it.
    """
    _load_font()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(sns.axes_style("ticks") | _RC | (_RC_NARROW if is_narrow() else {}))
        yield


@cache
def _load_font() -> None:
    """Make the font known to matplotlib, once."""
    with resources.as_file(_FONTS / "sans.ttf") as path:
        font_manager.fontManager.addfont(path)


@contextmanager
def narrow() -> Iterator[None]:
    """What is drawn within is as wide as a phone: panels below each other, text at its size."""
    before = _is_narrow.set(True)
    try:
        yield
    finally:
        _is_narrow.reset(before)


def is_narrow() -> bool:
    """Whether figures are drawn for a phone."""
    return _is_narrow.get()


def width() -> float:
    """How wide a figure is to be, inches."""
    return NARROW if is_narrow() else WIDTH


def room(columns: int) -> int:
    """How many letters of a title fit above one of several panels side by side."""
    return int(11.3 * width() / columns)


def broken(title: str, letters: int) -> str:
    """A title in two lines where it is longer than its panel, after its colon if it has one."""
    if len(title) > letters and ": " in title:
        return title.replace(": ", ":\n", 1)
    return textwrap.fill(title, letters)


def new_figure(height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with a row of panels (narrow: a stack), known to no global list of figures."""
    if is_narrow() and columns > 1:
        figure = Figure(figsize=(width(), 0.5 + _HEIGHT * columns), layout="constrained")
        return figure, list(figure.subplots(columns, 1))
    figure = Figure(figsize=(width(), height), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def label_rows(axes: list[Axes], label: str) -> None:
    """A common vertical label, at the first panel of each row."""
    for axis in axes:
        place = axis.get_subplotspec()
        if place is not None and place.is_first_col():
            axis.set_ylabel(label)


def new_panels(count: int) -> tuple[Figure, list[Any], list[bool]]:
    """A figure of the full width with panels in as few rows as three a row allow."""
    rows = count if is_narrow() else -(-count // MOST_COLUMNS)
    columns = -(-count // rows)
    height = 2.5 if rows == 1 else 0.5 + _HEIGHT * rows
    engine = ConstrainedLayoutEngine(w_pad=0.08)
    figure = Figure(figsize=(width(), height), layout=engine)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axis in axes[count:]:
        axis.remove()
    for axis in axes[:count]:
        # A number of ticks that depends on the panel's height would depend on the layout, which
        # depends on the width of their labels: a label then lies outside of the figure.
        axis.locator_params(axis="y", nbins=5)
    return figure, axes[:count], [place + columns >= count for place in range(count)]


def series(
    names: list[str], hero: str = "", coloured: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Colour, line and marker of each name: an attack's own, and of others what is left.

    Of more than four names those that are `coloured` keep their colour, the first four unless
    given; numbers of one quantity are shades of one colour.
    """
    if len(names) > MOST_SERIES:
        raise InputError(f"{len(names)} series in one figure; at most {MOST_SERIES} can be read")
    ranked = sorted(names, key=lambda name: name != hero) if hero else names
    shades = _shades(names)
    single = [name for name in ranked if name not in shades]
    bright = set(coloured or single[: MOST_COLOURS - bool(shades)])
    bright = set(single) if len(names) <= MOST_COLOURS else bright
    ranked = sorted(ranked, key=lambda name: name not in bright)
    own = {name: look for name in ranked if (look := looks.of_series(name))}
    free = [c for c in COLOURS if c not in {looks.hue(look) for look in own.values()}]
    free = [colour for colour in free if not (shades and colour == COLOURS[0])]
    taken: set[Any] = {(look.marker, look.line) for look in own.values()}
    marks, found = iter(MARKERS), {}
    for name in ranked:
        look = own.get(name)
        if look is None or look in found.values():
            colour = look.colour if look else shades.get(name) or free.pop(0)
            marker = next(mark for mark in marks if all(mark != each for each, _ in taken))
            look = looks.Look(colour, marker, LINES[len(found) % len(LINES)])
        found[name] = look
    return {name: _as_drawn(found[name], name in bright or name in shades) for name in names}


def _as_drawn(look: looks.Look, is_bright: bool) -> dict[str, Any]:
    colour = look.colour if is_bright else REST
    return {"color": colour, "linestyle": look.line, "marker": look.marker}


def in_front(look: dict[str, Any]) -> dict[str, float]:
    """Width and place of a line: a broken one lies on a whole one, which is wider, and on grey."""
    if look["color"] == REST:
        return {"linewidth": 1.2, "zorder": 1.9}
    return {"linewidth": 2.4, "zorder": 2.0} if look["linestyle"] == "-" else {"zorder": 2.2}


def _shades(names: list[str]) -> dict[str, str]:
    """A shade for each name that differs from two others at least in its number only."""
    kinds = [_NUMBER.sub("#", name).rstrip("s") for name in names]
    alike = [name for name, kind in zip(names, kinds, strict=True) if kinds.count(kind) > 2]
    shades = sns.blend_palette(_RAMP, len(alike)).as_hex() if alike else []
    return dict(zip(alike, shades, strict=True))


def panels_of(
    table: pd.DataFrame,
    panel: str,
    draw: Callable[[Axes, Any, pd.DataFrame], None],
    new: Callable[[int], tuple[Figure, list[Any]]] | None = None,
    *,
    y_label: str = "",
    legend: bool = True,
) -> Figure:
    """A figure with a panel for each value of a column, which `draw` fills, and one legend."""
    names = list(table[panel].unique())
    with style():
        figure, axes = (new or (lambda count: new_panels(count)[:2]))(len(names))
        for name, axis in zip(names, axes, strict=True):
            draw(axis, name, table[table[panel] == name])
        if y_label:
            label_rows(axes, y_label)
        if legend:
            legend_above(figure, axes)
    return figure


def by_series(
    rows: pd.DataFrame, by: str, looks: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any], pd.DataFrame]]:
    """Name, look and rows of each series that the rows have, in the order of the looks."""
    for name, look in looks.items():
        part = rows[rows[by].astype(str) == name]
        if len(part):
            yield name, look, part


def series_of(
    table: pd.DataFrame, by: str, hero: str = "", coloured: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """The look of each series in a column."""
    return series([str(name) for name in table[by].unique()], hero, coloured)


def legend_above(figure: Figure, axes: list[Any], without: Collection[str] = ()) -> None:
    """One legend for all the panels, above them, where it hides no data.

    In as few rows as its entries fit in, and as many entries in each: none is left alone.
    Those `without` have their names elsewhere.
    """
    pairs = [pair for axis in axes for pair in zip(*axis.get_legend_handles_labels(), strict=True)]
    # The series themselves (bars, lines with intervals) come before what is drawn around them.
    pairs.sort(key=lambda pair: not isinstance(pair[0], Container))
    by_label = {label: handle for handle, label in reversed(pairs)}
    labels = list(dict.fromkeys(label for _, label in pairs if label not in without))
    if not labels:
        return
    handles = [by_label[label] for label in labels]
    em = mpl.rcParams["legend.fontsize"] / 72
    labels = [textwrap.fill(label, int((width() / em - _HANDLE) / _LETTER)) for label in labels]
    sizes = [em * (_HANDLE + _LETTER * max(map(len, label.split("\n")))) for label in labels]
    fitting = (n for n in range(1, len(sizes)) if _legend_width(sizes, n) <= width())
    rows = next(fitting, len(labels))
    columns = -(-len(labels) // rows)
    if isinstance(figure, Figure):
        figure.set_figheight(figure.get_figheight() + _ENTRY * em * (rows - 1))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def _legend_width(sizes: list[float], rows: int) -> float:
    """The width of a legend whose entries of these sizes stand in columns of so many rows."""
    return sum(max(part) for part in np.array_split(sizes, -(-len(sizes) // rows)))


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
    with style(), _laid_out(figure, fmt):
        figure.savefig(content, format=fmt, metadata=_METADATA[fmt])
    drawn = content.getvalue()
    return _with_font(compact(drawn)) if fmt == "svg" else drawn


def _with_font(drawn: bytes) -> bytes:
    """An SVG with its font in it: text was placed by its widths, and pictures load nothing."""
    named = f"'{_FONT}'".encode()
    if named not in drawn:
        return drawn
    font = base64.b64encode((_FONTS / "sans.woff2").read_bytes())
    face = b"@font-face{font-family:%s;src:url(data:font/woff2;base64,%s)}" % (named, font)
    return drawn.replace(named, named + b", sans-serif").replace(b"</style>", face + b"</style>", 1)


@contextmanager
def _laid_out(figure: Figure, fmt: str) -> Iterator[None]:
    """Lay a figure out for a format, once.

    matplotlib itself would draw the figure for that, and then again to save it: the same bytes for
    half as much work again.
    """
    engine, dpi = figure.get_layout_engine(), figure.dpi
    if engine is None or fmt not in _CANVAS:
        yield
        return
    _CANVAS[fmt](figure)
    try:
        engine.execute(figure)
        figure.dpi = dpi
        figure.set_layout_engine(None)
        yield
    finally:
        figure.set_layout_engine(engine)


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


_MARGIN = 0.7
"""Inches beside a panel."""
_SMALL = 1e-3
"""Numbers below have too many zeros to be read."""
_LONGEST = 5
"""Letters of a round number at most."""
_DECADES = 1.3
"""On shorter axes powers of ten alone are too few labels."""


def plain(axis: Axis, *, unit: float = 1.0) -> None:
    """Label a logarithmic axis by "0.01": a raised exponent would be too small to read."""
    low, high = axis.get_view_interval()
    short = np.log10(high / low) < _DECADES
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if short else (1,), numticks=5))
    axis.set_major_formatter(FuncFormatter(lambda x, _: _digits(x / unit)))
    axis.set_minor_formatter(NullFormatter())


def at_values(axes: Sequence[Axes], values: np.ndarray, inches: float) -> None:
    """Logarithmic horizontal axes of so many inches, labelled at those values that stand apart.

    Where the values are no round numbers, at powers of ten.
    """
    size = mpl.rcParams["xtick.labelsize"] / 72
    width = max(inches - _MARGIN, _MARGIN) / max(np.ptp(np.log10(values)), 1e-9)
    chosen = list(_apart(values, width, size))
    is_round = max(len(_digits(value)) for value in values) <= _LONGEST
    for axis in axes:
        axis.set_xscale("log")
        if not is_round:
            plain(axis.xaxis)
            continue
        axis.xaxis.set_major_locator(FixedLocator(chosen))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _digits(x)))
        axis.xaxis.set_minor_locator(NullLocator())


def _apart(values: np.ndarray, per_decade: float, size: float) -> Iterator[float]:
    """Values in order, without those whose label would touch the one before."""
    end = -np.inf
    for value in values:
        half = size * _LETTER * len(_digits(value)) / 2
        place = np.log10(value) * per_decade
        if place - half > end:
            yield value
            end = place + half + size * _LETTER


def _digits(x: float) -> str:
    return f"{x:.0e}".replace("e-0", "e-") if x < _SMALL else f"{x:g}"
