"""From a text notebook to an executed one: run a chapter, several, or all their combinations."""

from membership.running.chapter_files import chapters, settings_class, title
from membership.running.cleaning import clean
from membership.running.many_runs import run_side_by_side
from membership.running.notebook import check, run_notebook

__all__ = [
    "chapters",
    "check",
    "clean",
    "run_notebook",
    "run_side_by_side",
    "settings_class",
    "title",
]
