"""What the theme loads on every page and this book does not use there: two megabytes a page."""

import re
from pathlib import Path
from typing import Any

# Its icons are in its font, too; and only the page of the search looks things up in the index.
_UNUSED = re.compile(
    r'<script[^>]*src="[^"]*(?:scripts/fontawesome|searchindex)\.js[^"]*">\s*</script>'
)
_USES_ALL = "search.html"


def lighten(app: Any, exception: Exception | None) -> None:
    """Leave out of each page what it does not use; called by Sphinx at its end."""
    if exception is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        if page.name != _USES_ALL:
            text = page.read_text(encoding="utf-8")
            page.write_text(_UNUSED.sub("", text), encoding="utf-8")
