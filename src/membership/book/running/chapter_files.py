"""Which chapters there are, where their files lie, and how results take their place."""

import importlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import membership
from membership import paths
from membership.book import manifest
from membership.book.exhibits.exhibit_pages import pages_of, source_path
from membership.book.settings import ChapterSettings
from membership.errors import InputError, suggest


def chapters() -> list[str]:
    """Name the chapters: those with a text notebook and settings of their own, sorted."""
    studies = Path(membership.__file__).parent / "book" / "studies"
    texts = paths.shipped("notebooks").glob("*.md")
    return sorted(t.stem for t in texts if (studies / t.stem / "settings.py").is_file())


def settings_class(chapter: str) -> type[ChapterSettings]:
    """Find the class that documents and checks a chapter's parameters.

    Raises
    ------
    InputError
        There is no such chapter; the nearest name is suggested.
    """
    known = chapters()
    if chapter not in known:
        raise InputError(f"unknown chapter {suggest(chapter, known, 'chapters')}")
    return importlib.import_module(f"membership.book.studies.{chapter}.settings").Settings


def executed_path(page: str) -> Path:
    """The executed notebook that the site shows."""
    return paths.project_root() / "book" / "chapters" / f"{page}.ipynb"


@dataclass(frozen=True)
class Place:
    """Where a run's files go, beside its results: pages, record of times, log of a failure.

    A failed notebook lies beside its log.
    """

    pages: tuple[Path, ...]
    record: Path
    log: Path


def place_of(settings: ChapterSettings, *, apart: bool) -> Place:
    """The project's places, or those of a run that keeps all it writes in its results folder."""
    chapter, profile = settings.chapter, settings.profile
    if apart:
        beside = results_path(settings).parent
        pages = tuple(beside / f"{page}.ipynb" for page in pages_of(chapter))
        return Place(pages, beside / f"{chapter}.json", beside / f"{chapter}.failed.log")
    pages = tuple(map(executed_path, pages_of(chapter)))
    log = paths.project_root() / "logs" / f"{chapter}-{profile}.log"
    return Place(pages, run_record_path(chapter, profile), log)


def run_record_path(chapter: str, profile: str) -> Path:
    """The record of how long the last finished run took, and where."""
    return paths.project_root() / "runs" / profile / f"{chapter}.json"


def results_path(settings: ChapterSettings) -> Path:
    """The folder that a chapter's exhibits are written to."""
    named = settings.results_dir
    folder = Path(named) if named else paths.results_dir()
    return folder / settings.profile / settings.chapter


def title(chapter: str) -> str:
    """The first heading of a chapter's notebook, or its name."""
    headings = headings_in(paths.text_of(source_path(chapter)))
    return headings[0] if headings else chapter


def headings_in(markdown: str) -> list[str]:
    """List the headings of a Markdown text in order, those inside fences left out."""
    prose = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#{1,6} +(.+?) *$", prose, flags=re.MULTILINE)


def section_titles(nb: Any) -> list[str]:
    """Give each cell the title of the section that it stands in."""
    titles, current = [], "the first cells"
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            current = (headings_in(cell.source) or [current])[-1]
        titles.append(current)
    return titles


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
