"""Several runs at once, each by a command of its own on its share of the cores."""

import contextlib
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from membership import limits, memory, processes
from membership.errors import InputError, RunError

PAUSE = 0.05
# Seconds of a quick run on two cores. What takes longest is started first, and with it what nobody
# has timed, so that no core waits long for the last chapter.
_SECONDS = {
    "iha": 125, "bmia": 105, "lood": 95, "bayes_optimal": 45, "gmip": 40, "comparison": 25,
    "loss_enough": 17,
}  # fmt: skip
COMMAND = "membership: "
# What a run is taken to need until one has ended; and of what the largest needed, how much more.
FIRST_GUESS, RESERVE = 1.5e9, 1.25
_UNIT = 1 if sys.platform == "darwin" else 1024  # of the kernel's count of a process's memory
# A run ends with this process however that ends, and from its first line on.
_CODE = """\
from membership.processes import follow_parent
follow_parent({parent})
from membership.__main__ import main
main()
"""


@dataclass(frozen=True)
class Job:
    """A run to start: its name, the words after ``membership``, and whether to tell its page."""

    name: str
    arguments: tuple[str, ...]
    tells: bool = True


@dataclass
class Running:
    """A run under way, or ended; what it says is passed on, its last line when it has failed."""

    job: Job
    process: subprocess.Popen
    last: str = ""
    began: float = field(default_factory=time.monotonic)
    listener: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def reason(self) -> str:
        """Why it failed."""
        return self.last.removeprefix(COMMAND) or f"the run of {self.job.name} was killed"

    def _listen(self) -> None:
        for line in self.process.stderr or ():
            if line.startswith(COMMAND):
                self.last = line.strip()
            else:
                with contextlib.suppress(OSError):  # nobody reads it any more
                    print(line, end="", file=sys.stderr, flush=True)


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
    jobs = [Job(chapter, ("run", chapter, *options)) for chapter in _longest_first(chapters)]
    failed = run_jobs(jobs, at_once, go_on=False)
    if failed:
        for run in failed[1:]:
            print(run.reason(), file=sys.stderr)
        raise (InputError if failed[0].process.returncode == 2 else RunError)(failed[0].reason())


def run_jobs(
    jobs: Sequence[Job],
    at_once: int,
    *,
    go_on: bool,
    within_memory: bool = False,
    on_end: Callable[[Running], None] = lambda _: None,
) -> list[Running]:
    """Start jobs in their order, at most so many at a time; returns those that failed.

    After an interruption, a RunError, no job is left running. `go_on`: also after a failure.
    `within_memory`: a second job only where there is memory for it, see `_fits`.
    """
    waiting, running, failed = list(jobs), [], []
    threads = str(max(1, limits.cores() // max(1, min(at_once, len(jobs)))))
    free = memory.available()

    def may_start() -> bool:
        is_due = waiting and len(running) < at_once and (go_on or not failed)
        return bool(is_due) and (not within_memory or _fits(len(running), free))

    try:
        with processes.supervised() as run:
            while running or (waiting and (go_on or not failed)):
                while may_start():
                    running.append(_start(waiting.pop(0), threads, run))
                for ended in [started for started in running if started.process.poll() is not None]:
                    running.remove(ended)
                    run.release(ended.process.pid)
                    ended.listener.join()
                    failed += [ended] if ended.process.returncode else []
                    on_end(ended)
                time.sleep(PAUSE)
    except KeyboardInterrupt:
        raise RunError(
            "interrupted; the earlier pages are kept, and what was trained is in the cache: run it "
            "again to go on"
        ) from None
    return failed


def _fits(running: int, free_at_first: float) -> bool:
    """Whether one more run has the memory that the largest so far took, besides those under way.

    A run that was just started has not yet taken its own: so many as the memory that was free at
    first can hold are started, and none where less than one's share is free now.
    """
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT
    share = RESERVE * largest if largest > FIRST_GUESS / 4 else FIRST_GUESS
    return running == 0 or min(free_at_first / (running + 1), memory.available()) >= share


def _longest_first(chapters: Sequence[str]) -> list[str]:
    return sorted(chapters, key=lambda chapter: -_SECONDS.get(chapter, float("inf")))


def _start(job: Job, threads: str, run: processes.Run) -> Running:
    process = subprocess.Popen(
        # -P: a file of the user's folder is no module of ours.
        [sys.executable, "-P", "-c", _CODE.format(parent=os.getpid()), *job.arguments],
        env={**os.environ, "OMP_NUM_THREADS": threads},
        stdin=subprocess.DEVNULL,
        stdout=None if job.tells else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    run.adopt(process.pid)
    return Running(job, process)
