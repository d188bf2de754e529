"""Jobs that share one piece of work: each begins elsewhere in it and takes what is left."""

import os
from collections.abc import Iterable
from typing import TypeVar

from membership.errors import InputError

VARIABLE = "MEMBERSHIP_SHARE"
MOST = 1000
Item = TypeVar("Item")


def parse(text: str) -> tuple[int, int]:
    """Read a share such as ``2/4``, the second of four."""
    part, _, of = text.partition("/")
    if not (part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of) <= MOST):
        raise InputError(f"share = {text!r}: give K/N, such as 2/4, with N at most {MOST:,}")
    return int(part), int(of)


def rotated(items: Iterable[Item]) -> list[Item]:
    """The items from where this process's share begins, and then those before it.

    Whoever works through them under locks, and takes from the cache what is there, shares the work
    with every other process that does, and ends with all of it.
    """
    found = list(items)
    part, of = parse(os.environ.get(VARIABLE, "1/1"))
    begin = (part - 1) * len(found) // of
    return found[begin:] + found[:begin]
