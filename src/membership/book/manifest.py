"""Which run wrote which file of a results folder, with digests: its ``run.manifest``."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from membership import paths
from membership.errors import InputError

NAME = "run.manifest"
COMMAND = "membership run"
NOTEBOOK = "a notebook, without `membership run`"
SCRIPT = "a script"
SEAL = "membership seal"

Run = dict[str, Any]


def read(folder: Path) -> list[Run]:
    """The runs whose files lie in a folder; none where nothing was noted.

    Returns
    -------
    list of dict
        Each with ``written_by``, ``files`` (SHA-256 by name) and what else is known of the run.

    Raises
    ------
    InputError
        The manifest cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        return []
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        runs = whole["runs"]
        if not all(run["written_by"] and is_listing(run["files"]) for run in runs):
            raise ValueError("not a list of runs with their files")
        if whole.get("sha256", _digest(runs)) != _digest(runs):
            raise ValueError("its digest does not fit its content")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"cannot read {path}: {error}; {remedy(folder)}") from error
    return runs


def is_listing(files: Any) -> bool:
    """Whether this gives a SHA-256 to each of some plain file names."""
    return isinstance(files, dict) and all(
        Path(name).name == name and isinstance(digest, str) and len(digest) == 64
        for name, digest in files.items()
    )


def read_or_none(folder: Path) -> list[Run]:
    """As `read`, for whoever writes a new manifest: of a damaged one nothing is known."""
    try:
        return read(folder)
    except InputError:
        return []


def listed(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file that some run wrote, by name."""
    return {name: digest for run in read(folder) for name, digest in run["files"].items()}


def covers(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether the manifest is whole and gives each of these files this SHA-256."""
    try:
        return not files.items() - listed(folder).items()
    except InputError:
        return False


def wrong(folder: Path, expected: Mapping[str, str]) -> list[str]:
    """The names, sorted, of files that are missing or not those whose SHA-256 is given."""
    return sorted(name for name, digest in expected.items() if digest_of(folder / name) != digest)


def require(folder: Path, names: Iterable[str] | None = None) -> None:
    """Check files of a folder against its manifest; what it does not list passes.

    Parameters
    ----------
    folder : Path
        A chapter's results at one profile.
    names : iterable of str, optional
        The files to check; all that are listed unless given.

    Raises
    ------
    InputError
        One of them is missing or not what its run wrote; the line names the remedy.
    """
    expected = listed(folder)
    if names is not None:
        expected = {name: expected[name] for name in names if name in expected}
    if bad := wrong(folder, expected):
        raise InputError(
            f"{paths.shown(folder / bad[0])} is not the file that its run wrote"
            f"{f' (and {len(bad) - 1} more are not)' if bad[1:] else ''}; {remedy(folder)}"
        )


def remedy(folder: Path) -> str:
    """What brings a damaged folder of results back."""
    root = paths.project_root()
    committed = paths.results_dir() / "paper"
    if folder.parent == committed and (root / ".git").exists():
        return f"bring it back with: git checkout -- {paths.shown(folder)}"
    return f"run it again: membership run {folder.name} --profile {folder.parent.name}"


def enter(folder: Path, described: Run, files: Mapping[str, str], gone: Iterable[str] = ()) -> None:
    """Note that a run has written files; they are no other run's any more."""
    runs = [
        {**run, "files": {n: d for n, d in run["files"].items() if n not in {*files, *gone}}}
        for run in read_or_none(folder)
    ]
    own = next(
        (run for run in runs if {**run, "files": None} == {**described, "files": None}), None
    )
    if own is None:
        own = {**described, "files": {}}
        runs.append(own)
    own["files"].update(files)
    write(folder, runs)


def write(folder: Path, runs: list[Run]) -> Path:
    """Write a manifest, without the runs of which no file is left."""
    kept = [run for run in runs if run["files"]]
    whole = {"runs": kept, "sha256": _digest(kept)}
    text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False)
    paths.atomic_write(folder / NAME, text + "\n")
    return folder / NAME


def _digest(listing: Any) -> str:
    return hashlib.sha256(json.dumps(listing, sort_keys=True).encode()).hexdigest()


def seal(folder: Path) -> Path:
    """Note the digests of everything that lies in a folder: what is there is what was meant.

    For whoever makes committed results anew, by `recompute` or by hand; a run does it itself.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder of results")
    with held(folder, patience=10):
        return write(folder, [{"written_by": SEAL, "files": digests(folder)}])


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder, by name; hidden files and the manifest left out."""
    found = sorted(p for p in folder.iterdir() if p.is_file() and p.name[0] != ".")
    return {p.name: str(digest_of(p)) for p in found if p.name != NAME}


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a file, or of a folder's files and their names; None where one is not read."""
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        listed = {file.relative_to(path).as_posix(): digest_of(file) for file in inside}
        return None if None in listed.values() else _digest(listed)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


@contextmanager
def held(folder: Path, patience: float = 0.0) -> Iterator[None]:
    """Keep every other run from writing to a folder of results; the lock lies beside it."""
    real = folder.resolve()
    file = real.with_name(f".{real.name}.lock")
    busy = (
        f"another run is writing to {paths.shown(folder)}; wait for its end, or name another "
        "results_dir"
    )
    with paths.locked(file, busy, patience):
        yield
