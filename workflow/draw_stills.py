"""Draw the stills of the built site: ``python -m workflow.draw_stills``.

A page shows that of its moving picture where there is no script: what the script draws first, with
its looks inside. *How to read an exhibit* shows a card with its parts numbered, as the README does.
"""

import io
import re
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page

from membership import paths
from membership.book.site import moving
from workflow.print_book import chromium

WIDTH, HEIGHT = 1366, 900
CARD, PARTS = (
    ("iha", "iha-tab-2"),
    (".exhibit-label", ".exhibit-strip", "[role=tablist]", ".forests", ".exhibit-says", "details"),
)
"""The card that is explained, and the first of what each line of its explanation is about."""
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


_NUMBERED = """(card, parts) => {
    card.style.cssText = 'position:relative; overflow:visible; margin-left:2.6rem';
    const margin = card.getBoundingClientRect();
    parts.forEach((part, i) => {
        const found = [...card.querySelectorAll(part)].find((each) => each.checkVisibility());
        const { left, top } = found.getBoundingClientRect();
        const mark = document.createElement('b');
        mark.textContent = i + 1;
        mark.style.cssText = `position:absolute; width:1.8rem; line-height:1.8rem;
            border-radius:50%; text-align:center; color:var(--pst-color-background);
            background:var(--pst-color-text-base); top:${top - margin.top}px;
            left:${left - margin.left > 100 ? left - margin.left - 36 : -38}px`;
        card.append(mark);
    });
}"""


def numbered(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> bytes:
    """The card with its parts numbered, as a PNG of few colours."""
    page = browser.new_page(viewport={"width": 1100, "height": HEIGHT}, color_scheme=scheme)
    chapter, name = CARD
    page.goto(f"{address}/book/chapters/{chapter}.html")
    card = page.locator(f"#{name}")
    card.locator("[role=tablist]").wait_for()
    card.evaluate(_NUMBERED, PARTS)
    box = card.bounding_box()
    assert box is not None
    clip = {**box, "x": box["x"] - 44, "width": box["width"] + 48}
    taken = Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True)))
    made = io.BytesIO()
    taken.convert("RGB").quantize(64).save(made, "png", optimize=True)
    return made.getvalue()


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
    static, address = root / "book" / "_static", (root / "_build" / "html").as_uri()
    style = (static / "moving.css").read_text()
    with chromium() as browser:
        for scheme in ("light", "dark"):
            (static / f"card-{scheme}.png").write_bytes(numbered(browser, address, scheme))
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for chapter in moving.pictures():
            made = still(drawn(page, address, chapter), style)
            (static / "moving" / f"{chapter}.svg").write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
