"""The menu buttons of a page, pressed as a reader presses them."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.rendered.reading import until

CHAPTER = "book/chapters/gmip.html"
# With the same menus, and open in a third of the time.
PAGE = "book/own-data.html"
ON_SCREEN = """element => {
    const place = element.getBoundingClientRect();
    return place.width > 0 && place.right > 0 && place.left < innerWidth;
}"""
COVERED = """element => {
    const place = element.getBoundingClientRect();
    const top = document.elementFromPoint(
        place.left + place.width / 2, place.top + place.height / 2);
    return !(top && (element.contains(top) || top.contains(element)));
}"""
# The theme moves these from the side bar to a dialogue and back.
CONTENT = {"primary": ".bd-docs-nav", "secondary": "#pst-page-toc-nav"}
NARROW = [(390, "mouse"), (390, "touch"), (390, "Enter"), (768, "mouse"), (1024, "mouse")]
WIDE = [(1366, "mouse"), (1366, "Enter")]


def visible(page: Page, kind: str) -> Locator:
    return page.locator(f".{kind}-toggle:visible")


def press(button: Locator, how: str) -> None:
    if how == "mouse":
        button.click()
    elif how == "touch":
        button.tap()
    else:
        button.press(how)


def wait_until(page: Page, kind: str, *, shown: bool) -> None:
    page.wait_for_function(
        f"([name, shown]) => ({ON_SCREEN})(document.querySelector(name)) === shown",
        arg=[CONTENT[kind], shown],
        timeout=20_000,
    )


def close(page: Page, kind: str, how: str) -> None:
    """A menu over the page takes Escape; one beside the page has its button still in sight."""
    if page.locator(f"#pst-{kind}-sidebar-modal[open]").count():
        page.keyboard.press("Escape")
    else:
        press(visible(page, kind), how)


@pytest.mark.parametrize(("width", "how"), NARROW + WIDE)
def test_the_menu_opens_and_closes(
    open_page: Callable[..., Page], address: str, width: int, how: str
) -> None:
    page = open_page(viewport={"width": width, "height": 800}, has_touch=True)
    page.goto(f"{address}/{PAGE}")
    button = visible(page, "primary")
    first = button.get_attribute("aria-expanded") == "true"
    assert first == (width >= 992)
    for shown in (not first, first):
        if shown:
            press(button, how)
        else:
            close(page, "primary", how)
        wait_until(page, "primary", shown=shown)
        expect(button).to_have_attribute("aria-expanded", str(shown).lower())


@pytest.mark.parametrize(("width", "how"), NARROW)
def test_the_contents_open_and_close(
    open_page: Callable[..., Page], address: str, width: int, how: str
) -> None:
    page = open_page(viewport={"width": width, "height": 800}, has_touch=True)
    page.goto(f"{address}/{PAGE}")
    button = visible(page, "secondary")
    press(button, how)
    wait_until(page, "secondary", shown=True)
    expect(button).to_have_attribute("aria-expanded", "true")
    close(page, "secondary", how)
    wait_until(page, "secondary", shown=False)
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(button).to_be_visible()


def test_a_heading_that_is_chosen_is_not_covered_by_the_contents(
    open_page: Callable[..., Page], address: str
) -> None:
    page = open_page(viewport={"width": 390, "height": 800}, has_touch=True)
    page.goto(f"{address}/{CHAPTER}")
    press(visible(page, "secondary"), "touch")
    wait_until(page, "secondary", shown=True)
    page.locator(f"{CONTENT['secondary']} a").last.tap()
    wait_until(page, "secondary", shown=False)
    page.wait_for_url("**#*")
    # The theme has taken the contents back: they open again.
    press(visible(page, "secondary"), "touch")
    wait_until(page, "secondary", shown=True)


def test_a_page_opens_with_logo_and_search_in_sight(
    open_page: Callable[..., Page], address: str
) -> None:
    page = open_page(viewport={"width": 1366, "height": 800})
    page.goto(f"{address}/{CHAPTER}")
    page.wait_for_load_state("load")
    for name in (".navbar-brand img:visible", ".search-button-field"):
        part = page.locator(f"#pst-primary-sidebar {name}").first
        until(lambda: part.evaluate(COVERED), False)


def test_controls_show_where_the_keyboard_is(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(viewport={"width": 1366, "height": 800})
    page.goto(f"{address}/{CHAPTER}")
    page.keyboard.press("Tab")
    for name in (".primary-toggle", ".search-button-field", ".theme-switch-button"):
        control = page.locator(f"{name}:visible").first
        control.focus()
        expect(control).to_have_css("outline-width", "3px")
        expect(control).to_have_css("outline-style", "solid")
