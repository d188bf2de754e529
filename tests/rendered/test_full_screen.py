"""Widgets alone on the screen, for a lecture hall."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.rendered.reading import until

HALL = {"width": 1920, "height": 1080}
WIDGETS = {
    "index": "Two groups of scores",
    "game": "The membership game",
    "gmip_calculator": "Privacy calculator",
    "audit": "Audit of a file of scores",
}
ALONE = "() => document.fullscreenElement?.getAttribute('aria-label') ?? null"
# The least size that letters are drawn at, drawings included.
LEAST_LETTERS = """() => Math.min(...[...document.querySelectorAll('.game *')]
    .filter(e => e.checkVisibility() && !e.closest('noscript, option, optgroup'))
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .map(e => {
        const drawn = e.ownerSVGElement && e.getScreenCTM();
        const scale = drawn ? Math.sqrt(Math.abs(drawn.a * drawn.d - drawn.b * drawn.c)) : 1;
        return parseFloat(getComputedStyle(e).fontSize) * scale;
    }))"""
TOO_WIDE = """() => {
    const widget = document.querySelector(".game");
    return widget.scrollWidth - widget.clientWidth;
}"""

# Drawings follow the screen in the next frame.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


def read(page: Page, address: str, name: str) -> Page:
    page.goto(f"{address}/book/{name}.html")
    if name == "gmip_calculator":
        page.locator("#gmip-calculator[aria-busy=false]").wait_for()
    return page


def enter(page: Page, label: str) -> None:
    page.get_by_role("button", name=f"Full screen: {label}", exact=True).press("Enter")
    page.wait_for_function("() => document.fullscreenElement")
    page.evaluate(NEXT_FRAME)


def leave(page: Page, label: str) -> None:
    page.get_by_role("button", name=f"Leave full screen: {label}", exact=True).press("Enter")
    page.wait_for_function("() => !document.fullscreenElement")
    page.wait_for_function("old => document.querySelector('.game').clientWidth < old", arg=1900)
    page.evaluate(NEXT_FRAME)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "label"), WIDGETS.items())
def test_a_widget_fills_the_screen_in_larger_letters(
    name: str, label: str, scheme: str, address: str, open_page: Callable[..., Page]
) -> None:
    page = read(open_page(viewport=HALL, color_scheme=scheme), address, name)
    small, box = page.evaluate(LEAST_LETTERS), page.locator(".game").bounding_box()
    enter(page, label)
    until(lambda: page.evaluate(ALONE), label)
    until(lambda: page.evaluate(LEAST_LETTERS) >= 1.4 * small)
    until(lambda: page.locator(".game").bounding_box(), {"x": 0, "y": 0} | HALL)
    until(lambda: page.evaluate(TOO_WIDE) <= 0)
    ground = "e => getComputedStyle(e).backgroundColor"
    expected = page.locator("body").evaluate(ground)
    until(lambda: page.locator(".game").evaluate(ground), expected)
    found = Axe().run(page, {"include": [[".game"]]}, {"preload": False})
    assert found.violations_count == 0, found.generate_report()
    leave(page, label)
    until(lambda: page.evaluate(LEAST_LETTERS), pytest.approx(small))
    until(lambda: page.locator(".game").bounding_box()["width"], pytest.approx(box["width"]))


def test_the_game_needs_no_scrolling_in_full_screen(
    address: str, open_page: Callable[..., Page]
) -> None:
    for width, height in ((1366, 768), (1920, 1080), (1280, 720)):
        page = read(open_page(viewport={"width": width, "height": height}), address, "game")
        enter(page, WIDGETS["game"])
        excess = "e => e.scrollHeight - e.clientHeight"
        until(lambda: page.locator(".game").evaluate(excess) <= 0)


def test_there_is_no_button_where_a_browser_has_no_full_screen(
    address: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(fresh=True, viewport={"width": 390, "height": 844})
    page.add_init_script(
        "Object.defineProperty(Document.prototype, 'fullscreenEnabled', { value: undefined });"
    )
    for name in WIDGETS:
        page.goto(f"{address}/book/{name}.html")
        expect(page.locator("button.full-screen")).to_have_count(1)
        expect(page.locator("button.full-screen")).to_be_hidden()


@pytest.mark.parametrize("name", WIDGETS)
def test_a_phone_with_full_screen_has_nothing_cut_off(
    name: str, address: str, open_page: Callable[..., Page]
) -> None:
    page = read(open_page(viewport={"width": 390, "height": 844}), address, name)
    enter(page, WIDGETS[name])
    until(lambda: page.evaluate(TOO_WIDE) <= 0)
