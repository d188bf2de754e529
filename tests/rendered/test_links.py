"""No link of the built site is dead, anchors and downloads included."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Page, expect

from membership.book import running
from membership.book.exhibits.exhibit_pages import pages_of

# Pages that the second edition had.
MOVED = {"new-attack": "add-attack", "api/pipeline": "api/running"}
PAGES = [page for chapter in running.chapters() for page in pages_of(chapter)]
SOURCES = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}


@pytest.fixture(scope="module")
def parsed(site: Path, pages: list[str]) -> dict[Path, BeautifulSoup]:
    """Every page, parsed."""
    return {(site / p): BeautifulSoup((site / p).read_text(), "html.parser") for p in pages}


def addresses(page: BeautifulSoup) -> list[str]:
    """Everything that a page points at, each once, other sites left out."""
    # CSS selectors would go through the page once for each name, and slowly.
    found = dict.fromkeys(tag.get(SOURCES[tag.name]) for tag in page.find_all([*SOURCES]))
    return [a for a in found if a and not urlsplit(a).scheme and not a.startswith("//")]


def anchors(page: BeautifulSoup) -> set[str]:
    """The places within a page that a link can point at."""
    return {tag["id"] for tag in page.find_all(id=True)} | {"", "top"}


def test_no_dead_link(site: Path, parsed: dict[Path, BeautifulSoup]) -> None:
    dead = []
    places = {path: anchors(page) for path, page in parsed.items()}
    for path, page in parsed.items():
        for address in addresses(page):
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            lost = target in places and unquote(parts.fragment) not in places[target]
            if not target.is_file() or lost:
                dead.append(f"{path.relative_to(site)}: {address}")
    assert dead == []


def test_exhibits_can_be_downloaded(site: Path, parsed: dict[Path, BeautifulSoup]) -> None:
    chapter = parsed[site / "book" / "chapters" / "bayes_optimal.html"]
    cards = ".exhibit"
    links = [a["href"] for a in chapter.select(f"{cards} a[href*='results/']")]
    assert {Path(link).suffix for link in links} >= {".csv", ".json", ".svg", ".pdf"}


def test_the_executed_notebook_can_be_downloaded(parsed: dict[Path, BeautifulSoup]) -> None:
    chapter = next(p for path, p in parsed.items() if path.stem == "bayes_optimal")
    assert any(address.endswith("bayes_optimal.ipynb") for address in addresses(chapter))


@pytest.mark.parametrize("name", PAGES)
def test_the_contents_of_a_chapter_lead_to_each_of_its_cards(
    site: Path, parsed: dict[Path, BeautifulSoup], name: str
) -> None:
    page = parsed[site / "book" / "chapters" / f"{name}.html"]
    linked = [link["href"] for link in page.select("#pst-page-toc-nav .toc-exhibits a")]
    cards = page.select("article.exhibit:not(.exhibit-gallery), .exhibit-gallery figure[id]")
    assert linked == [f"#{card['id']}" for card in cards]


@pytest.mark.parametrize(
    "moved", ["iha.html#iha-ctl-2", "iha.html#iha-c15", "gmip.html#gmip-tab-2"]
)
def test_an_old_address_of_what_moved_to_the_details_leads_there(
    moved: str, address: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(viewport={"width": 1366, "height": 768})
    page.goto(f"{address}/book/chapters/{moved}")
    page.wait_for_url(f"**/{moved.replace('.html', '_details.html')}")
    expect(page.locator(f"#{moved.partition('#')[2]}")).to_have_count(1)


@pytest.mark.parametrize(("old", "new"), MOVED.items())
@pytest.mark.parametrize("scripts", [True, False])
def test_an_old_page_leads_to_its_new_one(
    old: str, new: str, scripts: bool, address: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(java_script_enabled=scripts)
    page.goto(f"{address}/book/{old}.html")
    page.wait_for_url(f"**/book/{new}.html")
    expect(page.locator("article h1")).to_have_count(1)
