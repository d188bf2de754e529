"""From a text notebook to an executed one, and from executed ones to the site."""

from membership.pipeline.benchmarks import write_benchmarks
from membership.pipeline.cleaning import clean
from membership.pipeline.layout import chapters, settings_class, title
from membership.pipeline.notebook import check, run_notebook
from membership.pipeline.opened import write_notebooks
from membership.pipeline.side_by_side import run_side_by_side
from membership.pipeline.site import build_site

__all__ = [
    "build_site",
    "chapters",
    "check",
    "clean",
    "run_notebook",
    "run_side_by_side",
    "settings_class",
    "title",
    "write_benchmarks",
    "write_notebooks",
]
