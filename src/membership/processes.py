"""What a run starts ends with it: its processes, its temporary files, its shared memory.

A run has one folder, ``membership-<pid>-...`` in the temporary folder, and a watcher: a process
of its own that waits until the run closes its pipe, by leaving or by dying in any way, then kills
the process groups that the run has started and removes the folder. Run as a script, this file is
the watcher; it needs the standard library alone.
"""

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SHARED_MEMORY = Path("/dev/shm")
Workers = Callable[[Iterable[Any]], Any]
_GROUPS = "groups"


class Run:
    """The folder of a run and the process groups it has started.

    Attributes
    ----------
    folder : Path
        For whatever the run needs on disk while it lasts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def adopt(self, group: int) -> None:
        """Let a process group (the id of a process that leads its session) end with the run."""
        with (self.folder / _GROUPS).open("a") as file:
            file.write(f"{group}\n")

    def release(self, group: int) -> None:
        """Forget a process group that has ended: its id may become that of another's."""
        file = self.folder / _GROUPS
        remaining = file.with_suffix(".kept")
        with contextlib.suppress(OSError):  # a full disk
            remaining.write_text("".join(f"{line}\n" for line in _listed(file) if line != group))
            os.replace(remaining, file)

    def finish(self, command: list[str], cwd: Path) -> tuple[int, str]:
        """Run a command to its end; its exit code, and stdout and stderr as one text."""
        with subprocess.Popen(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            self.adopt(process.pid)
            output, _ = process.communicate()
        return process.returncode, output


@contextlib.contextmanager
def supervised() -> Iterator[Run]:
    """Give a run its folder and its watcher; at the end nothing of either is left.

    Raises
    ------
    InputError, RunError
        The temporary folder cannot be written to, or is full.
    """
    from membership import paths

    try:
        folder = Path(tempfile.mkdtemp(prefix=f"membership-{os.getpid()}-"))
    except OSError as error:
        raise paths.write_error(Path(error.filename or "the temporary folder"), error) from None
    with _watched(folder), _temporary_files_in(folder), _signals_end(folder):
        yield Run(folder)


def raise_on_signals() -> None:
    """Let SIGTERM and SIGHUP end the command as Ctrl-C does, except where they are ignored."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    _handle(stop)


def follow_parent(parent: int | None = None) -> None:
    """Leave within a second of the end of `parent`; by default, in a worker process, its maker.

    joblib's workers would otherwise wait for minutes for work from a process that was killed.
    """
    if parent is None:
        maker = multiprocessing.parent_process()
        if maker is None:
            return
        parent = maker.pid

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def workers(n_jobs: int, **options: Any) -> Workers:
    """joblib's ``Parallel``, whose processes leave with this one; options are its own.

    Every call has one of its own. One that is called twice hands a large array on in the file of
    the first call, which joblib's tracker, where the machine is busy, removes during the second.
    """
    from joblib import Parallel

    return lambda jobs: Parallel(n_jobs=n_jobs, initializer=follow_parent, **options)(jobs)


@contextlib.contextmanager
def _watched(folder: Path) -> Iterator[None]:
    watcher = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    try:
        yield
    finally:
        _end(folder)
        watcher.stdin.close()
        watcher.wait()


@contextlib.contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Send this process's temporary files, its children's and joblib's arrays to one folder."""
    # IPython's too: a kernel then needs no home, and loads none of the user's start-up files.
    names = ("TMPDIR", "JOBLIB_TEMP_FOLDER", "IPYTHONDIR")
    before, directory = {name: os.environ.get(name) for name in names}, tempfile.tempdir
    os.environ.update(dict.fromkeys(names, str(folder)))
    tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = directory
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def _signals_end(folder: Path) -> Iterator[None]:
    """Kill what the run has started, then unwind; further signals wait for the end of that."""

    def stop(number: int, frame: Any) -> None:
        _handle(signal.SIG_IGN)
        _signal_groups(folder, signal.SIGTERM)
        raise KeyboardInterrupt

    before = _handle(stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Any) -> dict[signal.Signals, Any]:
    """Set the handler of the signals that are not ignored (nohup); those there were before."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    before = {number: signal.getsignal(number) for number in SIGNALS}
    changed = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in changed:
        signal.signal(number, handler)
    return changed


def _end(folder: Path) -> None:
    """Kill the groups and remove the folder.

    joblib's tracker ignores SIGTERM: it removes the semaphores of the others once they are gone.
    """
    _signal_groups(folder, signal.SIGTERM)
    end = time.monotonic() + 1
    while _signal_groups(folder, 0) and time.monotonic() < end:
        time.sleep(0.02)
    _signal_groups(folder, signal.SIGKILL)
    _remove(folder)


def _signal_groups(folder: Path, number: int) -> bool:
    """Send a signal; whether anything was there to receive it."""
    any_left = False
    for group in _groups(folder):
        with contextlib.suppress(OSError):
            os.killpg(group, number)
            any_left = True
    return any_left


def _remove(folder: Path) -> None:
    """Remove a run's folder, and the semaphores that a kernel has left: they carry its pid."""
    for group in _groups(folder):
        for semaphore in SHARED_MEMORY.glob(f"sem.loky-{group}-*"):
            with contextlib.suppress(OSError):
                semaphore.unlink()
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)  # a process that was just killed may still be at its last write


def _groups(folder: Path) -> list[int]:
    """The groups of a run, and of the runs that it has started: their folders lie in its own."""
    files = [folder / _GROUPS, *folder.glob(f"membership-*/{_GROUPS}")]
    return [group for file in files for group in _listed(file)]


def _listed(file: Path) -> list[int]:
    try:
        return [int(line) for line in file.read_text().split()]
    except (OSError, ValueError):
        return []


def _watch(folder: Path) -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    _end(folder)


if __name__ == "__main__":
    _watch(Path(sys.argv[1]))
