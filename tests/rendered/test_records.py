"""Records one by one, as a reader meets them: by mouse, keyboard and touch, and from disk."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from membership.book.exhibits.exhibit_pages import page_of
from tests.rendered.reading import until, violations_in_card

CARDS = ("lood-ctl-4", "iha-ctl-10")
# A card may lie in closed folds; all others stay as they are.
UNFOLD = """card => {
    let fold = document.getElementById(card).parentElement.closest("details");
    for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
}"""


@pytest.fixture
def opened(open_page: Callable[..., Page], site: Path) -> Callable[..., Locator]:
    """A card's records on a page opened from disk, unfolded."""

    def opened(card: str, **options: object) -> Locator:
        page = open_page(**options)
        page.goto((site / "book" / "chapters" / f"{page_of(card)}.html").as_uri())
        page.evaluate(UNFOLD, card)
        records = page.locator(f"#{card} .records").first
        records.locator("summary").click()
        return records

    return opened


def shown(records: Locator) -> tuple[str, list[list[str]]]:
    rows = records.locator("tbody tr").all()
    cells = [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]
    return records.locator("caption").inner_text(), cells


def test_a_record_has_its_picture_label_and_rank_by_every_attack(
    opened: Callable[..., Locator], site: Path
):
    records = opened("iha-ctl-10")
    saved = pd.read_csv(site / "results" / "paper" / "iha" / "iha-ctl-10.csv")
    digits = saved[saved["dataset"] == "Digits"]
    attacks = list(digits["attack"].unique())
    wide = digits.pivot(index="record", columns="attack", values="value")
    ranks = wide.rank(ascending=False, method="min").astype(int)
    choices = records.locator(".records-grid label").all()
    assert len(choices) == len(wide) > 2
    for choice in (choices[0], choices[-1]):
        choice.hover()
        label = choice.locator("img").get_attribute("alt")
        record = int(label.rpartition(" ")[2])
        said = [
            [name, f"{wide.loc[record, name]:.4g}", f"{ranks.loc[record, name]} of {len(wide)}"]
            for name in attacks
        ]
        assert label.startswith("digit ")
        until(lambda: shown(records), (label, said))
        picture = records.locator(".records-panel > img")
        until(lambda: picture.evaluate("i => i.decode().then(() => i.naturalWidth)"), 8)
        expect(picture).to_have_attribute("alt", label)


@pytest.mark.parametrize("card", CARDS)
def test_arrow_keys_and_touch_choose_the_mouse_leaves_the_choice_and_both_fit(
    card: str, opened: Callable[..., Locator]
):
    records = opened(card, viewport={"width": 1366, "height": 800})
    first = shown(records)[0]
    records.locator("input").first.focus()
    records.page.keyboard.press("ArrowRight")
    until(lambda: shown(records)[0] != first)
    second = shown(records)[0]
    records.locator(".records-grid label").nth(3).hover()
    until(lambda: shown(records)[0] not in (first, second))
    records.locator("summary").hover()
    until(lambda: shown(records)[0], second)
    dark = {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}
    touched = opened(card, has_touch=True, **dark)
    touched.locator(".records-grid label").nth(2).tap()
    expect(touched.locator("input").nth(2)).to_be_checked()
    until(lambda: shown(touched)[0] != first)
    if card == CARDS[1]:
        for page, width in ((records.page, 1366), (touched.page, 390)):
            until(lambda: page.evaluate("document.documentElement.scrollWidth") <= width)
            assert violations_in_card(page, card) == []


def test_without_scripts_and_on_paper_the_picture_stands_alone(opened, open_page, site):
    page = open_page(java_script_enabled=False)
    page.goto((site / "book" / "chapters" / "lood.html").as_uri())
    expect(page.locator("#lood-ctl-4 img").first).to_be_visible()
    expect(page.locator("#lood-ctl-4 .records").first).to_be_hidden()
    records = opened("lood-ctl-4")
    records.page.emulate_media(media="print")
    expect(records).to_be_hidden()
    expect(records.page.locator("#lood-ctl-4 .exhibit-picture img").first).to_be_visible()


def test_a_pale_word_and_a_shared_id_of_a_card_are_found(open_page: Callable[..., Page]) -> None:
    start = "<!doctype html><html lang='en'><title>Cards</title><body><main><h1>Cards</h1>"
    page, card = open_page(), "<article class='exhibit' id='{}'><p id='{}'>{}</p></article>"
    pale = "<em style='color: #bbb'>pale</em>"
    for name, word, expected in (
        ("own", "dark", []),
        ("own", pale, ["color-contrast"]),
        ("same", "dark", ["id"]),
    ):
        page.set_content(start + card.format("one", name, word) + card.format("two", "same", pale))
        assert [found[0] for found in violations_in_card(page, "one")] == expected
