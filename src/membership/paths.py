"""Where things lie: the project, its data, its cache and its results."""

import errno
import os
import tempfile
from pathlib import Path

from membership.errors import InputError, RunError


def project_root() -> Path:
    """The checkout this package belongs to, or the working directory where there is none."""
    checkout = Path(__file__).resolve().parents[2]
    return checkout if (checkout / "_toc.yml").is_file() else Path.cwd()


def data_dir() -> Path:
    """The folder that downloads and the registry lie in: ``data`` of the project."""
    return project_root() / "data"


def cache_dir() -> Path:
    """The folder of trained models: ``$MEMBERSHIP_CACHE``, else ``.cache`` in the project."""
    named = os.environ.get("MEMBERSHIP_CACHE")
    return Path(named) if named else project_root() / ".cache"


def results_dir() -> Path:
    """The folder exhibits are written to unless a run says otherwise."""
    return project_root() / "results"


def atomic_write(path: Path, content: bytes | str) -> None:
    """Write a whole file or none of it.

    Parameters
    ----------
    path : Path
        The file to write; its folder is made where it is missing.
    content : bytes or str
        Text is encoded as UTF-8.

    Raises
    ------
    InputError
        The folder cannot be written to; nothing is left behind.
    RunError
        The disk is full; nothing is left behind.
    """
    payload = content.encode() if isinstance(content, str) else content
    part = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o644)
        os.replace(part, path)
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        # After the replace there is nothing under this name; before it, whatever stopped the
        # write (Ctrl-C too) must leave no part behind.
        if part is not None:
            Path(part).unlink(missing_ok=True)


def write_error(path: Path, error: OSError) -> InputError | RunError:
    """Put a failed write in one line: a full disk is the run's failure, the rest the user's.

    Parameters
    ----------
    path : Path
        What could not be written.
    error : OSError
        Why not.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(f"cannot write {path}: the disk is full; make room and run it again")
    reason = error.strerror or str(error)
    return InputError(f"cannot write {path}: {reason}; name a folder that can be written to")


def require_writable(folder: Path) -> None:
    """Make a folder where it is missing and try that a file can be written in it.

    Raises
    ------
    InputError, RunError
        As `atomic_write`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"\0")
    except OSError as error:
        raise write_error(folder, error) from error


def shown(path: Path) -> Path:
    """Shorten a path for a message: relative to the project where it lies in there."""
    root = project_root()
    return path.relative_to(root) if path.is_relative_to(root) else path
