"""The two ways a run can end badly: the user's mistake, or the run's own failure."""

from collections.abc import Iterator
from contextlib import contextmanager


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
