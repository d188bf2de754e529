"""Remove what can be made again, and nothing else."""

import shutil
from pathlib import Path

from membership import paths
from membership.errors import InputError, RunError
from membership.settings import PROFILES

# Where the project keeps what people write, data and results: no cache, whatever lies there.
_NEVER = ("src", ".git", ".ci", ".venv", "book", "notebooks", "data", "results", "runs", "tests")
_NEVER_EITHER = ("benchmarks", "logs", "_build")


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
        The cache lies outside the project, is one of the project's own folders or carries no mark
        of a cache; it is named and left alone, and nothing is removed.
    RunError
        Something could not be removed.
    """
    root = paths.project_root().resolve()
    doomed = [root / "_build", root / "logs", root / "book" / "chapters", root / "book/generated"]
    doomed += [p for p in (root / "notebooks").glob("*.ipynb") if p.with_suffix(".md").is_file()]
    if results:
        made = [name for name in PROFILES if name != "paper"]
        doomed += [root / kind / name for kind in ("results", "runs") for name in made]
    if cache:
        doomed.append(paths.cache_dir())
    present = [path for path in doomed if path.exists()]
    for path in present:
        if not path.resolve().is_relative_to(root):
            raise InputError(f"{path} lies outside the project, so it is left; remove it yourself")
    if cache and paths.cache_dir().exists():
        _require_cache(paths.cache_dir(), root)
    for path in present:
        _remove(path)
    return present


def _require_cache(folder: Path, root: Path) -> None:
    """Refuse to remove a folder that is the project's own, or that no cache was made in."""
    first, *_ = (*folder.resolve().relative_to(root).parts, "")
    if first in ("", *_NEVER, *_NEVER_EITHER):
        raise InputError(
            f"the cache, MEMBERSHIP_CACHE = {folder}, is one of the project's own folders, so it "
            "is left; nothing was removed"
        )
    if not paths.is_marked(folder):
        raise InputError(
            f"{folder} carries no mark of a cache ({paths.MARK}), so it is left and nothing was "
            "removed; remove it yourself if it is one"
        )


def _remove(path: Path) -> None:
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        raise RunError(f"cannot remove {path}: {error.strerror}") from error
