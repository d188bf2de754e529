"""Several runs at once, each by a command of its own: of chapters, or of one at many values."""

import contextlib
import csv
import hashlib
import itertools
import json
import math
import os
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from membership import limits, memory, processes
from membership.book.running.chapter_files import place_of, settings_class
from membership.book.running.notebook import check
from membership.book.running.up_to_date import fingerprint, is_up_to_date
from membership.book.settings import ChapterSettings
from membership.errors import InputError, RunError, brief

PAUSE = 0.05
# Seconds of a quick run on two cores. What takes longest is started first, and with it what nobody
# has timed, so that no core waits long for the last chapter.
_SECONDS = {
    "bmia": 67, "iha": 61, "lood": 53, "gmip": 46, "bayes_optimal": 34, "comparison": 30,
    "loss_enough": 24,
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


MOST_RUNS = 1000
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
_NOT_A_CHOICE = ("results_dir", "data_root", "n_jobs")


@dataclass(frozen=True)
class Point:
    """One run of a sweep: what is varied, as typed, and the settings with everything else."""

    varied: dict[str, str]
    given: dict[str, str]
    settings: ChapterSettings
    folder: Path

    @property
    def name(self) -> str:
        """Such as ``seed=0 noise=0.1``."""
        return " ".join(f"{name}={text}" for name, text in self.varied.items()) or "the only run"


def values(text: str, *, is_list: bool = False) -> list[str]:
    """The values that a parameter is to take: ``0..9``, ``0.1,0.2``, ``"[60],[60,120]"``, or one.

    Parameters
    ----------
    text : str
        As typed at the command line. A range has both its ends.
    is_list : bool
        Whether the parameter is a list, so that ``[60,120]`` is one value of it.

    Raises
    ------
    InputError
        A range that runs backwards or is too long, or a value that is given twice or is empty.
    """
    if match := _RANGE.fullmatch(text.strip()):
        first, last = map(int, match.groups())
        if not 0 <= last - first < MOST_RUNS:
            raise InputError(f"{brief(text)}: a range runs upwards, over {MOST_RUNS:,} at most")
        return [str(number) for number in range(first, last + 1)]
    try:
        parts = json.loads(f"[{text}]") or [""]
    except (ValueError, RecursionError):
        rows = list(csv.reader([text], skipinitialspace=True))
        parts = [part.strip() for part in rows[0]]
    if is_list and not all(isinstance(value, list) for value in parts):
        parts = [parts]
    # A number stays as it was typed: 0.10 and 0.1 are one value, and 1e-3 is no longer than that.
    texts = [value if isinstance(value, str) else json.dumps(value) for value in parts]
    if "" in texts[1:] or (texts[:1] == [""] and len(texts) > 1):
        raise InputError(f"{brief(text)} holds an empty value; give values with commas between")
    if len(set(texts)) < len(texts):
        raise InputError(f"{brief(text)} names a value twice")
    return texts


def plan(chapter: str, strings: Mapping[str, str], output: Path) -> list[Point]:
    """Every run of a sweep, checked; nothing is written or started.

    Parameters
    ----------
    chapter : str
    strings : mapping of str to str
        Parameters as typed; see `values`.
    output : Path
        The folder below which each run has its own.

    Raises
    ------
    InputError
        A name, a value or a combination of values cannot be used, or there are too many.
    """
    cls = settings_class(chapter)
    if "results_dir" in strings:
        raise InputError("parameter 'results_dir': a sweep has folders of its own; give --output")
    lists = {row.name for row in cls.describe() if row.type == "list"}
    choices = {name: values(text, is_list=name in lists) for name, text in strings.items()}
    varied = [name for name, texts in choices.items() if len(texts) > 1]
    for name in varied:
        if name in _NOT_A_CHOICE:
            raise InputError(f"parameter {name!r} changes no result, so it takes one value")
    count = math.prod(map(len, choices.values()))
    if count > MOST_RUNS:
        raise InputError(f"{count:,} runs are more than {MOST_RUNS:,}; give fewer values")
    points = []
    for combination in itertools.product(*choices.values()):
        run_texts = dict(zip(choices, combination, strict=True))
        varied_texts = {name: run_texts[name] for name in varied}
        folder = (output / _folder_name(varied_texts)).absolute()
        parameters = cls.typed(run_texts) | {"results_dir": str(folder)}
        points.append(Point(varied_texts, run_texts, check(chapter, parameters), folder))
    return points


def _folder_name(varied: Mapping[str, str]) -> str:
    """A name for a run's folder that can be read, and is no other's."""
    plain = ",".join(f"{name}={text}" for name, text in varied.items()) or "run"
    safe = re.sub(r"[^\w.,=+-]", "_", plain)
    if safe == plain and len(safe) <= 150:
        return safe
    return f"{safe[:150]}-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"


def run_sweep(
    points: Sequence[Point], at_once: int = 0, *, quiet: bool = False
) -> list[tuple[Point, str]]:
    """Run what is not up to date, each by a command of its own, as many at a time as there is room.

    Parameters
    ----------
    points : sequence of Point
        As `plan` gave them.
    at_once : int
        At most so many at a time; 0: one a core, as far as the memory goes.
    quiet : bool
        Whether to print nothing.

    Returns
    -------
    list of (Point, str)
        The runs that failed, and why. The others are there.

    Raises
    ------
    RunError
        It was interrupted. Finished runs stay, and the same call goes on after them.
    """
    due = [point for point in points if not is_done(point)]
    by_name = {point.name: point for point in due}
    done, began = len(points) - len(due), time.monotonic()

    def tell(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    def on_end(run: Running) -> None:
        nonlocal done
        done += 1
        duration = time.monotonic() - run.began
        state = "failed" if run.process.returncode else f"{duration:.0f} s"
        minutes, seconds = divmod(int(time.monotonic() - began), 60)
        tell(f"{done:>4} of {len(points)}  {minutes:>3}:{seconds:02}  {run.job.name} ({state})")

    tell(f"{len(points)} runs, {done} of them up to date")
    jobs = [Job(point.name, _command(point), tells=False) for point in due]
    try:
        failed = run_jobs(
            jobs, at_once or limits.cores(), go_on=True, within_memory=True, on_end=on_end
        )
    except RunError:
        n_kept = sum(map(is_done, points))
        raise RunError(
            f"interrupted; {n_kept} of {len(points)} runs are kept: give the same command to go on"
        ) from None
    return [(by_name[run.job.name], run.reason()) for run in failed]


def is_done(point: Point) -> bool:
    """Whether a run's folder holds what running it now would make."""
    place = place_of(point.settings, apart=True)
    # Nearly every answer is no, and the fingerprint reads every source file.
    if not all(page.is_file() for page in place.pages):
        return False
    return is_up_to_date(point.settings, fingerprint(point.settings), *place.pages)


def _command(point: Point) -> tuple[str, ...]:
    pairs: list[str] = [word for name, text in point.given.items() for word in ("-p", name, text)]
    chapter: Any = point.settings.chapter
    return ("run", chapter, *pairs, "--output", str(point.folder), "--quiet")
