"""Run one notebook: check, convert, execute beside the old one, then replace it."""

import contextlib
import json
import logging
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from membership import addresses, paths, processes
from membership.addresses import hidden, own_data
from membership.book import manifest
from membership.book.exhibits import files as exhibit_files
from membership.book.exhibits import provenance
from membership.book.exhibits.exhibit_pages import pages_of
from membership.book.running import times
from membership.book.running.chapter_files import (
    Place,
    place_of,
    put_in_place,
    results_path,
    run_folder,
    settings_class,
)
from membership.book.running.prose import follow_text
from membership.book.running.up_to_date import (
    data_digests,
    fingerprint,
    is_up_to_date,
    sealed,
    stamp,
    text_notebook,
)
from membership.book.settings import INCIDENTAL, ChapterSettings
from membership.errors import InputError, RunError

KERNEL_LOG = "kernel.log"
# Read as a process starts. glibc hands freed memory back to the system and asks for it anew at
# every training step; told to keep it, batched training took a fifth less processor time. OpenMP's
# threads wait for one another in a loop that does nothing else: where something else ran on one of
# two cores, two threads took six times as long as one, and with a short wait less than one.
_KERNEL = {
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_TOP_PAD_": str(2**28),
    "GOMP_SPINCOUNT": "1000",
}
# What the kernel says where one of its processes was stopped from outside.
_ENDED = {
    "KeyboardInterrupt": "the kernel was interrupted",
    "TerminatedWorkerError": "a worker process was killed, or ran out of memory",
}


def check(chapter: str, parameters: Mapping[str, Any]) -> ChapterSettings:
    """Check a chapter's name, its parameters and all that its run needs, and start nothing.

    Parameters
    ----------
    chapter : str
        Name of the notebook, without its suffix.
    parameters : mapping of str to Any
        Typed values by name; paths are taken from the working directory.

    Returns
    -------
    ChapterSettings
        The chapter's settings with the profile's values filled in.

    Raises
    ------
    InputError
        One line that names what is wrong and what would be accepted.
    """
    settings = settings_class(chapter).for_run(_with_absolute_paths(parameters))
    if settings.profile != "paper":  # the page shows them beside its own
        manifest.require(paths.results_dir() / "paper" / chapter)
    return settings


def run_notebook(
    chapter: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    quiet: bool = False,
    force: bool = False,
    apart: bool = False,
) -> Path:
    """Execute a chapter's notebook where it is out of date.

    Parameters
    ----------
    chapter : str
        Name of the notebook, without its suffix.
    parameters : mapping of str to Any, optional
        Typed values by name; those left out keep the notebook's defaults.
    quiet : bool
        Whether to show no progress.
    force : bool
        Whether to execute it although it is up to date.
    apart : bool
        Whether page, record and logs go to ``results_dir`` as well, so that the book's page stays.

    Returns
    -------
    Path
        The first executed notebook, ``book/chapters/<chapter>.ipynb``; of a run that is kept apart
        ``<results_dir>/<profile>/<chapter>.ipynb``. The one with the details lies beside it.

    Raises
    ------
    InputError
        A name, a type, a value, the data or a folder to write to is no good.
    RunError
        The run failed, its kernel died or it was interrupted. The executed notebook and the
        results of an earlier run are left as they were.
    """
    absolute = _with_absolute_paths(parameters or {})
    settings = check(chapter, absolute)
    for note in () if quiet else settings.notes:
        print(f"{chapter} ({settings.profile}): {note}", file=sys.stderr)
    place = place_of(settings, apart=apart)
    target, mark = place.pages[0], fingerprint(settings)
    if not force and is_up_to_date(settings, mark, *place.pages):
        for executed, page in zip(place.pages, pages_of(chapter), strict=True):
            follow_text(executed, page)
        if not quiet:
            print(f"{chapter} ({settings.profile}): up to date", file=sys.stderr)
        return target
    exhibit_files.require_citable(settings)
    paths.require_writable(paths.made_cache_dir())
    for written in (*place.pages, place.log, place.record):
        if written.is_dir():
            raise paths.write_error(written, IsADirectoryError(21, "it is a folder"))
        paths.require_writable(written.parent)
        paths.clear_parts(written.parent, written.name)
    paths.clear_cache()
    with run_folder(results_path(settings)) as folder:
        _run(_Order(settings, absolute, place, quiet), mark, folder)
    for old in _failure_files(place):
        old.unlink(missing_ok=True)
    return target


