"""Saving, showing, numbering and citing what a chapter found.

What a run needs of this room takes no time to load; the rest is loaded where it is first used.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Chapter": "chapter",
    "Exhibit": "declaration",
    "Source": "source",
    "bibtex": "citation",
    "catalogue": "citation",
    "declared": "declaration",
    "load": "files",
    "open_chapter": "chapter",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
