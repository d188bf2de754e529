"""What the theme loads on every page and this book does not use there: two megabytes a page."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from membership.pipeline import styles

# Its icons are in its font, too; and only the page of the search looks things up in the index.
_UNUSED = re.compile(
    r'<script[^>]*src="[^"]*(?:scripts/fontawesome|searchindex)\.js[^"]*">\s*</script>'
)
# Cards, tabs and grids of its own, which few pages have.
_DESIGN = re.compile(r'<link[^>]*href="[^"]*sphinx-design[^"]*\.css[^"]*"[^>]*>\s*')
_DESIGNED = re.compile(r'class="[^"]*\bsd-')
_USES_ALL = "search.html"
# The theme's sheets; those of the book are its own. Scripts that name no class of theirs.
_SHEETS = ("styles/*.css", "sphinx-design*.css", "mystnb*.css")
_ELSEWHERE = {"mathjax", "vendor", "fontawesome.js"}

_ICON = re.compile(r"(?:\.fa-[\w-]+:{1,2}before,?)+\{content:\"[^\"]*\"\}")
_NAME = re.compile(r"\bfa-[a-z0-9-]+")
_GLYPH = re.compile(r"content: ?\"\\([0-9a-f]{2,5}) ?\"")
_FILES = re.compile(
    r'(url\([^)]*/fa-[\w-]+)\.woff2\) format\("woff2"\),url\([^)]*\.ttf\) format\("truetype"\)'
)


def choose_mathjax(app: Any, config: Any) -> None:
    """Load the parts of MathJax that ``_config.yml`` lists, and no menu on each formula.

    The extension that brings MathJax along names the bundle of everything, past any setting.
    """
    if "loader" in (config.mathjax3_config or {}):
        config.mathjax_path = "mathjax/startup.js"


def lighten(app: Any, exception: Exception | None) -> None:
    """Leave out of each page what it does not use; called by Sphinx at its end."""
    if exception is not None or app.builder.format != "html":
        return
    used: set[str] = set()
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        used |= styles.words(text)
        if page.name != _USES_ALL:
            page.write_text(_lightened(text), encoding="utf-8")
    static = Path(app.outdir) / "_static"
    scripts = [one for one in static.rglob("*.js") if not _ELSEWHERE & set(one.parts)]
    for script in scripts:
        used |= styles.words(script.read_text(encoding="utf-8"))
    _keep_icons(static, used)
    styles.keep_used(static, _SHEETS, used)


def _lightened(text: str) -> str:
    text = _UNUSED.sub("", text)
    return text if _DESIGNED.search(text) else _DESIGN.sub("", text)


def _keep_icons(static: Path, used: set[str]) -> None:
    """Of the theme's two thousand icons those that a page shows, in style sheet and fonts."""
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    if not sheet.is_file():
        return
    text = sheet.read_text(encoding="utf-8")
    text = _ICON.sub(lambda rule: rule[0] if used & set(_NAME.findall(rule[0])) else "", text)
    sheets = [text, *(one.read_text(encoding="utf-8") for one in static.rglob("*.css"))]
    # Its own sheet is among those on disk, with all of the icons.
    sheets.remove(sheet.read_text(encoding="utf-8"))
    glyphs = {int(found, 16) for one in sheets for found in _GLYPH.findall(one)}
    for font in sorted(static.glob("vendor/fontawesome/webfonts/*.ttf")):
        _keep_glyphs(font, glyphs)
    sheet.write_text(_FILES.sub(r'\1.woff) format("woff")', text), encoding="utf-8")


def _keep_glyphs(font: Path, glyphs: Iterable[int]) -> None:
    """Write a font with these characters beside a whole one, and remove that."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    options = subset.Options(flavor="woff", recalc_timestamp=False)
    whole = TTFont(font, recalcTimestamp=False)
    part = subset.Subsetter(options)
    part.populate(unicodes=glyphs)
    part.subset(whole)
    whole.flavor = "woff"
    whole.save(font.with_suffix(".woff"))
    font.unlink()
    font.with_suffix(".woff2").unlink(missing_ok=True)
