"""From a text notebook to an executed one: run a chapter, several, or all their combinations."""

from membership.book.running.chapter_files import chapters, settings_class, title
from membership.book.running.cleaning import clean
from membership.book.running.many_runs import run_side_by_side
from membership.book.running.notebook import check, run_notebook

__all__ = [
    "chapters",
    "check",
    "clean",
    "run_notebook",
    "run_side_by_side",
    "settings_class",
    "title",
]
