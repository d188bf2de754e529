"""The site's search, opened from disk as a reader does who has no server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.rendered.reading import until
from tests.rendered.test_overview_page import copied

# What is typed, and a page or an anchor that has to be among the first five.
QUERIES = {
    "iha-tab-2": "book/chapters/iha.html#iha-tab-2",
    "IHA Table 2": "book/chapters/iha.html#iha-tab-2",
    "Table 2": "book/chapters/bmia_details.html#bmia-tab-2",
    "Suri Figure 1": "book/chapters/iha.html#iha-fig-1",
    "Control 5": "book/chapters/lood_details.html#lood-ctl-5",
    "Theorem 3.2": "book/chapters/iha_details.html#iha-c01",
    "LiRA": "book/glossary.html#term-LiRA",
    "models may LiRA refer to": "book/chapters/iha_details.html#which-models-may-lira-refer-to",
    "privacy budget": "book/gmip_calculator.html",
    "leakage": "book/chapters/lood.html",
    "MIA": "book/which-attack.html",
    "attacks": "book/which-attack.html",
    "best attack": "book/which-attack.html",
    "audit": "book/audit.html",
    "shadow models": "book/glossary.html#term-reference-model",
    "canary": "book/audit.html",
    "my own data": "book/own-data.html",
    "mu_lower_bound": "book/api/privacy.html#membership.privacy.mu_lower_bound",
    "reproducibility": "book/rerun.html",
    "distingu": "book/chapters/lood.html",
    "table 2 suri": "book/chapters/iha.html#iha-tab-2",
    "figure 1 iha": "book/chapters/iha.html#iha-fig-1",
    "Table 2 of IHA": "book/chapters/iha.html#iha-tab-2",
    "LOOD": "book/chapters/lood.html",
    "IHA": "book/chapters/iha.html",
    "GMIP": "book/chapters/gmip.html",
    "BMIA": "book/chapters/bmia.html",
    "cite": "book/cite.html",
    "how to cite": "book/cite.html",
    "cite this figure": "book/cite.html",
    "license": "book/cite.html",
    "licence": "book/cite.html",
    "datasets": "book/data-sets.html",
    "download": "book/data-sets.html",
    "download the data": "book/data-sets.html",
    "pytorch": "book/audit-model.html",
    "membership inference attack pytorch": "book/audit-model.html",
    "audit my model": "book/audit-model.html",
    "epsilon": "book/gmip_calculator.html",
    "calculator": "book/gmip_calculator.html",
    "which attack": "book/which-attack.html",
    "which attack should I use": "book/which-attack.html",
    "my numbers differ": "book/differences.html",
    "reproduce": "book/rerun.html",
    "exercise": "book/teach.html",
    "how to use": "book/rerun.html",
    "GPU": "book/rerun.html",
}
LINKS = """
query => {
  document.querySelector('.bd-search-container input[name="q"]').value = query;
  return Search._performSearch(...Search._parseQuery(query)).reverse()
    .map(([page, title, anchor]) => `${page}.html${anchor.replace(/^#top$/, "")}`);
}
"""
INDEXED = """
() => [
  ...Object.values(Search._index.objects).flat().map(([page, , , anchor, name]) =>
    [page, anchor, name]),
  ...Object.values(Search._index.indexentries).flat().map(([page, anchor]) => [page, anchor, ""]),
].map(([page, anchor, name]) => [Search._index.docnames[page], anchor, name])
"""


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
    until(lambda: QUERIES[query] in page.evaluate(LINKS, query)[:5])


def test_every_exhibit_and_claim_comes_first_under_its_id(page: Page, site: Path) -> None:
    wanted = {
        row["id"]: row["link"] for row in copied(site) if row["kind"] != "number" and row["id"]
    }
    assert len(wanted) > 100
    found = {one: page.evaluate(LINKS, one)[:1] for one in wanted if "#" in wanted[one]}
    assert {one: [wanted[one]] for one in found} == found


def test_every_entry_leads_somewhere(page: Page, site: Path) -> None:
    places = page.evaluate(INDEXED)
    text = {name: (site / f"{name}.html").read_text() for name, _, _ in places}
    lost = [
        (name, anchor)
        for name, anchor, _ in places
        if anchor not in ("", "-", "top") and f'id="{anchor}"' not in text[name]
    ]
    assert len(places) > 500
    assert lost == []


def test_a_query_from_another_page_is_answered_without_a_request(
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
    page.get_by_text("Search finished").wait_for()
    page.locator("#search-results a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/**")
    assert asked == []


def test_results_fit_a_phone(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    page.goto(f"{address}/search.html?q=losses+only+no+reference+models")
    page.get_by_text("Search finished").wait_for()
    expect(page.locator("#search-results p.context").last).to_be_attached()
    until(lambda: page.evaluate("document.documentElement.scrollWidth"), 390)


def test_nothing_found_is_said(open_page: Callable[..., Page], site: Path) -> None:
    page = open_page()
    page.goto((site / "search.html").as_uri() + "?q=%3Cblink%3Ezzzqq%3C/blink%3E")
    page.get_by_text("did not match any documents").wait_for()
    expect(page.locator("#search-results blink")).to_have_count(0)


def test_the_console_is_silent(errors: list[str], page: Page) -> None:
    assert errors == []
