"""The landing page, all verdicts, and which attack: with scripts and without, from disk."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.rendered.reading import until

LOWEST = "name => document.querySelector(name).getBoundingClientRect().bottom"
SHOWN = "rows => rows.filter(row => row.checkVisibility()).length"
EXHIBITS, CLAIMS = ".overview-exhibits > tbody > tr", ".overview-claims > tbody > tr"
ATTACKS = "#attacks-by-case > tbody > tr"


@pytest.fixture
def read(open_page: Callable[..., Page], site: Path) -> Callable[..., Page]:
    """Open a page of the book from disk."""

    def read(name: str, query: str = "", **options: object) -> Page:
        page = open_page(**options)
        page.goto((site / "book" / f"{name}.html").as_uri() + query)
        return page

    return read


def shown(page: Page, rows: str) -> int:
    return page.locator(rows).evaluate_all(SHOWN)


def copied(site: Path) -> list[dict[str, str]]:
    text = (site / "book" / "verdicts.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_what_was_found_fits_on_one_screen(read: Callable[..., Page]) -> None:
    page = read("index", viewport={"width": 1366, "height": 768})
    until(lambda: page.evaluate(LOWEST, ".doors.ways") <= 768)
    for link in page.locator(".landing a.c-word").all():
        until(lambda: link.get_attribute("href").startswith("chapters/"))


@pytest.mark.parametrize(
    ("label", "heading"),
    [("claims", "claims of the papers"), ("findings", "findings of this book")],
)
def test_the_chart_tells_claims_from_findings(read: Callable[..., Page], label, heading) -> None:
    page = read("verdicts")
    lines = page.locator(".o-wall .o-origin", has_text=label)
    tally = page.locator(".o-tally", has_text=heading)
    count = lines.locator(".c-mark").count()
    assert count > 0
    expect(tally.locator("> strong")).to_have_text(f"{count} {heading}", use_inner_text=True)
    contradicted = lines.locator(".c-mark.contradicted").count()
    until(lambda: f" {contradicted} contradicted" in tally.inner_text().replace("\n", " "))
    expect(lines.first.get_by_role("img")).to_have_count(1)


def test_filters_show_what_is_asked(read: Callable[..., Page], site: Path) -> None:
    page = read("verdicts")
    until(lambda: shown(page, EXHIBITS) == shown(page, CLAIMS) == 0)
    page.get_by_role("button", name="Open all chapters").click()
    whole = shown(page, EXHIBITS)
    page.get_by_role("button", name="differ").click()
    rows = copied(site)
    differing = len({row["id"] for row in rows if row["verdict"] == "differs"})
    until(lambda: shown(page, EXHIBITS), differing)
    assert 0 < differing < whole
    until(lambda: shown(page, CLAIMS), 0)
    expect(page.get_by_role("status")).to_contain_text(f"{differing} of ", use_inner_text=True)
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="Open all chapters").click()
    until(lambda: shown(page, EXHIBITS), whole)
    page.get_by_role("button", name="undecided").click()
    until(lambda: shown(page, CLAIMS), sum(row["verdict"] == "undecided" for row in rows))


def counts(page: Page) -> list[int]:
    return [int(text) for text in page.locator(".o-filters [data-count]").all_inner_texts()]


def test_counts_are_of_what_the_other_filters_leave(read: Callable[..., Page], site: Path) -> None:
    page = read("verdicts")
    whole = counts(page)
    rows = [row for row in copied(site) if row["kind"] in ("number", "claim")]
    assert sum(whole) == len(rows)
    paper = page.locator('[data-group="paper"] button').nth(1)
    paper.click()
    name = paper.inner_text()
    for kind, group in (("number", "verdict"), ("claim", "outcome")):
        own = [row["verdict"] for row in rows if (row["paper"], row["kind"]) == (name, kind)]
        for button in page.locator(f'[data-group="{group}"] button').all():
            count = own.count(button.get_attribute("value"))
            expect(button.locator("[data-count]")).to_have_text(str(count), use_inner_text=True)
    left = counts(page)
    page.get_by_role("button", name="differ").click()
    until(lambda: counts(page), left)
    page.get_by_role("button", name="Show all").click()
    until(lambda: counts(page), whole)


def test_a_heading_that_nothing_matches_says_so(read: Callable[..., Page]) -> None:
    page = read("verdicts")
    line = page.get_by_text("No claim matches these filters.")
    expect(line).to_be_hidden()
    page.get_by_role("button", name="differ").click()
    expect(line).to_be_visible()
    expect(page.get_by_text("No exhibit matches these filters.")).to_be_hidden()
    page.get_by_role("button", name="undecided").click()
    expect(line).to_be_hidden()


def test_a_link_opens_the_list_filtered(read: Callable[..., Page]) -> None:
    page = read("verdicts", "?show=not+run")
    until(lambda: 0 < shown(page, EXHIBITS) < page.locator(EXHIBITS).count())
    button = page.locator('.o-filters button[value="not run"]').first
    expect(button).to_have_attribute("aria-pressed", "true")


def test_the_address_keeps_what_is_shown(read: Callable[..., Page]) -> None:
    page = read("verdicts")
    page.locator('.o-filters button[value="not run"]').first.click()
    until(lambda: page.url.endswith("?show=not+run"))
    page.reload()
    button = page.locator('.o-filters button[value="not run"]').first
    expect(button).to_have_attribute("aria-pressed", "true")
    page.locator('.o-filters [type="reset"]').click()
    until(lambda: page.url.endswith("verdicts.html"))


def in_order(labels: list[str]) -> bool:
    return labels == sorted(labels, key=lambda label: (label.split()[0], int(label.split()[1])))


def test_columns_sort_by_mouse_and_keyboard(read: Callable[..., Page]) -> None:
    page = read("verdicts")
    page.locator(".o-chapter > summary").first.focus()
    page.keyboard.press("Enter")
    header = page.locator(".overview-exhibits > thead button:visible").last
    header.focus()
    page.keyboard.press("Enter")
    expect(header.locator("..")).to_have_attribute("aria-sort", "ascending")
    most = page.locator(f"{EXHIBITS} > td:last-child small").first
    expect(most).to_contain_text("differ", use_inner_text=True)
    page.locator(".overview-exhibits > thead button:visible").first.click()
    until(lambda: in_order(page.locator(f"{EXHIBITS}:visible th a").all_inner_texts()))


def test_without_scripts_everything_is_there(read: Callable[..., Page]) -> None:
    page = read("verdicts", java_script_enabled=False)
    for chapter in page.locator(".o-chapter > summary").all():
        chapter.click()
    until(
        lambda: page.locator(EXHIBITS).count() == page.locator(f"{EXHIBITS}:visible").count() > 100
    )
    expect(page.locator(".o-filters")).to_be_hidden()
    page = read("which-attack", java_script_enabled=False)
    until(lambda: page.locator(ATTACKS).count() == page.locator(f"{ATTACKS}:visible").count() > 20)


@pytest.mark.parametrize(("width", "tallest"), [(1366, 8_000), (390, 12_000)])
def test_all_verdicts_fit_on_a_few_screens(read: Callable[..., Page], width, tallest) -> None:
    page = read("verdicts", viewport={"width": width, "height": 800})
    until(lambda: page.evaluate("document.documentElement.scrollHeight") <= tallest)


def test_no_printed_number_is_cut_on_a_phone(read: Callable[..., Page]) -> None:
    page = read("verdicts", viewport={"width": 390, "height": 800})
    folds = page.locator(".overview details")
    folds.evaluate_all("all => all.forEach(fold => fold.open = true)")
    boxes = page.locator(".overview .exhibit-scroll")
    until(lambda: boxes.count() > 0)
    until(lambda: boxes.evaluate_all("all => all.every(box => box.scrollWidth <= box.clientWidth)"))
    until(lambda: boxes.first.get_by_role("row").count() > 1)


def test_the_attacks_fit_on_a_few_screens_of_a_phone(read: Callable[..., Page]) -> None:
    page = read("which-attack", viewport={"width": 390, "height": 800})
    until(lambda: page.evaluate("document.documentElement.scrollHeight") <= 7_500)


def test_the_copies_are_complete(site: Path) -> None:
    rows = copied(site)
    whole = json.loads((site / "book" / "verdicts.json").read_text(encoding="utf-8"))
    assert len(whole["rows"]) == len(rows) > 500
    text = {row["link"].partition("#")[0]: "" for row in rows if row["link"]}
    text = {page: (site / page).read_text(encoding="utf-8") for page in text}
    for link in {row["link"] for row in rows if "#" in row["link"]}:
        page, _, fragment = link.partition("#")
        assert f'id="{fragment}"' in text[page], link


def test_attacks_are_those_that_need_no_more(read: Callable[..., Page]) -> None:
    page = read("which-attack")
    page.get_by_role("button", name="losses", exact=True).click()
    page.get_by_role("button", name="none", exact=True).click()
    names = page.locator(f"{ATTACKS}:visible th strong, {ATTACKS}:visible td:first-child strong")
    expect(names).to_have_text(["LOSS", "0-1"])
    page.get_by_role("button", name="once, with and without them").click()
    until(lambda: shown(page, ATTACKS) > 2)
    page.get_by_role("button", name="weights").click()
    until(lambda: "MATT" in page.locator(f"{ATTACKS}:visible strong").all_inner_texts())
    until(lambda: "IHA" not in page.locator(f"{ATTACKS}:visible strong").all_inner_texts())