@dataclass(frozen=True)
class _Order:
    """A run to be made: checked settings, the parameters they are from, and where it all goes."""

    settings: ChapterSettings
    parameters: dict[str, Any]
    place: Place
    quiet: bool


def _run(order: _Order, mark: str, folder: Path) -> None:
    """Execute; then results, page and record take the place of the earlier ones."""
    import nbformat

    from membership.book.running.engine import kernel_of

    settings, place = order.settings, order.place
    started, clock, read = time.time(), time.monotonic(), data_digests(settings)
    os.environ.pop(provenance.ON_SITE, None)
    if place == place_of(settings, apart=False):
        os.environ[provenance.ON_SITE] = "1"
    with processes.supervised() as run, kernel_of(run) as kernel:
        executed = [_execute(page, order, kernel) for page in pages_of(settings.chapter)]
    if data_digests(settings) != read:
        raise RunError(
            f"{settings.chapter} ({settings.profile}): a data file was replaced during the run, "
            "so its results are dropped; run it again"
        )

    shown = hidden(settings.parameters(), settings.parameters())
    described = {
        "chapter": settings.chapter,
        "profile": settings.profile,
        "parameters": {k: v for k, v in shown.items() if k not in INCIDENTAL},
        "own_data": own_data(settings.parameters()),
        "data": {Path(name).name: digest for name, digest in read.items()},
        "commit": provenance.git_commit(),
        "code_sha256": provenance.code_digest(),
    }
    files = put_in_place(folder, results_path(settings), described)
    for target, page in zip(place.pages, executed, strict=True):
        whole = nbformat.writes(page)
        paths.atomic_write(target, sealed(whole, stamp(settings, mark, files)))
    seconds = time.monotonic() - clock
    times.write(place.record, settings, executed, started, seconds)


def _execute(page: str, order: _Order, kernel: Any) -> Any:
    """Execute in the run's kernel; on failure keep what there is and say it in one line."""
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    from membership.book.running.engine import SECONDS_OF_SILENCE, Progress

    label = f"{page} ({order.settings.profile})"
    progress = Progress(label, order.quiet)
    output = kernel.run.folder / f"{page}.executed.ipynb"
    try:
        _papermill(page, order, output, kernel, progress)
        return _finished(output, page, order.parameters)
    except PapermillExecutionError as error:
        reason = _last_line(error.evalue)
        if error.ename == InputError.__name__:
            raise InputError(reason) from None
        if error.ename in _ENDED:
            reason = _ENDED[error.ename]
        elif _is_of_memory(error.ename, reason):
            reason = "out of memory; free some, or choose a smaller profile or smaller sizes"
        elif error.ename != RunError.__name__:
            reason = f"{error.ename}: {reason}"
        details = f"{error}\n\nin the cell\n\n{error.source}"
    except KeyboardInterrupt:
        raise RunError(
            f"{label} interrupted in {progress.section!r}; the earlier page is kept, and what "
            "was trained is in the cache: run it again to go on"
        ) from None
    except DeadKernelError:
        reason = "the kernel died (killed, or out of memory)"
        details = reason
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        raise
    except CellTimeoutError as error:
        reason = f"nothing came from the kernel for {SECONDS_OF_SILENCE} seconds"
        details = str(error)
    except OSError as error:
        raise paths.write_error(output, error) from None
    except RuntimeError as error:
        reason = f"the kernel did not start or answer: {_last_line(str(error))}"
        details = str(error)
    log = _keep_failure(order, output, progress.section, details)
    raise RunError(
        f"{label} failed in {progress.section!r}: {reason}; the log is {paths.shown(log)}"
    )


