"""Membership: inference attacks, bounds and the exhibits of five papers."""

from importlib import import_module

__version__ = "0.1.0"
# Of this version, as in CITATION.cff.
__date__ = "2026-11-22"


def __getattr__(name: str) -> object:
    """Rooms of the book under the names that they had before it had a place of its own."""
    if name not in ("published", "exhibits", "studies"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"membership.book.{name}")
