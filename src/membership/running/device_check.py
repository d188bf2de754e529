"""Every gathering step on the CPU and on the GPU: seconds of both, and how far they are apart.

``make check-gpu`` shows it. A chapter trains and asks its models on the device; what it makes of
their answers is the CPU's.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from membership import evidence
from membership.errors import InputError
from membership.running import cluster
from membership.running.chapter_files import settings_class
from membership.running.notebook import check

# Root mean square of the differences over that of the values: rounding in another order, which
# training in single precision has some hundred steps to enlarge.
TOLERANCE = 0.01
COLUMNS = ["evidence", "CPU (s)", "GPU (s)", "apart", ""]


@dataclass(frozen=True)
class Step:
    """One gathering step on both devices.

    Attributes
    ----------
    chapter, evidence : str
    seconds : tuple of float
        On the CPU, on the GPU.
    apart : float
        See `apart`; NaN for evidence that holds seconds, which differ.
    error : str
        What the GPU's run ended with, "" for evidence.
    """

    chapter: str
    evidence: str
    seconds: tuple[float, float]
    apart: float
    error: str = ""

    @property
    def is_good(self) -> bool:
        """Whether it ran and its evidence is within the tolerance."""
        return not self.error and not self.apart > TOLERANCE


def steps(chapter: str, profile: str) -> Iterator[Step]:
    """Gather each evidence of a chapter on the CPU and on the GPU."""
    here, there = (_source(chapter, profile, place) for place in ("cpu", "cuda"))
    for name in here.gatherers():
        began = time.perf_counter()
        expected = evidence.load(here.gather(name))
        middle = time.perf_counter()
        actual, error = None, ""
        try:
            actual = evidence.load(there.gather(name))
        except (RuntimeError, InputError) as failure:
            error = (str(failure).splitlines() or [type(failure).__name__])[0]
        seconds = (middle - began, time.perf_counter() - middle)
        timed = name.startswith(cluster.TIMED) or actual is None
        yield Step(chapter, name, seconds, math.nan if timed else apart(expected, actual), error)


def _source(chapter: str, profile: str, device: str):
    strings = {"profile": profile, "device": device}
    return cluster.source(check(chapter, settings_class(chapter).typed(strings)))


def apart(expected: xr.Dataset, actual: xr.Dataset) -> float:
    """The largest relative difference of any variable, in root mean squares; 0 where equal."""
    if set(expected.variables) != set(actual.variables):
        return math.inf
    return max((_apart(expected[name], actual[name]) for name in expected.variables), default=0.0)


def _apart(expected: xr.DataArray, actual: xr.DataArray) -> float:
    if expected.shape != actual.shape:
        return math.inf
    if not np.issubdtype(expected.dtype, np.number) or expected.size == 0:
        return 0.0 if np.array_equal(expected, actual) else math.inf
    left, right = (np.asarray(values, dtype=np.float64) for values in (expected, actual))
    differs = ~((left == right) | (np.isnan(left) & np.isnan(right)))
    if not np.isfinite(left[differs] - right[differs]).all():
        return math.inf
    size = np.linalg.norm(left[np.isfinite(left)])
    distance = np.linalg.norm(left[differs] - right[differs])
    return float(distance / size) if size else (math.inf if distance else 0.0)


def cells(step: Step) -> list[str]:
    """A step as a row of the table."""
    figure = "seconds" if math.isnan(step.apart) and not step.error else f"{step.apart:.1e}"
    return [
        f"{step.chapter} {step.evidence}",
        *(f"{seconds:.1f}" for seconds in step.seconds),
        "-" if step.error else figure,
        "" if step.is_good else "differs",
    ]
