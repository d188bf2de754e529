"""A bar on stderr where work takes more than a second; ``TQDM_DISABLE=1`` silences it."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from tqdm import tqdm

Part = TypeVar("Part")
# Seconds before there is a bar.
PATIENCE = 1.0


def told(parts: Iterable[Part], total: int, what: str, unit: str = "record") -> Iterator[Part]:
    """Parts of a whole, each counted when it is done: as many as it, or its first, is long."""
    with tqdm(desc=what, total=total, unit=unit, delay=PATIENCE, leave=False) as bar:
        for part in parts:
            yield part
            first: Any = part[0] if isinstance(part, tuple) else part
            bar.update(len(first))


def counted(steps: Iterable[Part], what: str, unit: str) -> Iterator[Part]:
    """Steps of which nobody knows how many there will be."""
    with tqdm(desc=what, unit=unit, delay=PATIENCE, leave=False) as bar:
        for step in steps:
            yield step
            bar.update()
