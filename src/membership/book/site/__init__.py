"""From executed notebooks to the site, and to the archive that is deposited.

What a page is made of beside the notebooks lies in three places: style sheets, scripts and pictures
in ``book/_static`` (``_config.yml`` lists those that every page loads), the templates of cards and
of the overview in ``membership/book/exhibits/templates``, the words of the pages in ``book``.
"""

from membership.book.site.build import build_site
from membership.book.site.notebook_copies import write_notebooks
from membership.book.site.statistics import write_benchmarks

__all__ = ["build_site", "write_benchmarks", "write_notebooks"]
