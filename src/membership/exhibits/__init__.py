"""Saving, showing, numbering and citing what a chapter found."""

from membership.exhibits.citation import bibtex, catalogue
from membership.exhibits.files import load
from membership.exhibits.publishing import publish, show_card

__all__ = ["bibtex", "catalogue", "load", "publish", "show_card"]
