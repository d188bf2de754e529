"""How long a chapter is: every page shows the committed paper-size runs first, at any profile."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from membership import running
from membership.exhibits.grid import MOST_ROWS
from membership.exhibits.homes import pages_of

# Pixels, at the width of a common laptop: a chapter that is read to its end, and any other page.
READ_TO_ITS_END, TALLEST = 12_000, 21_500
# Screens before a reader meets the first picture.
PATIENCE = 1.5
PAGES = [page for chapter in running.chapters() for page in pages_of(chapter)]
DIVIDED = [chapter for chapter in running.chapters() if len(pages_of(chapter)) > 1]
WIDE, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
LOADED = """async () => {
    for (const image of document.images) image.loading = "eager";
    const waiting = [...document.images].filter((image) => !image.complete);
    await Promise.all(waiting.map((image) => new Promise((done) => {
        image.onload = image.onerror = done;
    })));
}"""
# Formulas and pictures move what is below them while they are drawn, for seconds on a busy machine.
SETTLED = """() => new Promise((done) => {
    let last = 0, same = 0;
    const look = () => {
        const now = document.documentElement.scrollHeight;
        same = now === last ? same + 1 : 0;
        last = now;
        if (same >= 5) done(); else setTimeout(look, 200);
    };
    look();
})"""
MEASURED = """() => {
    const tall = (found) => found.getBoundingClientRect().height;
    const cards = [...document.querySelectorAll("article.exhibit")].map(tall);
    const inSight = (table) => tall(table) > 0 && !table.closest("details:not([open])");
    const tables = [...document.querySelectorAll("table")].filter(inSight);
    const rows = "tbody tr:not(:has(th[scope='rowgroup']))";
    const first = document.querySelector(".exhibit-picture img");
    return {
        page: document.documentElement.scrollHeight,
        picture: first ? first.getBoundingClientRect().top + scrollY : 0,
        cards: cards.reduce((sum, height) => sum + height, 0),
        rows: Math.max(0, ...tables.map((table) => table.querySelectorAll(rows).length)),
    };
}"""


def opened(page: Page, address: str, name: str) -> dict[str, float]:
    """A page's sizes when all of it has been drawn."""
    page.goto(f"{address}/book/chapters/{name}.html", wait_until="networkidle")
    page.evaluate(LOADED)
    page.evaluate(SETTLED)
    return page.evaluate(MEASURED)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_closed_folds_is_not_too_long(
    name: str, address: str, open_page: Callable[..., Page]
):
    found = opened(open_page(viewport=WIDE), address, name)
    assert found["cards"] > 0
    assert found["page"] <= (READ_TO_ITS_END if name in DIVIDED else TALLEST)
    assert found["rows"] <= MOST_ROWS
    # A first page may have pictures alone.
    assert found["rows"] > 0 or name in DIVIDED


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("chapter", DIVIDED)
def test_a_chapter_shows_its_first_picture_early(
    chapter: str, size: dict[str, int], address: str, open_page: Callable[..., Page]
):
    found = opened(open_page(viewport=size), address, chapter)
    assert 0 < found["picture"] <= PATIENCE * size["height"]
