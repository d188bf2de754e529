"""papermill's engine, told which section it is in."""

import contextlib
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from membership import processes
from membership.book.running.chapter_files import section_titles

NAME = "membership"
# papermill gives up after four seconds, and on a kernel that starts after 60, which a busy machine
# may need.
SECONDS_OF_SILENCE = 600


# What the page before has defined is gone, and cells are counted anew.
_AFRESH = "get_ipython().reset()"


class Kernel:
    """The kernel of a run: a chapter's pages are executed in it one after the other.

    Each page would otherwise import the same libraries, and compute the same tables, in a process
    of its own.

    Attributes
    ----------
    run : processes.Run
        What the kernel's life ends with.
    """

    def __init__(self, run: processes.Run) -> None:
        self.run = run
        self.client: _Client | None = None  # of the page before


@contextlib.contextmanager
def kernel_of(run: processes.Run) -> Iterator[Kernel]:
    """The kernel that a run's notebooks share; it starts with the first of them."""
    kernel = Kernel(run)
    try:
        yield kernel
    finally:
        # Unless a signal has done so: its sockets go with it.
        if kernel.client is not None and kernel.client.km is not None:
            kernel.client._cleanup_kernel()


class _Client(PapermillNotebookClient):
    """Makes the kernel, and whatever that starts, end with the run."""

    def __init__(self, *args: Any, kernel: Kernel, **options: Any) -> None:
        before, kernel.client = kernel.client, self
        super().__init__(*args, km=before.km if before else None, **options)
        self.kc = before.kc if before else None
        self.run, self.is_used = kernel.run, before is not None

    def create_kernel_manager(self) -> Any:
        super().create_kernel_manager()
        sockets = self.run.folder / "kernel"
        if _holds_sockets(sockets):
            # A free TCP port may be another's by the time the kernel binds it; where that is the
            # one it publishes on, the kernel lives on and never answers.
            self.km.transport, self.km.ip = "ipc", str(sockets)
        return self.km

    def start_new_kernel(self, **options: Any) -> None:
        super().start_new_kernel(**options)
        self.run.adopt(self.km.provisioner.pid)

    def papermill_execute_cells(self) -> None:
        if self.is_used:
            self.wait_for_reply(self.kc.execute(_AFRESH, silent=True))
        super().papermill_execute_cells()


def _holds_sockets(name: Path) -> bool:
    """Whether sockets of such a name can be: paths of sockets are short, and not on every disk."""
    tried = name.with_name(f"{name.name}-0")
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        probe.bind(str(tried))
        tried.unlink()
        return True
    return False


class SectionEngine(NBClientEngine):
    """Runs a notebook as papermill does, and says which cell it is at."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        *,
        kernel: Kernel,
        on_cell: Callable[[int, Any], None],
        kernel_log: Path,
        stderr_file: TextIO | None = None,
        **_: Any,
    ) -> Any:
        """Execute the notebook that papermill manages.

        Parameters
        ----------
        nb_man : papermill.engines.NotebookExecutionManager
        kernel_name : str
        kernel : Kernel
            What the notebook is executed in; it stays for the next one.
        on_cell : callable
            Called with the index of each cell and the notebook before the cell runs.
        kernel_log : Path
            Where the kernel process's own messages go; they are no part of the notebook.
        stderr_file : text file, optional
            Where to show what the notebook's code writes to stderr, progress bars above all.
        """
        start = nb_man.cell_start

        def cell_start(cell: Any, cell_index: int) -> None:
            on_cell(cell_index, nb_man.nb)
            start(cell, cell_index)

        nb_man.cell_start = cell_start
        client = _Client(
            nb_man,
            kernel=kernel,
            kernel_name=kernel_name,
            timeout=None,
            iopub_timeout=SECONDS_OF_SILENCE,
            startup_timeout=SECONDS_OF_SILENCE,
            stderr_file=stderr_file,
            # Nothing is left for the kernel to do; its workers end with the run.
            shutdown_kernel="immediate",
        )
        with kernel_log.open("ab") as messages:
            return client.execute(cleanup_kc=False, stdout=messages, stderr=messages)


class Progress:
    """Remembers the section that is running and, unless quiet, prints a line as each begins.

    Parameters
    ----------
    label : str
        What is being run.
    quiet : bool
        Whether to print nothing.
    """

    def __init__(self, label: str, quiet: bool) -> None:
        self.label, self.quiet = label, quiet
        self.section = "the start of the kernel"
        self.began = time.monotonic()
        self._told = ""

    def __call__(self, index: int, nb: Any) -> None:
        """Note that a cell begins."""
        if nb.cells[index].cell_type != "code":
            return
        self.section = section_titles(nb)[index]
        if self.section == self._told or self.quiet:
            return
        self._told = self.section
        code = [i for i, cell in enumerate(nb.cells) if cell.cell_type == "code"]
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        done = f"cell {code.index(index) + 1:>2} of {len(code)}"
        print(f"{self.label}  {done}  {minutes:>3}:{seconds:02}  {self.section}", file=sys.stderr)


papermill_engines.register(NAME, SectionEngine)
