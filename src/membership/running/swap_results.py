"""The folder of one run: its results change places with the earlier ones as a whole, or not."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from membership import manifest, paths

# A run of the notebook replaces what these wrote; what others wrote beside it stays.
_OURS = (manifest.COMMAND, manifest.NOTEBOOK)


@contextmanager
def run_folder(target: Path) -> Iterator[Path]:
    """Make the folder that a run writes to; it is gone afterwards unless it was put in place.

    Parameters
    ----------
    target : Path
        The results folder of the chapter and profile, held until the run ends.

    Raises
    ------
    InputError
        Another run holds it, or it cannot be written to.
    """
    with manifest.held(target):
        real = target.resolve()
        try:
            _clear(real)
            if real.exists() and not real.is_dir():
                raise FileExistsError(17, "it is a file")
            folder = real.with_name(f".{real.name}.{secrets.token_hex(4)}.new")
            folder.mkdir()
        except OSError as error:
            raise paths.write_error(target, error) from error
        os.environ[paths.RUN] = json.dumps([str(target.absolute()), str(folder)])
        try:
            yield folder
        finally:
            del os.environ[paths.RUN]
            shutil.rmtree(folder, ignore_errors=True)


def put_in_place(folder: Path, target: Path, described: dict[str, Any]) -> dict[str, str]:
    """Let a finished run's results take the place of the earlier ones.

    Files that no run of the notebook wrote (a script's exhibit, a reader's notes) stay.

    Parameters
    ----------
    folder : Path
        As `run_folder` gave it.
    target : Path
        The results folder.
    described : dict
        What the manifest says of the run, beside its files.

    Returns
    -------
    dict
        SHA-256 of each file of the run, by name.
    """
    real = target.resolve()
    try:
        files = manifest.digests(folder)
        kept = _keep_others(real, folder, files)
        manifest.write(
            folder, [*kept, {"written_by": manifest.COMMAND, **described, "files": files}]
        )
        old = real.with_name(f".{real.name}.{secrets.token_hex(4)}.old")
        if real.exists():
            os.rename(real, old)
        try:
            os.rename(folder, real)
        except OSError:
            os.rename(old, real)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise paths.write_error(target, error) from error
    return files


def _keep_others(real: Path, folder: Path, files: dict[str, str]) -> list[manifest.Run]:
    """Copy what is not the notebook's from the earlier results, and say whose it is."""
    runs = manifest.read_or_none(real)
    replaced = {name for run in runs if run["written_by"] in _OURS for name in run["files"]}
    for path in sorted(real.iterdir()) if real.is_dir() else []:
        if path.name in {*replaced, *files, manifest.NAME}:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, folder / path.name, symlinks=True)
        else:
            shutil.copy2(path, folder / path.name, follow_symlinks=False)
    return [
        {**run, "files": {n: d for n, d in run["files"].items() if n not in files}}
        for run in runs
        if run["written_by"] not in _OURS
    ]


def _clear(real: Path) -> None:
    """Remove what killed runs left, and bring back results that one was about to replace."""
    for old in sorted(real.parent.glob(f".{real.name}.*.old")):
        if real.exists():
            shutil.rmtree(old)
        else:
            os.rename(old, real)
    for left in real.parent.glob(f".{real.name}.*.new"):
        shutil.rmtree(left)
    paths.clear_parts(real)
