"""Where things lie: the project, its data, its cache and its results."""

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from membership.errors import InputError, RunError

# Set for a kernel of `membership run`: the results folder, and where its files go meanwhile.
RUN = "MEMBERSHIP_RUN"
MARK = "CACHEDIR.TAG"
# The first line is the convention's, for programs that make backups; the second is ours.
_MARKED = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder was made by `membership`; what is in it can be made again.\n"
)
IN_A_CACHE = {"evidence", "models", "locks", "published"}
_CHUNK = 1 << 20
_PART = re.compile(r"\.(?P<name>.+)\.(?P<writer>\d+)-[0-9a-f]{8}")


def checkout() -> Path | None:
    """The checkout that this package belongs to; None where it was installed from a wheel."""
    folder = Path(__file__).resolve().parents[2]
    return folder if (folder / "_toc.yml").is_file() else None


def project_root() -> Path:
    """The checkout this package belongs to, or the working directory where there is none."""
    return checkout() or Path.cwd()


def require_clone(what: str) -> Path:
    """The project's folder, where it has the pages and results that no wheel brings.

    Raises
    ------
    InputError
        It is none, so that `what`, the beginning of the message, comes with a clone.
    """
    root = project_root()
    if not any((root / name).is_file() for name in ("_toc.yml", "_config.yml")):
        raise InputError(
            f"{what} with a clone of the repository and not with the wheel; do it in a clone"
        )
    return root


def shipped(name: str) -> Path:
    """What comes with the package, ``notebooks`` or ``data``: the checkout's, or the wheel's."""
    inside = Path(__file__).resolve().parent / "shipped" / name
    return inside if inside.is_dir() else project_root() / name


def data_dir() -> Path:
    """The folder that downloads lie in: ``data`` of the project."""
    return project_root() / "data"


def cache_dir() -> Path:
    """The folder of trained models: ``$MEMBERSHIP_CACHE``, else ``.cache`` in the project."""
    named = os.environ.get("MEMBERSHIP_CACHE")
    return Path(named) if named else project_root() / ".cache"


def made_cache_dir(folder: Path | None = None) -> Path:
    """Make a cache where there is none, and mark what was made."""
    folder = cache_dir() if folder is None else folder
    try:
        mark(folder)
    except (OSError, InputError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"cannot write to the cache {folder}: {reason}; set MEMBERSHIP_CACHE to a folder that "
            "can be written to"
        ) from error
    return folder


def mark(folder: Path) -> None:
    """Make a folder where it is missing, and mark it as ours unless others' files are in it."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MARK).exists():
        clear_parts(folder, MARK)
    if not (folder / MARK).exists() and {p.name for p in folder.iterdir()} <= IN_A_CACHE:
        atomic_write(folder / MARK, _MARKED)


def is_marked(folder: Path) -> bool:
    """Whether a folder was made here."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return (folder / MARK).read_text(encoding="utf-8") == _MARKED
    return False


def results_dir() -> Path:
    """The folder exhibits are written to unless a run says otherwise."""
    return project_root() / "results"


def in_run(path: Path) -> Path:
    """Where a file of the results lies now: while `membership run` is at work, in its own folder.

    Whoever writes or reads back results inside a notebook asks here. A run's files change places
    with those of the run before as a whole, when it has ended well.
    """
    path = Path(path)
    if os.environ.get(RUN):
        try:
            final, meanwhile = map(str, json.loads(os.environ[RUN]))
        except (ValueError, TypeError):
            raise InputError(
                f"{RUN} = {os.environ[RUN]!r}: `membership run` sets it for its notebook; unset it"
            ) from None
        if path.absolute().is_relative_to(final):
            return Path(meanwhile) / path.absolute().relative_to(final)
    return path


def atomic_write(path: Path, content: bytes | str, *, follow: bool = True) -> None:
    """Write a whole file or none of it, as `atomic_write_all` does several."""
    atomic_write_all({path: content}, follow=follow)


def atomic_write_all(contents: Mapping[Path, bytes | str], *, follow: bool = True) -> None:
    """Write whole files, all of them or none.

    Parameters
    ----------
    contents : mapping of Path to bytes or str
        The files to write, readable by whom the umask says; folders are made where they are
        missing. Text is encoded as UTF-8; of a file's name that is none, the odd bytes as escapes.
    follow : bool
        Write what a symbolic link leads to, as programs do; else put a file in the link's place,
        for folders that strangers can write to.

    Raises
    ------
    InputError
        A folder cannot be written to, or what is there is no plain file; nothing is left behind.
    RunError
        The disk is full; nothing is left behind.
    """
    parts: dict[Path, Path] = {}
    at = next(iter(contents))
    try:
        for at, content in contents.items():
            target = plain_file(at) if follow else at
            parts[target] = part_of(target)
            _write_part(parts[target], _encoded(content) if isinstance(content, str) else content)
        for at, part in parts.items():
            os.replace(part, at)
    except OSError as error:
        raise write_error(at, error) from error
    finally:
        # After the replace there is nothing under these names; before it, whatever stopped the
        # write (Ctrl-C too) must leave no part behind.
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _write_part(part: Path, payload: bytes) -> None:
    part.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile: its files are for their owner alone, whatever the umask.
    with part.open("xb") as file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write(payload)
        file.flush()
        os.fsync(file.fileno())


