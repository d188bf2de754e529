"""What a browser loads of a page that is opened and read to its end."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response

from membership import pipeline

# Bytes as they lie on disk. What the landing page loads all pages load, and a browser keeps it.
SHARED, HEAVIEST = 3_000_000, 2_000_000
READ = """async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
        scrollTo(0, y);
        await new Promise((done) => setTimeout(done, 20));
    }
}"""
PAGES = (*(f"chapters/{chapter}" for chapter in pipeline.chapters()), "verdicts", "audit", "game")


@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_heavy(name: str, width: int, address: str, open_page: Callable[..., Page]):
    page = open_page(viewport={"width": width, "height": 900})
    shared = loaded_by(page, f"{address}/index.html")
    assert any(".css" in url for url in shared)
    assert sum(shared.values()) < SHARED, heaviest(shared)
    own = loaded_by(page, f"{address}/book/{name}.html")
    assert f"{address}/book/{name}.html" in own
    own = {url: size for url, size in own.items() if url not in shared}
    assert sum(own.values()) < HEAVIEST, heaviest(own)


def loaded_by(page: Page, url: str) -> dict[str, int]:
    """The size of each file that a page asks for when it is read to its end."""
    responses: list[Response] = []
    record = responses.append
    page.on("response", record)
    page.goto(url, wait_until="networkidle")
    page.evaluate(READ)
    page.wait_for_load_state("networkidle")
    page.remove_listener("response", record)
    return {one.url: len(one.body()) for one in responses if one.url.startswith("http")}


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
    assert len(drawn) > 10
    assert {url.endswith(".narrow.svg") for url in drawn} == {True}
