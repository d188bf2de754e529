"""A moment at which training stops between two epochs, to be taken up from there."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from membership.errors import RunError

_MOMENT: ContextVar[float] = ContextVar("moment", default=math.inf)


class Stopped(RunError):
    """Training stopped at its moment: `done` of `total` epochs, all models together."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__(done, total)
        self.done, self.total, self.share = done, total, done / total

    def __str__(self) -> str:
        return f"training stopped after {self.done:,} of {self.total:,} epochs; it goes on there"


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Let what this process trains inside stop after its epoch at this ``time.monotonic()``."""
    token = _MOMENT.set(moment)
    try:
        yield
    finally:
        _MOMENT.reset(token)


def is_over() -> bool:
    """Whether the moment has come; never outside of `until`."""
    return time.monotonic() >= _MOMENT.get()
