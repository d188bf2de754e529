"""A page read once, to its end: what the browser asked for, and how tall its parts are then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Request

from membership.book import running
from membership.book.exhibits.exhibit_pages import pages_of

PATIENCE = 120_000  # milliseconds for any one step: the machine may be busy with other runs
# A common laptop, and a phone.
HEIGHTS = {1366: 768, 390: 844}
WIDE, PHONE = HEIGHTS
CHAPTERS = [f"book/chapters/{page}.html" for name in running.chapters() for page in pages_of(name)]
# What tests ask of at both widths.
READ_TO_THEIR_ENDS = (*CHAPTERS, "book/verdicts.html", "book/audit.html", "book/game.html")
READ = """async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
        scrollTo(0, y);
        await new Promise((done) => setTimeout(done, 20));
    }
}"""
SHOWN = """
() => [...document.querySelectorAll(".exhibit-picture img")]
  .filter((image) => image.checkVisibility()).map((image) => image.currentSrc)
"""
LOADED = """async () => {
    for (const image of document.images) image.loading = "eager";
    const waiting = [...document.images].filter((image) => !image.complete);
    await Promise.all(waiting.map((image) => new Promise((done) => {
        image.onload = image.onerror = done;
    })));
}"""
# Formulas and pictures move what is below them while they are drawn, for seconds on a busy machine.
SETTLED = """async () => {
    if (window.MathJax) await MathJax.startup.promise;
    await document.fonts.ready;
    await new Promise((done) => {
        let last = 0, same = 0;
        const look = () => {
            const now = document.documentElement.scrollHeight;
            same = now === last ? same + 1 : 0;
            last = now;
            if (same >= 5) done(); else setTimeout(look, 60);
        };
        look();
    });
}"""
MEASURED = r"""() => {
    const tall = (found) => found.getBoundingClientRect().height;
    const cards = [...document.querySelectorAll("article.exhibit")].map(tall);
    const inSight = (table) => tall(table) > 0 && !table.closest("details:not([open])");
    const tables = [...document.querySelectorAll("table")].filter(inSight);
    const rows = "tbody tr:not(:has(th[scope='rowgroup']))";
    const first = document.querySelector(".moving, .exhibit-picture img");
    const text = document.querySelector("article.bd-article").innerText;
    return {
        page: document.documentElement.scrollHeight,
        picture: first ? first.getBoundingClientRect().top + scrollY : 0,
        cards: cards.reduce((sum, height) => sum + height, 0),
        words: text.match(/\S*[A-Za-z]\S*/g).length,
        rows: Math.max(0, ...tables.map((table) => table.querySelectorAll(rows).length)),
    };
}"""
# Preloading fetches style sheets by addresses that axe itself resolves wrongly.
# What passes is not looked at, and writing it down takes axe as long as finding it.
AXE_OPTIONS = {"preload": False, "resultTypes": ["violations"]}
# Ids of a card that something else on its page has, too.
SHARED_IDS = """card => [...document.querySelectorAll(`#${card}, #${card} [id]`)]
    .map(e => e.id).filter(id => document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1)
"""
# Axe asks every element of a page for its looks, whatever part of it is to be judged.
ALONE = """card => {
    const kept = document.getElementById(card);
    for (const other of document.querySelectorAll("article.exhibit, mjx-container")) {
        if (!other.contains(kept) && !kept.contains(other)) other.remove();
    }
}"""


def until(look: Callable[[], Any], wanted: Any = True) -> None:
    """Look at a page again until it is as wanted: scripts may be at work for seconds."""
    late = time.monotonic() + PATIENCE / 1000
    while (found := look()) != wanted and time.monotonic() < late:
        time.sleep(0.05)
    assert found == wanted


@dataclass(frozen=True)
class Reading:
    """The addresses asked for, the pictures in sight, and sizes in pixels when all is drawn."""

    asked: list[str]
    shown: list[str]
    sizes: dict[str, float]

    def files(self, site: Path, address: str) -> dict[str, int]:
        """The site's files among what was asked for, with their bytes on disk."""
        paths = {unquote(urlparse(url).path).strip("/") for url in self.asked if address in url}
        return {path: (site / path).stat().st_size for path in paths}


@dataclass(frozen=True)
class Kept:
    """What the visit of every page has found on its way: of a page at a width, and its figures."""

    readings: dict[tuple[str, int], Reading] = field(default_factory=dict)
    figures: dict[str, list[dict]] = field(default_factory=dict)


@contextmanager
def without_store(page: Page) -> Iterator[None]:
    """Have the browser ask for every file, as it does of a site that it has not seen."""
    store = page.context.new_cdp_session(page)
    store.send("Network.enable")
    store.send("Network.setCacheDisabled", {"cacheDisabled": True})
    yield
    store.detach()


def read(page: Page, address: str, width: int) -> Reading:
    """Open a page with the browser's store off, read on to its end, and go back to its top."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    asked: list[str] = []

    def ask(request: Request) -> None:
        asked.append(request.url)

    page.on("request", ask)
    with without_store(page):
        page.goto(address, wait_until="networkidle")
        page.evaluate(READ)
        page.wait_for_load_state("networkidle")
    before, shown = list(asked), page.evaluate(SHOWN)
    page.evaluate(LOADED)
    page.evaluate(SETTLED)
    found = Reading(before, shown, page.evaluate(MEASURED))
    page.remove_listener("request", ask)
    page.evaluate("() => scrollTo(0, 0)")
    return found


def violations_in_card(page: Page, card: str) -> list[tuple[str, str]]:
    """What axe finds in one card as it is now, with ids that are not its alone.

    The other cards and formulas of its page are gone then.
    """
    shared = [("id", name) for name in page.evaluate(SHARED_IDS, card)]
    page.evaluate(ALONE, card)
    found = Axe().run(page, context=f"#{card}", options=AXE_OPTIONS).response["violations"]
    return shared + [(one["id"], one["nodes"][0]["html"]) for one in found]
