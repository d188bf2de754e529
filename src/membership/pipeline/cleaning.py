"""Remove what can be made again, and nothing else."""

import shutil
from pathlib import Path

from membership import paths
from membership.errors import InputError, RunError


def clean(*, cache: bool = False, results: bool = False) -> list[Path]:
    """Remove what runs and builds have made.

    Parameters
    ----------
    cache : bool
        Whether to remove the trained models too.
    results : bool
        Whether to remove the exhibits and run records of every profile but ``paper``.

    Returns
    -------
    list of Path
        What was removed.

    Raises
    ------
    InputError
        The cache lies outside the project; it is named and left alone, and nothing is removed.
    RunError
        Something could not be removed.
    """
    root = paths.project_root().resolve()
    doomed = [root / "_build", root / "logs", root / "book" / "chapters", root / "book/generated"]
    doomed += (root / "notebooks").glob("*.ipynb")
    if results:
        kept = [p for name in ("results", "runs") for p in (root / name).glob("*")]
        doomed += [path for path in kept if path.name != "paper"]
    if cache:
        doomed.append(paths.cache_dir())
    present = [path for path in doomed if path.exists()]
    for path in present:
        if not path.resolve().is_relative_to(root):
            raise InputError(f"{path} lies outside the project, so it is left; remove it yourself")
    for path in present:
        _remove(path)
    return present


def _remove(path: Path) -> None:
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        raise RunError(f"cannot remove {path}: {error.strerror}") from error
