"""What the tests of faults look at: which processes and which files of a project there are."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SHARED_MEMORY = Path("/dev/shm")
PAUSE = 0.1


def shared() -> list[str]:
    return [path.name for path in SHARED_MEMORY.iterdir()] if SHARED_MEMORY.is_dir() else []


@dataclass(frozen=True)
class Traces:
    """Whatever a project has running, and what it has left outside its own folder."""

    root: Path
    temporary: Path
    before: frozenset[str]  # others' semaphores: ids of processes come again

    def processes(self) -> dict[int, str]:
        """The command lines of the project's processes by pid: they share a variable."""
        mark, found = f"PYTHONPATH={self.root}/src".encode(), {}
        for entry in Path("/proc").iterdir():
            try:
                # A zombie has no environment.
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(entry.name)] = command.decode(errors="replace").strip()
            except OSError:
                continue
        return found

    def find(self, word: str) -> int:
        """The pid of the process that has this word in its command line, 0 where there is none."""
        return next((pid for pid, line in self.processes().items() if word in line), 0)

    def semaphores(self, pids: set[int]) -> list[str]:
        names = set(shared()) - self.before
        return [n for n in names if any(f"-{p}-" in n or f"_{p}_" in n for p in pids)]

    def wait_for(self, answer: Callable[[], object], seconds: float = 60) -> None:
        """Wait until the answer is true; where more wants to run than there are cores, longer."""
        start = time.monotonic()
        while not answer():
            busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
            assert time.monotonic() - start < busy * seconds, self.processes()
            time.sleep(PAUSE)

    def files(self) -> list[str]:
        return sorted(path.name for path in self.temporary.iterdir())


@pytest.fixture
def traces(project, monkeypatch) -> Iterator[Traces]:
    """Give the project a temporary folder of its own; nothing of it outlives the test.

    Its path is short, as a user's is: in a longer one a kernel talks by ports in the place of
    sockets, and another kernel's may be free when they are chosen and taken when they are bound.
    """
    with tempfile.TemporaryDirectory(prefix="run", ignore_cleanup_errors=True) as temporary:
        monkeypatch.setenv("TMPDIR", temporary)
        found = Traces(project.root, Path(temporary), frozenset(shared()))
        yield found
        for pid in found.processes():
            os.kill(pid, 9)
