"""The API pages and the bibliography cover what the package offers."""

import importlib.util
import inspect
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pybtex.database import parse_file

from membership import paths
from membership.book import published

ROOMS = sorted(p.stem for p in (paths.project_root() / "book" / "api").glob("*.md"))
ROOMS.remove("index")


def module_of(room: str) -> str:
    """The library's room of this name, or the book's."""
    is_there = importlib.util.find_spec(f"membership.{room}")
    return f"membership.{room}" if is_there else f"membership.book.{room}"


def public_names(room: str) -> list[str]:
    """What a room offers: its `__all__`, or what it defines without an underscore."""
    module = importlib.import_module(module_of(room))
    if hasattr(module, "__all__"):
        return [n for n in module.__all__ if callable(getattr(module, n))]
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(thing) or inspect.isclass(thing))
        and thing.__module__ == module.__name__
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_documented(site: Path, room: str) -> None:
    page = BeautifulSoup((site / "book" / "api" / f"{room}.html").read_text(), "html.parser")
    names = public_names(room)
    assert names
    missing = [n for n in names if not page.find(id=f"{module_of(room)}.{n}")]
    assert missing == []


def test_every_room_of_the_package_has_a_page() -> None:
    package = paths.project_root() / "src" / "membership"
    inside = [*package.iterdir(), *(package / "book").iterdir()]
    found = {p.stem for p in inside if not p.name.startswith(("_", "."))}
    # Not rooms: what serves all of them, the commands (described in rerun.md), and the studies,
    # each described by its chapter.
    serving = {"arrays", "downloads", "errors", "home", "installation", "limits", "manifest"}
    serving |= {"memory", "paths", "processes", "progress", "addresses", "bibliography"}
    serving |= {"markup", "namespaces", "networks", "py", "shared_work", "tables"}
    others = serving | {"book", "studies", "cli"}
    assert found - others == set(ROOMS)


@pytest.mark.parametrize("chapter", sorted(published.papers))
def test_the_bibliography_agrees_with_the_package(chapter: str) -> None:
    paper = published.papers[chapter]
    package = paths.project_root() / "src" / "membership"
    entry = parse_file(str(package / "book" / "published" / "references.bib")).entries[paper.key]
    assert entry.fields["title"].strip("{}") == paper.title
    assert entry.fields["year"] == str(paper.year)
    names = [" ".join(p.last_names) for p in entry.persons["author"]]
    assert [n.replace("{\\'e}", "é") for n in names] == [a.split()[-1] for a in paper.authors]
