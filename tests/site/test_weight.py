"""What a browser loads of a page that is opened and read to its end."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response

from membership import pipeline

HEAVIEST = 3_000_000  # bytes, everything included, as they lie on disk
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
    loaded: list[Response] = []
    page.on("response", lambda response: loaded.append(response))
    page.goto(f"{address}/book/{name}.html", wait_until="networkidle")
    page.evaluate(READ)
    page.wait_for_load_state("networkidle")
    sizes = {one.url: len(one.body()) for one in loaded if one.url.startswith("http")}
    assert f"{address}/book/{name}.html" in sizes
    assert any(url.endswith(".css") or ".css?" in url for url in sizes)
    total = sum(sizes.values())
    heaviest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    assert total < HEAVIEST, f"{total:,} bytes: {heaviest}"


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
