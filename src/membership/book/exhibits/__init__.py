"""Saving, showing, numbering and citing what a chapter found.

What a run needs of this room takes no time to load; the rest is loaded where it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from membership.book.exhibits.chapter import Chapter, open_chapter
    from membership.book.exhibits.declaration import Exhibit, declared
    from membership.book.exhibits.files import load
    from membership.book.exhibits.listing import bibtex, catalogue
    from membership.book.exhibits.source import Source

_HOMES = {
    "Chapter": "chapter",
    "Exhibit": "declaration",
    "Source": "source",
    "bibtex": "listing",
    "catalogue": "listing",
    "declared": "declaration",
    "load": "files",
    "open_chapter": "chapter",
}
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
