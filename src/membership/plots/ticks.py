"""Ticks of logarithmic axes: plain numbers, as large as the other text, and apart."""

from collections.abc import Iterator, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

_LETTER = 0.64
"""Width of a digit, in ems."""
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
