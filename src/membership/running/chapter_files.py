"""Which chapters there are, and where each one's files lie."""

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import membership
from membership import paths
from membership.errors import InputError
from membership.exhibits.homes import pages_of
from membership.settings import ChapterSettings, suggest


def chapters() -> list[str]:
    """Name the chapters: those with a text notebook and settings of their own, sorted."""
    studies = Path(membership.__file__).parent / "studies"
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
    return importlib.import_module(f"membership.studies.{chapter}.settings").Settings


def source_path(page: str) -> Path:
    """The text notebook that people edit: ``notebooks/<page>.md``, as the package ships it."""
    return paths.shipped("notebooks") / f"{page}.md"


def executed_path(page: str) -> Path:
    """The executed notebook that the site shows."""
    return paths.project_root() / "book" / "chapters" / f"{page}.ipynb"


@dataclass(frozen=True)
class Place:
    """Where a run's files go, beside its results: pages, record of times, log of a failure."""

    pages: tuple[Path, ...]
    record: Path
    log: Path


def place_of(settings: ChapterSettings, *, apart: bool) -> Place:
    """The project's places, or those of a run that keeps all it writes in its results folder."""
    chapter, profile = settings.chapter, settings.profile
    if not apart:
        pages = tuple(map(executed_path, pages_of(chapter)))
        return Place(pages, run_record_path(chapter, profile), log_path(chapter, profile))
    beside = results_path(settings).parent
    pages = tuple(beside / f"{page}.ipynb" for page in pages_of(chapter))
    return Place(pages, beside / f"{chapter}.json", beside / f"{chapter}.failed.log")


def run_record_path(chapter: str, profile: str) -> Path:
    """The record of how long the last finished run took, and where."""
    return paths.project_root() / "runs" / profile / f"{chapter}.json"


def log_path(chapter: str, profile: str) -> Path:
    """The log of the last failed run; the failed notebook lies beside it."""
    return paths.project_root() / "logs" / f"{chapter}-{profile}.log"


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
