"""Several chapters at once, each by a command of its own on its share of the cores."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from membership import limits, processes
from membership.errors import InputError, RunError

PAUSE = 0.05
# Seconds of a quick run on two cores. What takes longest is started first, and with it what nobody
# has timed, so that no core waits long for the last chapter.
_SECONDS = {"iha": 200, "bmia": 140, "lood": 130, "gmip": 55, "bayes_optimal": 55}
COMMAND = "membership: "
# A chapter ends with this process however that ends, and from its first line on.
_CODE = """\
from membership.processes import follow_parent
follow_parent({parent})
from membership.__main__ import main
main()
"""


def run_side_by_side(chapters: Sequence[str], options: Sequence[str], at_once: int) -> None:
    """Run chapters by commands of their own, at most so many at a time.

    After a failure no further chapter is started; those under way come to their ends.

    Parameters
    ----------
    chapters : sequence of str
    options : sequence of str
        What else to give to ``membership run``.
    at_once : int
        At least 1. Every chapter may use its part of the cores.

    Raises
    ------
    InputError, RunError
        What the first chapter that failed said last.
    """
    try:
        with processes.supervised() as run:
            failed = _all(chapters, options, at_once, run)
    except KeyboardInterrupt:
        raise RunError(
            "interrupted; the earlier pages are kept, and what was trained is in the cache: run it "
            "again to go on"
        ) from None
    if failed:
        for one in failed[1:]:
            print(one.said(), file=sys.stderr)
        raise (InputError if failed[0].process.returncode == 2 else RunError)(failed[0].said())


@dataclass
class _Running:
    """A chapter that is being run; what it says is passed on, its last line when it has failed."""

    chapter: str
    process: subprocess.Popen
    last: str = ""
    listener: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def said(self) -> str:
        """Why it failed."""
        return self.last.removeprefix(COMMAND) or f"the run of {self.chapter} was killed"

    def _listen(self) -> None:
        for line in self.process.stderr:
            if line.startswith(COMMAND):
                self.last = line.strip()
            else:
                with contextlib.suppress(OSError):  # nobody reads it any more
                    print(line, end="", file=sys.stderr, flush=True)


def _all(
    chapters: Sequence[str], options: Sequence[str], at_once: int, run: processes.Run
) -> list[_Running]:
    """Run the chapters; those that failed."""
    waiting, running, failed = _longest_first(chapters), [], []
    threads = str(max(1, limits.cores() // min(at_once, len(chapters))))
    while running or (waiting and not failed):
        while waiting and len(running) < at_once and not failed:
            running.append(_start(waiting.pop(0), options, threads, run))
        for one in [each for each in running if each.process.poll() is not None]:
            running.remove(one)
            run.release(one.process.pid)
            one.listener.join()
            failed += [one] if one.process.returncode else []
        time.sleep(PAUSE)
    return failed


def _longest_first(chapters: Sequence[str]) -> list[str]:
    return sorted(chapters, key=lambda chapter: -_SECONDS.get(chapter, float("inf")))


def _start(chapter: str, options: Sequence[str], threads: str, run: processes.Run) -> _Running:
    process = subprocess.Popen(
        # -P: a file of the user's folder is no module of ours.
        [sys.executable, "-P", "-c", _CODE.format(parent=os.getpid()), "run", chapter, *options],
        env={**os.environ, "OMP_NUM_THREADS": threads},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    run.adopt(process.pid)
    return _Running(chapter, process)
