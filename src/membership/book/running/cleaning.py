"""Remove what runs and builds have made: notebooks and results only where nobody changed them."""

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from membership import paths
from membership.book import manifest
from membership.book.exhibits.exhibit_pages import pages_of
from membership.book.running import times
from membership.book.running.chapter_files import chapters
from membership.book.running.up_to_date import is_unchanged
from membership.book.settings import PROFILES
from membership.errors import InputError, RunError

_GENERATED = {"run_statistics.md", "verdict_errors.md"}
_KEPT_BY_KEY = re.compile(r"[0-9a-f]{64}\.(safetensors|evidence)")


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
        What was removed. A notebook or a result that was changed since, or a file that somebody
        else has put there, stays and is named on stderr.

    Raises
    ------
    InputError
        There is no clone and something else than its cache was asked for, or the cache carries no
        mark; nothing is removed.
    RunError
        Something could not be removed.
    """
    root = paths.checkout()
    if root is None and (results or not cache):
        raise InputError(
            "this is no clone, so there is nothing but the cache to clear: membership clean --cache"
        )
    if cache and paths.cache_dir().exists() and not paths.is_marked(paths.cache_dir()):
        raise InputError(
            f"{paths.cache_dir()} carries no mark of a cache ({paths.MARK}), so it is left and "
            "nothing was removed; remove it yourself if it is one"
        )
    removed: list[Path] = []
    try:
        if root is not None:
            removed += _built(root)
        if root is not None and results:
            removed += _results(root)
        if cache:
            removed += _cached(paths.cache_dir())
    except OSError as error:
        raise RunError(f"cannot remove {error.filename}: {error.strerror}") from error
    return removed


def _built(root: Path) -> Iterator[Path]:
    for folder in (root / "_build" / "html", root / "_build" / ".doctrees"):
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
            yield folder
    _drop_if_empty(root / "_build")
    logs, book = root / "logs", root / "book"
    runs = (f"{chapter}-{profile}" for chapter in chapters() for profile in PROFILES)
    written = {f"{name}.log" for name in (*runs, "site", "membership-error")}
    yield from _each(logs.glob("*.log"), lambda path: path.name in written)
    yield from _each(logs.glob("*.ipynb"), is_unchanged)
    _drop_if_empty(logs)
    yield from _each((book / "generated").glob("*.md"), lambda path: path.name in _GENERATED)
    _drop_if_empty(book / "generated", ".lock")
    yield from _each((book / "chapters").glob("*.ipynb"), is_unchanged)
    _drop_if_empty(book / "chapters")
    pages = [page for chapter in chapters() for page in pages_of(chapter)]
    opened = [root / "notebooks" / f"{page}.ipynb" for page in pages]
    yield from _each(opened, is_unchanged)


def _results(root: Path) -> Iterator[Path]:
    for profile in (name for name in PROFILES if name != "paper"):
        for file in sorted((root / "results" / profile).glob(f"*/{manifest.NAME}")):
            folder = file.parent
            files = {n: d for run in manifest.read_or_none(folder) for n, d in run["files"].items()}
            changed = {folder / name for name in manifest.wrong(folder, files)}
            listed = {folder / name for name in files}
            gone = [*_each(listed, (listed - changed).__contains__)]
            gone += _each([file], lambda _, whole=bool(files) and not changed: whole)
            _drop_if_empty(folder)
            yield from gone if folder.exists() else [folder]
        _drop_if_empty(root / "results" / profile, *(f".{name}.lock" for name in chapters()))
        yield from _each((root / "runs" / profile).glob("*.json"), times.is_record)
        _drop_if_empty(root / "runs" / profile)


def _cached(folder: Path) -> Iterator[Path]:
    if not folder.exists():
        return
    paths.clear_cache()
    files = [path for name in ("models", "evidence") for path in (folder / name).glob("*.*")]
    files = [path for path in files if _KEPT_BY_KEY.fullmatch(path.name)]
    files += [p for p in (folder / "locks").glob("*.lock") if not p.stat().st_size]
    files += [path for path in [folder / "on-gpu.json"] if path.is_file()]  # what pieces took
    shutil.rmtree(folder / "verdict", ignore_errors=True)  # of two devices
    for path in files:
        path.unlink()
    for name in paths.IN_A_CACHE:
        _drop_if_empty(folder / name)
    _drop_if_empty(folder, paths.MARK)
    if folder.exists():
        _tell(folder, "holds what others have put there")
    else:
        yield folder


def _each(files: Iterable[Path], is_ours: Callable[[Path], bool]) -> Iterator[Path]:
    """Remove those of the files that are ours, and name the others."""
    for path in sorted(files):
        if path.is_file() and not path.resolve().is_relative_to(paths.project_root().resolve()):
            _tell(path)
        elif path.is_file() and is_ours(path):
            path.unlink()
            yield path
        elif path.is_file():
            _tell(path)


def _drop_if_empty(folder: Path, *marks: str) -> None:
    """Remove a folder with nothing in it but marks of ours."""
    if folder.is_dir() and not folder.is_symlink():
        left = {path.name for path in folder.iterdir()}
        if left <= set(marks):
            for name in left:
                (folder / name).unlink()
            folder.rmdir()


def _tell(path: Path, why: str = "was not made here, or was changed since") -> None:
    print(f"{paths.shown(path)} {why}, so it is left", file=sys.stderr)
