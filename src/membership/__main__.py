"""The entry of the ``membership`` command: as little as can be, so that Ctrl-C finds it ready."""

import os
import signal
import sys
from typing import Any


def main() -> None:
    """Load the command and run it; while it loads, a signal ends it in one line."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed: the next file to be opened would take its number
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    try:
        from membership.book.cli import main as command
    # A SystemError is how Python's own C code lacks memory at times.
    except (ImportError, MemoryError, OSError, SystemError) as error:
        reason = "out of memory" if isinstance(error, MemoryError | SystemError) else error
        sys.exit(f"membership: cannot start: {reason}; does `ulimit -a` allow enough?")
    command()


def _leave(number: int, frame: Any) -> None:
    """Leave at once: an exception would come out of whichever import is under way."""
    os.write(2, b"membership: interrupted\n")
    os._exit(1)


if __name__ == "__main__":
    main()
