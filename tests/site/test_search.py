"""The site's search, opened from disk as a reader does who has no server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from membership.pipeline import search
from tests.site.test_overview_page import copied

# What is typed, and a page or an anchor that has to be among the first five.
QUERIES = {
    "iha-tab-2": "book/chapters/iha.html#iha-tab-2",
    "IHA Table 2": "book/chapters/iha.html#iha-tab-2",
    "Table 2": "book/chapters/bmia.html#bmia-tab-2",
    "Suri Figure 1": "book/chapters/iha.html#iha-fig-1",
    "Control 5": "book/chapters/lood.html#lood-ctl-5",
    "Theorem 3.2": "book/chapters/iha.html#thm-iha-score",
    "privacy budget": "book/gmip_calculator.html",
    "leakage": "book/chapters/lood.html",
    "MIA": "book/which-attack.html",
    "audit": "book/audit.html",
    "shadow models": "book/glossary.html#term-reference-model",
    "canary": "book/audit.html",
    "my own data": "book/own-data.html",
    "mu_lower_bound": "book/api/privacy.html#membership.privacy.mu_lower_bound",
    "reproducibility": "book/rerun.html",
    "distingu": "book/chapters/lood.html",
}
LINKS = "query => Search.find(query).map(entry => entry.link)"


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What the console complained about on any search."""
    return []


@pytest.fixture(scope="module")
def page(browser: Browser, site: Path, errors: list[str]) -> Iterator[Page]:
    opened = browser.new_page()
    opened.on("console", lambda m: m.type in ("error", "warning") and errors.append(m.text))
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto((site / "search.html").as_uri() + "?q=leakage")
    yield opened
    opened.close()


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_looked_for_is_among_the_first_five(page: Page, query: str) -> None:
    page.get_by_role("searchbox", name="Search").last.fill(query)
    first = page.locator("#search-results > ol > li").all()[:5]
    links = [item.locator("a").get_attribute("href") for item in first]
    assert QUERIES[query] in links
    excerpts = [item.locator("p").inner_text() for item in first]
    assert all(len(text) > 20 for text in excerpts), excerpts


def test_every_exhibit_and_claim_comes_first_under_its_id(page: Page, site: Path) -> None:
    wanted = {
        row["id"]: row["link"] for row in copied(site) if row["kind"] != "number" and row["id"]
    }
    assert len(wanted) > 100
    found = {one: page.evaluate(LINKS, one)[:1] for one in wanted if "#" in wanted[one]}
    assert {one: [wanted[one]] for one in found} == found


def test_every_synonym_means_something(page: Page) -> None:
    names = {name for meant in search.synonyms().values() for name in meant}
    assert [name for name in sorted(names) if not page.evaluate(LINKS, name)] == []


def test_every_link_leads_somewhere(page: Page, site: Path) -> None:
    links = page.evaluate("() => FOUND.map(entry => entry[1])")
    text = {name: (site / name).read_text() for name in {link.partition("#")[0] for link in links}}
    lost = []
    for link in links:
        name, _, anchor = link.partition("#")
        if anchor and f'id="{anchor}"' not in text[name]:
            lost.append(link)
    assert lost == []


def test_a_query_from_another_page_is_answered_with_marks_and_without_a_request(
    open_page: Callable[..., Page], site: Path
) -> None:
    page = open_page()
    asked: list[str] = []
    page.goto((site / "book" / "chapters" / "gmip.html").as_uri())
    page.keyboard.press("Control+k")
    page.keyboard.type("privacy budget")
    page.on("request", lambda r: r.resource_type in ("fetch", "xhr") and asked.append(r.url))
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?*")
    assert "found" in page.get_by_role("status").inner_text()
    assert "differential" in page.locator("#search-results mark").all_inner_texts()
    page.locator("#search-results a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/**")
    assert asked == []


def test_nothing_found_is_said_and_nothing_asked_shows_nothing(page: Page) -> None:
    field = page.get_by_role("searchbox", name="Search").last
    field.fill("zzzqq <b>x</b>")
    assert page.locator("#search-results b").count() == 0
    field.fill("zzzqq")
    assert page.get_by_role("status").inner_text() == "Nothing found for “zzzqq”."
    field.fill("")
    assert not page.get_by_role("status").is_visible()


def test_the_console_is_silent(errors: list[str], page: Page) -> None:
    assert errors == []