def _papermill(page: str, order: _Order, output: Path, kernel: Any, progress: Any) -> None:
    import jupytext
    import papermill

    from membership.book.running.engine import NAME

    source = output.with_name(f"{page}.ipynb")
    jupytext.write(text_notebook(page), source)
    # The kernel of this environment, not one that the user has installed under the same name.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    for name, value in _KERNEL.items():
        os.environ.setdefault(name, value)
    # Their complaints come back as exceptions, which are told once and in one line; asyncio's is of
    # the cell under way at a Ctrl-C, which nobody waits for once its kernel was killed.
    for name in ("papermill", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    papermill.execute_notebook(
        source,
        output,
        parameters=order.parameters,
        engine_name=NAME,
        kernel_name="python3",
        language="python",
        cwd=paths.project_root(),
        progress_bar=False,
        kernel=kernel,
        on_cell=progress,
        kernel_log=output.with_name(KERNEL_LOG),
        # The notebook's own progress bars, for someone who watches.
        stderr_file=sys.stderr if sys.stderr.isatty() and not order.quiet else None,
    )


def _finished(output: Path, page: str, parameters: Mapping[str, Any]) -> Any:
    """Read the executed notebook, fold the injected cell and forget the folders it ran in."""
    import nbformat

    whole = hidden(json.loads(output.read_text(encoding="utf-8")), parameters)
    notebook = nbformat.reads(json.dumps(whole), as_version=4)
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    # Out of sight where the page keeps its own parameters out of sight.
    unseen = any({"parameters", "remove-input"} <= set(cell_tags) for cell_tags in tags)
    for cell_tags in tags:
        if "injected-parameters" in cell_tags:
            cell_tags.append("remove-input" if unseen else "hide-input")
    notebook.metadata.papermill.update(
        input_path=f"notebooks/{page}.md", output_path=f"book/chapters/{page}.ipynb"
    )
    return notebook


def _keep_failure(order: _Order, output: Path, section: str, details: str) -> Path:
    log, notebook = _failure_files(order.place)
    chapter, parameters = order.settings.chapter, order.parameters
    header = f"chapter: {chapter}\nsection: {section}\nparameters: {parameters}\n\n"
    messages = output.with_name(KERNEL_LOG)
    if messages.is_file():
        text = messages.read_text(encoding="utf-8", errors="replace")
        details += f"\n\nThe kernel's own messages:\n\n{text}"
    plain = re.sub(r"\x1b\[[0-9;]*m", "", details)
    paths.atomic_write(log, header + plain + "\n")
    if output.is_file():
        with contextlib.suppress(InputError, RunError, ValueError):
            paths.atomic_write(notebook, sealed(output.read_text(encoding="utf-8"), {}))
    return log


def _failure_files(place: Place) -> tuple[Path, Path]:
    return place.log, place.log.with_suffix(".ipynb")


def _with_absolute_paths(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Anchor paths where the user stands: the notebook itself runs in the project's folder."""
    anchored = dict(parameters)
    for name in ("data_root", "results_dir"):
        if isinstance(anchored.get(name), str) and anchored[name]:
            anchored[name] = str(paths.own_path(anchored[name]).absolute())

    def absolute(address: addresses.Address) -> addresses.Address:
        return address._replace(place=str(paths.own_path(address.place).absolute()))

    return anchored | addresses.changed(anchored, absolute)


def _is_of_memory(name: str, message: str) -> bool:
    """Whether an error is Python's, NumPy's, or torch's that there is no memory left."""
    return name.endswith(("MemoryError", "OutOfMemoryError")) or "can't allocate memory" in message


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no message"
