"""What the chapters' experiments have in common: words for data sets, and seconds of work.

What is trained for a run is kept by `functools.lru_cache`: settings are hashable.
"""

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


def word(name: str) -> str:
    """A name as a part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "own"


def words(datasets: Iterable[str]) -> dict[str, str]:
    """The word that names each data set's files, by its name or path; no two are alike."""
    chosen: dict[str, str] = {}
    for dataset in dict.fromkeys(datasets):
        short = word(Path(dataset).stem)
        taken = short in chosen.values()
        chosen[dataset] = f"{short}-{len(chosen) + 1}" if taken else short
    return chosen


def timed(
    work: Callable[[], Result], clock: Callable[[], float] = time.perf_counter
) -> tuple[Result, float]:
    """What work gives, and its seconds; `time.process_time` counts those of the processor alone."""
    start = clock()
    result = work()
    return result, clock() - start
