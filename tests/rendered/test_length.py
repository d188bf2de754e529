"""How long a chapter is: every page shows the committed paper-size runs first, at any profile."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from membership import running
from membership.exhibits.grid import MOST_ROWS

TALLEST = 25_000  # pixels, at the width of a common laptop
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
    return {
        page: document.documentElement.scrollHeight,
        cards: cards.reduce((sum, height) => sum + height, 0),
        rows: Math.max(0, ...tables.map((table) => table.querySelectorAll(rows).length)),
    };
}"""


@pytest.mark.parametrize("chapter", running.chapters())
def test_a_chapter_with_closed_folds_is_not_too_long(
    chapter: str, address: str, open_page: Callable[..., Page]
):
    page = open_page(viewport={"width": 1366, "height": 768})
    page.goto(f"{address}/book/chapters/{chapter}.html", wait_until="networkidle")
    page.evaluate(LOADED)
    page.evaluate(SETTLED)
    found = page.evaluate(MEASURED)
    assert 0 < found["cards"] < found["page"] / 2
    assert found["page"] <= TALLEST
    assert 0 < found["rows"] <= MOST_ROWS
