"""Run one notebook: check, convert, execute beside the old one, then replace it."""

import contextlib
import logging
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from membership import paths
from membership.errors import InputError, RunError
from membership.pipeline import records
from membership.pipeline.freshness import fingerprint, is_up_to_date, stamp
from membership.pipeline.layout import (
    executed_path,
    log_path,
    results_path,
    run_record_path,
    settings_class,
    source_path,
)
from membership.settings import ChapterSettings

KERNEL_LOG = "kernel.log"
_KEEP_FREED_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_TOP_PAD_": str(2**28),
}


def check(chapter: str, parameters: Mapping[str, Any]) -> ChapterSettings:
    """Check a chapter's name, its parameters and its data set, and start nothing.

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
    settings = settings_class(chapter).from_values(_with_absolute_paths(parameters))
    if settings.dataset:
        from membership import data

        data.load(settings.dataset, root=settings.data_root or None)
    return settings


def run_notebook(
    chapter: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    quiet: bool = False,
    force: bool = False,
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

    Returns
    -------
    Path
        The executed notebook, ``book/chapters/<chapter>.ipynb``.

    Raises
    ------
    InputError
        A name, a type, a value, the data or a folder to write to is no good.
    RunError
        The run failed, its kernel died or it was interrupted. The executed notebook of an
        earlier run is left as it was.
    """
    given = _with_absolute_paths(parameters or {})
    settings = check(chapter, given)
    target = executed_path(chapter)
    mark = fingerprint(settings)
    if not force and is_up_to_date(settings, mark):
        if not quiet:
            print(f"{chapter} ({settings.profile}): up to date", file=sys.stderr)
        return target
    for written in (target, log_path(chapter, settings.profile), _record(settings)):
        paths.require_writable(written.parent)
    paths.require_writable(results_path(settings))

    started, clock = time.time(), time.monotonic()
    executed = _execute(settings, given, quiet)
    executed.metadata["membership"] = stamp(settings, mark)
    records.write(_record(settings), settings, executed, started, time.monotonic() - clock)
    paths.atomic_write(target, _as_json(executed))
    for old in _failure_files(settings):
        old.unlink(missing_ok=True)
    return target


def _execute(settings: ChapterSettings, given: dict[str, Any], quiet: bool) -> Any:
    """Execute in a folder of its own; on failure keep what there is and say it in one line."""
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    from membership.pipeline.engine import Progress

    label = f"{settings.chapter} ({settings.profile})"
    progress = Progress(label, quiet)
    with tempfile.TemporaryDirectory(prefix="membership-") as folder:
        output = Path(folder) / "executed.ipynb"
        try:
            _papermill(papermill, settings.chapter, given, output, progress)
            return _finished(output, settings.chapter)
        except PapermillExecutionError as error:
            what = _last_line(error.evalue)
            if error.ename == InputError.__name__:
                raise InputError(what) from None
            if error.ename != RunError.__name__:
                what = f"{error.ename}: {what}"
            details = f"{error}\n\nin the cell\n\n{error.source}"
        except KeyboardInterrupt:
            raise RunError(
                f"{label} interrupted in {progress.section!r}; the earlier page is kept, and what "
                "was trained is in the cache: run it again to go on"
            ) from None
        except DeadKernelError:
            what = "the kernel died (killed, or out of memory)"
            details = what
        except OSError as error:
            raise paths.write_error(output, error) from None
        except RuntimeError as error:
            what = f"the kernel did not start or answer: {_last_line(str(error))}"
            details = str(error)
        log = _keep_failure(settings, given, output, progress.section, details)
    raise RunError(f"{label} failed in {progress.section!r}: {what}; the log is {paths.shown(log)}")


def _papermill(
    papermill: Any, chapter: str, given: dict[str, Any], output: Path, progress: Any
) -> None:
    import jupytext

    from membership.pipeline.engine import NAME

    source = output.with_name("source.ipynb")
    jupytext.write(jupytext.read(source_path(chapter), fmt="md:myst"), source)
    # The kernel of this environment, not one that the user has installed under the same name.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    # glibc hands freed memory back to the system and asks for it anew at every training step. Told
    # to keep it, batched training took a fifth less processor time; it is read as a process starts.
    for name, size in _KEEP_FREED_MEMORY.items():
        os.environ.setdefault(name, size)
    # Its complaints come back as exceptions, which are told once and in one line.
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    papermill.execute_notebook(
        source,
        output,
        parameters=given,
        engine_name=NAME,
        kernel_name="python3",
        language="python",
        cwd=paths.project_root(),
        progress_bar=False,
        on_cell=progress,
        kernel_log=output.with_name(KERNEL_LOG),
        # The notebook's own progress bars, for someone who watches.
        stderr_file=sys.stderr if sys.stderr.isatty() and not progress.quiet else None,
    )


def _finished(output: Path, chapter: str) -> Any:
    """Read the executed notebook, fold the injected cell and forget the folder it ran in."""
    import nbformat

    notebook = nbformat.read(output, as_version=4)
    for cell in notebook.cells:
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.metadata.tags.append("hide-input")
    notebook.metadata.papermill.update(
        input_path=f"notebooks/{chapter}.md", output_path=f"book/chapters/{chapter}.ipynb"
    )
    return notebook


def _keep_failure(
    settings: ChapterSettings, given: dict[str, Any], output: Path, section: str, details: str
) -> Path:
    log, notebook = _failure_files(settings)
    header = f"chapter: {settings.chapter}\nsection: {section}\nparameters: {given}\n\n"
    messages = output.with_name(KERNEL_LOG)
    if messages.is_file():
        said = messages.read_text(encoding="utf-8", errors="replace")
        details += f"\n\nThe kernel's own messages:\n\n{said}"
    plain = re.sub(r"\x1b\[[0-9;]*m", "", details)
    paths.atomic_write(log, header + plain + "\n")
    if output.is_file():
        with contextlib.suppress(InputError, RunError):
            paths.atomic_write(notebook, output.read_bytes())
    return log


def _failure_files(settings: ChapterSettings) -> tuple[Path, Path]:
    log = log_path(settings.chapter, settings.profile)
    return log, log.with_suffix(".ipynb")


def _record(settings: ChapterSettings) -> Path:
    return run_record_path(settings.chapter, settings.profile)


def _with_absolute_paths(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Anchor paths where the user stands: the notebook itself runs in the project's folder."""
    anchored = dict(parameters)
    for name in ("dataset", "data_root", "results_dir"):
        value = anchored.get(name)
        if not isinstance(value, str) or not value:
            continue
        # A data set is a path under the same rule as in `membership.data.load`.
        if name != "dataset" or value.endswith(".npz") or os.sep in value:
            anchored[name] = str(Path(value).expanduser().absolute())
    return anchored


def _as_json(notebook: Any) -> str:
    import nbformat

    return nbformat.writes(notebook) + "\n"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no message"
