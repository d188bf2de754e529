"""How one step grows: its seconds at three sizes, each in a process of its own, and a power law."""

import math
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

# A set-up gives the work to time, and by how much its seconds stand for the whole.
SetUp = Callable[[int], tuple[Callable[[], object], float]]
LEVEL = 0.95


@dataclass(frozen=True)
class Step:
    """One step to be measured.

    Attributes
    ----------
    name, unit : str
        What is done, and what its size counts.
    sizes : tuple of int
        Rising.
    ours : callable
    plain : callable, optional
        What one would write first, or another library; timed at the largest size.
    peer : str
        What that is.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    ours: SetUp
    plain: SetUp | None = None
    peer: str = ""


def measured(step: Step, repeats: int = 3) -> dict[str, object]:
    """One row: seconds and memory at the largest size, the exponent, the ratio to the plain way."""
    found = [_apart(step.ours, step.sizes[0], size, repeats) for size in step.sizes]
    seconds = [one for one, _ in found]
    slope, low, high = exponent(step.sizes, seconds)
    last = statistics.median(seconds[-1])
    plain = None
    if step.plain is not None:
        plain = statistics.median(_apart(step.plain, step.sizes[0], step.sizes[-1], 1)[0])
    return {
        "step": step.name,
        "size": f"{step.sizes[-1]:,} {step.unit}",
        "seconds": last,
        "GB": found[-1][1],
        "exponent": slope,
        "low": low,
        "high": high,
        "times": None if plain is None else plain / last,
        "against": step.peer,
    }


def exponent(sizes: tuple[int, ...], seconds: list[list[float]]) -> tuple[float, float, float]:
    """The power of the size that the seconds grow with, and its interval.

    By least squares on logarithms of all repeats; NaN where they are too few for an interval.
    """
    x = np.repeat(np.log(sizes), [len(some) for some in seconds])
    y = np.log(np.concatenate(seconds))
    fit = stats.linregress(x, y)
    if len(x) < 3:
        return float(fit.slope), math.nan, math.nan
    half = stats.t.isf((1 - LEVEL) / 2, len(x) - 2) * fit.stderr
    return float(fit.slope), float(fit.slope - half), float(fit.slope + half)


def shown(rows: list[dict[str, object]]) -> pd.DataFrame:
    """The rows as a table for people, at most 80 columns wide."""
    return pd.DataFrame(
        [
            {
                "step": row["step"],
                "size": row["size"],
                "s": _digits(row["seconds"]),
                "GB": f"{row['GB']:.1f}",
                # Least squares: the interval is symmetric.
                "grows": f"n^{row['exponent']:.1f} ±{row['high'] - row['exponent']:.1f}",
                "times": ""
                if row["times"] is None
                else f"{_digits(row['times'])} {row['against']}",
            }
            for row in rows
        ]
    )


def _worth(times, against) -> str:
    return "" if times is None else f"{_digits(times)} {against}"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _apart(set_up: SetUp, least: int, size: int, repeats: int) -> tuple[list[float], float]:
    """Seconds, and the peak memory in GB, of a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_alone, (set_up, least, size, repeats))


def _alone(set_up: SetUp, least: int, size: int, repeats: int) -> tuple[list[float], float]:
    # Loads what is loaded on first use.
    set_up(least)[0]()
    work, times = set_up(size)
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        seconds.append((time.perf_counter() - began) * times)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
