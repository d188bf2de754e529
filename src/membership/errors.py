"""The two ways a run can end badly: the user's mistake, or the run's own failure."""

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONGEST_TEXT = 4096
"""Characters of a text that are read."""


class _OneLineError(Exception):
    """An error that reads as one line, at the command line and in a notebook."""

    def _render_traceback_(self) -> list[str]:
        """Tell IPython to print the message alone: the stack is of no use to the reader."""
        return [f"{type(self).__name__}: {self}"]


class InputError(_OneLineError, ValueError):
    """Something the user gave cannot be used (exit code 2).

    The message names the parameter, its value and what would be accepted.
    """


class RunError(_OneLineError, RuntimeError):
    """A run that began on good input failed (exit code 1)."""


class Diverged(RunError):
    """A loss or a weight became infinite: `where` in the training, and what would do."""

    def __init__(self, where: str, advice: str) -> None:
        super().__init__(where, advice)
        self.where, self.advice = where, advice

    def __str__(self) -> str:
        return f"training diverged in {self.where}; {self.advice}"


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Where a package is imported that an extra brings: say which extra if it is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        # Finding out how is for this message alone: it takes longer to import than many a room.
        from membership.installation import with_extra

        told = f"this needs {error.name}, which is not installed: {with_extra(name)}"
        raise InputError(told) from error


def suggest(name: str, known: Any, kind: str) -> str:
    """Complete "unknown ...": the name, then the nearest known one or all that are known."""
    near = difflib.get_close_matches(name[:LONGEST_TEXT], list(known), n=1)
    if near:
        return f"{brief(name)}; did you mean {near[0]!r}?"
    return f"{brief(name)}; the {kind} are: {', '.join(known) or 'none'}"


def brief(value: Any, most: int = 80) -> str:
    """Show any value within a line, however long or deep it is."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits; a list in a list in...
        shown = f"a value of type {type(value).__name__}"
    shown = re.sub(r"\s+", " ", shown)
    return shown if len(shown) <= most else shown[: most - 3] + "..."