def plain_file(path: Path) -> Path:
    """The file that a path means, there or not, with symbolic links followed to their end.

    Raises
    ------
    InputError
        It is a device, a pipe, a folder, or the file that this process prints to.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:
        known = error if isinstance(error, OSError) else OSError(str(error))
        raise write_error(path, known) from error
    kind = next((kind for is_kind, kind in _NO_FILE if is_kind(found.st_mode)), None)
    if kind is None and any(os.path.samestat(found, printed) for printed in _printed_to()):
        kind = "what this command prints to"
    if kind is not None:
        raise InputError(f"cannot write {path}: it is {kind}; name a plain file")
    return Path(os.path.realpath(path))


_NO_FILE = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _printed_to() -> Iterator[os.stat_result]:
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # closed
            yield os.fstat(descriptor)


def content_of(path: Path, most: float) -> bytes:
    """The bytes of a file, a pipe or a device, of which at most so many are read.

    Raises
    ------
    InputError
        There are more, whatever size the file is said to have, or it cannot be read.
    """
    parts, size = [], 0
    try:
        with path.open("rb") as file:
            while part := file.read(_CHUNK):
                parts.append(part)
                size += len(part)
                if size > most:
                    raise InputError(
                        f"{path} holds more than {most:,.0f} bytes, the most that is read; give a "
                        "smaller file"
                    )
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    return b"".join(parts)


def _encoded(text: str) -> bytes:
    return text.encode(errors="backslashreplace")


def part_of(path: Path) -> Path:
    """A name for a file until it is whole, which says who writes it; see `clear_parts`."""
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")


def clear_parts(folder: Path, name: str | None = None) -> None:
    """Remove what writers that were killed in the middle have left in a folder."""
    for part in folder.glob(".*"):
        found = _PART.fullmatch(part.name)
        if found and name in (None, found["name"]) and not lives(int(found["writer"])):
            with contextlib.suppress(OSError), part.open("rb") as file:
                # On another machine that shares the folder, its writer may live.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()


def clear_cache() -> None:
    """Remove what killed writers left in the cache, where the cache is ours."""
    folder = cache_dir()
    if is_marked(folder):
        for below in (folder, *(folder / name for name in sorted(IN_A_CACHE))):
            clear_parts(below)


def lives(pid: int) -> bool:
    """Whether there is a process of this id, other than one that ended and was not waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    with contextlib.suppress(OSError):  # a system without /proc
        about = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return about.rpartition(")")[2].split()[0] not in ("Z", "X")
    return True


@contextlib.contextmanager
def locked(file: Path, busy: str, patience: float = 0.0) -> Iterator[None]:
    """Hold a lock; where another holds it for longer than the patience, say that it is busy."""
    lock = FileLock(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=patience)
    except Timeout:
        raise InputError(busy) from None
    except OSError as error:
        raise write_error(file, error) from error
    try:
        yield
    finally:
        lock.release()


def write_error(path: Path, error: OSError) -> InputError | RunError:
    """Put a failed write in one line: a full disk is the run's failure, the rest the user's."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(f"cannot write {path}: the disk is full; make room and run it again")
    reason = error.strerror or str(error)
    return InputError(f"cannot write {path}: {reason}; name a folder that can be written to")


def require_writable(folder: Path) -> None:
    """Make a folder where it is missing and try that a file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"\0")
    except OSError as error:
        raise write_error(folder, error) from error


def own_path(text: str) -> Path:
    """A user's path, with ``~`` filled in."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InputError(f"{text!r}: there is no such user's folder; write the path out") from error


def check_writable(folder: Path) -> None:
    """See that a folder can be written to or made, and write nothing.

    Raises
    ------
    InputError
        As `atomic_write`; a full disk shows only when something is written.
    """
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, ValueError) as error:
        known = error if isinstance(error, OSError) else OSError(str(error))
        raise write_error(folder, known) from error


def text_of(path: Path) -> str:
    """The text of a file that people write, without the mark that some editors begin it with."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError(f"cannot read {shown(path)}: {why}; bring it back, or mend it") from error


def shown(path: Path) -> Path:
    """Shorten a path for a message: relative to the project where it lies in there."""
    root = project_root()
    return path.relative_to(root) if path.is_relative_to(root) else path
