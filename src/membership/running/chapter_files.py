"""Which chapters there are, and where each one's files lie."""

import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import membership
from membership import paths
from membership.errors import InputError
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


def source_path(chapter: str) -> Path:
    """The text notebook that people edit: ``notebooks/<chapter>.md``, as the package ships it."""
    return paths.shipped("notebooks") / f"{chapter}.md"


def executed_path(chapter: str) -> Path:
    """The executed notebook that the site shows."""
    return paths.project_root() / "book" / "chapters" / f"{chapter}.ipynb"


@dataclass(frozen=True)
class Place:
    """Where a run's files go, beside its results: page, record of times, log of a failure."""

    page: Path
    record: Path
    log: Path


def place_of(settings: ChapterSettings, *, apart: bool) -> Place:
    """The project's places, or those of a run that keeps all it writes in its results folder."""
    chapter, profile = settings.chapter, settings.profile
    if not apart:
        page, record = executed_path(chapter), run_record_path(chapter, profile)
        return Place(page, record, log_path(chapter, profile))
    stem = results_path(settings)
    return Place(
        *(stem.with_name(chapter + suffix) for suffix in (".ipynb", ".json", ".failed.log"))
    )


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
