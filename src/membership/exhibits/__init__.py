"""Saving, showing, numbering and citing what a chapter found."""

from membership.exhibits.chapter import Chapter, open_chapter
from membership.exhibits.citation import bibtex, catalogue
from membership.exhibits.declaration import Exhibit, declared
from membership.exhibits.files import load
from membership.exhibits.source import Source

__all__ = [
    "Chapter",
    "Exhibit",
    "Source",
    "bibtex",
    "catalogue",
    "declared",
    "load",
    "open_chapter",
]
