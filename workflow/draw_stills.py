"""Draw the still of each moving picture from the built site: ``python -m workflow.draw_stills``.

A page shows it where there is no script. It is what the script draws first, with its looks inside.
"""

import re
from pathlib import Path

from playwright.sync_api import Page

from membership import paths
from membership.site import moving
from workflow.print_book import chromium

WIDTH, HEIGHT = 1366, 900
# The letters and colours that the site gives the drawing from outside.
LOOKS = """
svg { font-family: system-ui, sans-serif; --pst-color-text-base: #323232;
  --pst-color-text-muted: #48566b; --exhibit-line: #c9c9c9; --member: #a84600;
  --member-area: rgb(213 94 0 / 28%); --non-member: #005a92;
  --non-member-area: rgb(0 114 178 / 26%); }
@media (prefers-color-scheme: dark) { svg { --pst-color-text-base: #ced6dd;
  --pst-color-text-muted: #9ca4af; --exhibit-line: #48566b; --member: #ffa45c;
  --member-area: rgb(255 164 92 / 32%); --non-member: #7cc4f5;
  --non-member-area: rgb(124 196 245 / 28%); } }
"""
_RULE = re.compile(
    r"^\.moving-(?:text|line|band|dot|handle|halo|person)[^{]*\{[^}]*\}", re.MULTILINE
)
_DRAWN = """figure => {
    const svg = figure.querySelector('svg').cloneNode(true);
    svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    for (const each of svg.querySelectorAll('[tabindex]')) each.removeAttribute('tabindex');
    return new XMLSerializer().serializeToString(svg);
}"""


def drawn(page: Page, address: str, chapter: str) -> str:
    """What a chapter's script draws when its page is opened."""
    page.goto(f"{address}/book/chapters/{chapter}.html")
    page.locator("figure.moving svg").wait_for()
    page.wait_for_function(
        "() => document.querySelector('figure.moving svg').hasAttribute('viewBox')"
    )
    return page.locator("figure.moving").evaluate(_DRAWN)


def still(drawing: str, style: str) -> str:
    """The drawing with its looks, which a page that shows it as an image cannot give it."""
    rules = LOOKS + "\n".join(_RULE.findall(style))
    return drawing.replace(">", f"><style>{rules}</style>", 1) + "\n"


def main() -> None:
    """Draw all, over those that are there."""
    root = paths.project_root()
    style = (root / "book" / "_static" / "moving.css").read_text()
    with chromium() as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for chapter in moving.pictures():
            made = still(drawn(page, (root / "_build" / "html").as_uri(), chapter), style)
            target: Path = root / "book" / "_static" / "moving" / f"{chapter}.svg"
            target.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
