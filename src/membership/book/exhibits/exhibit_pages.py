"""On which of a chapter's two pages an exhibit, or the table of claims, is shown."""

import re
from functools import cache
from pathlib import Path

from membership import paths

ID = re.compile(r"(?P<chapter>[a-z]+(?:-[a-z]+)*)-(?P<kind>tab|fig|ctl)-[a-z0-9]+(?:-[a-z0-9]+)*")
_DETAILS = "_details"


def chapter_of(exhibit_id: str) -> str:
    """The chapter that an id names, "" where it is no id."""
    match = ID.fullmatch(str(exhibit_id))
    return match["chapter"].replace("-", "_") if match else ""


def pages_of(chapter: str) -> tuple[str, ...]:
    """The chapter's page, and the one with its controls and details where there is one."""
    details = chapter + _DETAILS
    return (chapter, details) if source_path(details).is_file() else (chapter,)


def chapter_of_page(page: str) -> str:
    """The chapter that a page belongs to."""
    return page.removesuffix(_DETAILS)


def page_of(exhibit_id: str) -> str:
    """The page whose code shows an exhibit; the first where none does."""
    return _showing(chapter_of(exhibit_id), f'"{exhibit_id}"')


def claims_page(chapter: str) -> str:
    """The page with the table of claims."""
    return _showing(chapter, "chapter.claims()")


@cache
def _showing(chapter: str, call: str) -> str:
    first, *further = pages_of(chapter)
    return next((page for page in further if call in _code(page)), first)


@cache
def _code(page: str) -> str:
    """The code cells of a page's text."""
    fences = paths.text_of(source_path(page)).split("```")
    return "".join(cell for cell in fences if cell.startswith("{code-cell}"))


def source_path(page: str) -> Path:
    """The text notebook that people edit: ``notebooks/<page>.md``, as the package ships it."""
    return paths.shipped("notebooks") / f"{page}.md"
