"""What a run of the book gathers, piece by piece: planned, timed, and compared across devices.

`workflow/Snakefile` reads the plan, so that each piece has a job of its own and names the same
files as a run without it. `make on-gpu` shows the comparison: a chapter trains and asks its
models on the device; what it makes of their answers is the CPU's.
"""

import csv
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from membership import evidence, paths
from membership.book.exhibits.declaration import declared
from membership.book.exhibits.source import Source
from membership.book.running.chapter_files import settings_class
from membership.book.running.notebook import check
from membership.book.settings import ChapterSettings
from membership.errors import InputError, suggest
from membership.training.cache import Cache

# What trains comes before what looks at the trained models again: (kind, after which kind).
AFTER = {
    **dict.fromkeys(("posterior", "variants", "measured", "times", "costs", "qmia"), "outputs"),
    **dict.fromkeys(("white-box", "solvers"), "outputs"),
    **dict.fromkeys(("sweep", "known"), "white-box"),
}
# Kinds whose models, or looks at a model, several jobs can share.
SHARED = ("outputs", "white-box")
# Kinds that hold seconds: nothing else may use the machine meanwhile.
TIMED = ("times", "costs", "measured-times")
SECONDS_OF_A_SHARE, MOST_SHARES = 600, 16
COLUMNS = ("profile", "chapter", "evidence", "seconds", "gigabytes")


@dataclass(frozen=True)
class Piece:
    """One file of evidence to be gathered.

    Attributes
    ----------
    chapter, evidence : str
    file : str
        Where in the cache it lies, or will lie: named by all that determines it.
    there : bool
    after : str
        The evidence that is gathered before it, "" for none.
    shares : int
        Jobs that share the work, 1 where it is short or cannot be shared.
    timed : bool
        Whether it holds seconds and wants the machine to itself.
    seconds, gigabytes : float or None
        The most that it took when gathered with `--measured`; None: never.
    """

    chapter: str
    evidence: str
    file: str
    there: bool
    after: str
    shares: int
    timed: bool
    seconds: float | None
    gigabytes: float | None


def source(settings: ChapterSettings) -> Source:
    """What gathers a chapter's evidence under these settings."""
    return Source(settings, declared(settings.chapter))


def plan(
    names: Sequence[str], strings: Mapping[str, str], measured: Path, shares: int = 0
) -> list[Piece]:
    """Every piece of evidence of some chapters, in an order in which they can be gathered.

    `measured` is the file of `remember`, if it is there; 0 `shares`: one for each ten minutes that
    a piece was measured to take.
    """
    known = costs(measured)
    return [
        piece for name in names for piece in _of_chapter(_checked(name, strings), known, shares)
    ]


def _checked(chapter: str, strings: Mapping[str, str]) -> ChapterSettings:
    return check(chapter, settings_class(chapter).typed(strings))


def _of_chapter(settings: ChapterSettings, known: dict, shares: int) -> list[Piece]:
    from_settings = source(settings)
    gatherers, pieces = from_settings.gatherers(), []
    for name in gatherers:
        file = from_settings.address(name)
        seconds, gigabytes = known.get((settings.profile, settings.chapter, name), (None, None))
        several = shares or min(MOST_SHARES, math.ceil((seconds or 0) / SECONDS_OF_A_SHARE)) or 1
        pieces.append(
            Piece(
                settings.chapter,
                name,
                str(file.absolute()),
                file.is_file(),
                _after(name, gatherers),
                several if name.startswith(SHARED) else 1,
                name.startswith(TIMED),
                seconds,
                gigabytes,
            )
        )
    return pieces


def _after(name: str, gatherers: Mapping[str, object]) -> str:
    """What is gathered before this: of the same models, so that they are trained once."""
    for kind, first in AFTER.items():
        if name.startswith(f"{kind}-") and f"{first}-{name.removeprefix(f'{kind}-')}" in gatherers:
            return f"{first}-{name.removeprefix(f'{kind}-')}"
    return ""


def gatherer(settings: ChapterSettings, name: str) -> Source:
    """The source of one file of evidence."""
    from_settings = source(settings)
    if name not in from_settings.gatherers():
        known = list(from_settings.gatherers())
        raise InputError(f"unknown evidence {suggest(name, known, 'files')}")
    return from_settings


def costs(file: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Seconds and gigabytes by (profile, chapter, evidence), as `remember` wrote them.

    Raises
    ------
    InputError
        The file cannot be read as such a table.
    """
    if not file.is_file():
        return {}
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            rows = list(reader)
        if reader.fieldnames not in (None, list(COLUMNS)):
            raise ValueError("other columns")
        return {
            (row["profile"], row["chapter"], row["evidence"]): (
                float(row["seconds"]),
                float(row["gigabytes"]),
            )
            for row in rows
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file} is no table of measured pieces; its columns are {', '.join(COLUMNS)}"
        ) from error


def remember(
    file: Path, settings: ChapterSettings, name: str, seconds: float, gigabytes: float
) -> None:
    """Enter what a piece took into a CSV file, unless more stands there.

    A piece that was resumed, or shared, takes less than the whole.
    """
    with Cache().lock("measured"):
        known = costs(file)
        key = (settings.profile, settings.chapter, name)
        took = (round(seconds, 1), round(gigabytes, 2))
        known[key] = tuple(map(max, took, known.get(key, took)))
        rows = [",".join(map(str, (*key, *value))) for key, value in sorted(known.items())]
        paths.atomic_write(file, "\n".join([",".join(COLUMNS), *rows, ""]))


# Root mean square of the differences over that of the values: rounding in another order, which
# training in single precision has some hundred steps to enlarge.
TOLERANCE = 0.01
DEVICE_COLUMNS = ["evidence", "CPU (s)", "GPU (s)", "apart", ""]


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


def compared(chapter: str, name: str, profile: str) -> Step:
    """One file of a chapter's evidence, gathered on the CPU and on the GPU."""
    here, there = (
        source(_checked(chapter, {"profile": profile, "device": device}))
        for device in ("cpu", "cuda")
    )
    began = time.perf_counter()
    expected = evidence.load(here.gather(name))
    middle = time.perf_counter()
    actual, error = None, ""
    try:
        actual = evidence.load(there.gather(name))
    except (RuntimeError, InputError) as failure:
        error = (str(failure).splitlines() or [type(failure).__name__])[0]
    seconds = (middle - began, time.perf_counter() - middle)
    timed = name.startswith(TIMED) or actual is None
    return Step(chapter, name, seconds, math.nan if timed else apart(expected, actual), error)


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
