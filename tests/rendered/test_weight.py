"""What a browser loads of a page that is opened and read to its end."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from playwright.sync_api import Page

from membership import running
from membership.exhibits.homes import pages_of

# Bytes as they lie on disk. What the landing page loads all pages load, and a browser keeps it.
SHARED, HEAVIEST = 3_000_000, 2_000_000
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
CHAPTERS = [page for chapter in running.chapters() for page in pages_of(chapter)]
PAGES = (*(f"chapters/{page}" for page in CHAPTERS), "verdicts", "audit", "game")


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_heavy(
    name: str, width: int, site: Path, address: str, open_page: Callable[..., Page]
):
    page = open_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    def loaded(place: str) -> dict[str, int]:
        asked.clear()
        page.goto(f"{address}/{place}", wait_until="networkidle")
        page.evaluate(READ)
        page.wait_for_load_state("networkidle")
        files = {unquote(urlparse(url).path).strip("/") for url in asked if address in url}
        return {file: (site / file).stat().st_size for file in files}

    shared, own = loaded("index.html"), loaded(f"book/{name}.html")
    assert any(file.endswith(".css") for file in shared)
    assert f"book/{name}.html" in own
    own = {file: size for file, size in own.items() if file not in shared}
    assert sum(shared.values()) < SHARED, heaviest(shared)
    assert sum(own.values()) < HEAVIEST, heaviest(own)


def heaviest(sizes: dict[str, int]) -> str:
    return f"{sum(sizes.values()):,} bytes: {sorted(sizes.items(), key=lambda item: -item[1])[:5]}"


def test_a_phone_loads_the_narrow_drawings_only(address: str, open_page: Callable[..., Page]):
    page = open_page(viewport={"width": 390, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/book/chapters/lood.html", wait_until="networkidle")
    page.evaluate(READ)
    page.wait_for_load_state("networkidle")
    drawn = [url for url in asked if "/results/" in url]
    shown = page.evaluate(SHOWN)
    assert len(shown) > 5
    assert set(shown) <= set(drawn)
    assert {url.endswith(".narrow.svg") for url in drawn} == {True}
