"""Every figure as a phone shows it: the size of its smallest text, and whether labels are free."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page

from tests.rendered.reading import CHAPTERS, Kept

SMALLEST = 8  # pixels on the screen
PHONE = {"width": 390, "height": 844}
# Folds without a figure are closed.
UNFOLD = """() => {
    for (const fold of document.querySelectorAll("details"))
        fold.open = fold.querySelector(".exhibit-picture img") !== null;
}"""
# A page sees no text in a picture: its drawing is put in its place, as wide as it is shown. The
# rest of the page, which may be tens of thousands of cells, is not laid out again for each.
MEASURE = """async (images) => {
    for (const image of images) image.loading = "eager";
    await Promise.all(images.map((image) => image.decode()));
    const shown = images.map((image) => [image.currentSrc, image.getBoundingClientRect().width]);
    const files = await Promise.all(
        shown.map(async ([address]) => (await fetch(address)).text()));
    for (const part of document.body.children)
        part.style.setProperty("display", "none", "important");
    return shown.map(([address, width], i) => measured(address, width, files[i]));

    function measured(address, width, drawn) {
        const holder = document.createElement("div");
        holder.style.width = `${width}px`;
        holder.innerHTML = drawn.slice(drawn.indexOf("<svg"));
        document.body.append(holder);
        const svg = holder.firstElementChild;
        svg.style.width = "100%";
        svg.style.height = "auto";
        const frame = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
        const boxes = texts.map((text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect();
            return { said: text.textContent.trim(), left, right, top, bottom };
        });
        const sizes = [...svg.querySelectorAll("text, tspan")].map((text) => {
            const { a, b } = text.getScreenCTM();
            return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
        });
        const beyond = (box) => box.left < frame.left - 1 || box.right > frame.right + 1
            || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
        const over = (p, q) => Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
            && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 3;
        const collisions = boxes.flatMap((p, i) => boxes.slice(i + 1)
            .filter((q) => over(p, q)).map((q) => `${p.said} | ${q.said}`));
        holder.remove();
        return {
            name: address.split("/").slice(-3).join("/"),
            smallest: Math.min(...sizes),
            cut: boxes.filter(beyond).map((box) => box.said),
            collisions,
        };
    }
}"""


@dataclass
class Figures:
    """What was measured of each figure, and what is wrong with some of them, by name."""

    smallest: dict[str, float] = field(default_factory=dict)
    cut: dict[str, list[str]] = field(default_factory=dict)
    collisions: dict[str, list[str]] = field(default_factory=dict)


def measured(page: Page) -> list[dict]:
    """Every figure of a page, of all its runs and in all its folds."""
    page.add_style_tag(content=".exhibit-run[hidden] { display: block !important }")
    page.evaluate(UNFOLD)
    return page.locator(".exhibit-picture img").evaluate_all(MEASURE)


@pytest.fixture(scope="module")
def figures(browser, address: str, kept: Kept) -> Figures:
    """Measure the figures of all chapters once."""
    found = Figures()
    page = browser.new_page(viewport=PHONE)
    for name in CHAPTERS:
        if name not in kept.figures:
            page.goto(f"{address}/{name}", wait_until="domcontentloaded")
            kept.figures[name] = measured(page)
        for one in kept.figures[name]:
            found.smallest[one["name"]] = one["smallest"]
            found.cut |= {one["name"]: one["cut"]} if one["cut"] else {}
            found.collisions |= {one["name"]: one["collisions"]} if one["collisions"] else {}
    page.close()
    return found


def test_no_text_is_too_small_to_read_on_a_phone(figures: Figures) -> None:
    assert len(figures.smallest) > 40
    # Not "size < SMALLEST": a figure that is not drawn has no size, which is less than nothing.
    assert {n: size for n, size in figures.smallest.items() if not size >= SMALLEST} == {}


def test_no_label_is_cut_off(figures: Figures) -> None:
    assert figures.cut == {}


def test_no_label_lies_on_another(figures: Figures) -> None:
    assert figures.collisions == {}


def test_lines_are_light_on_the_dark_page_and_photographs_stay(
    open_page: Callable[..., Page], address: str
) -> None:
    page = open_page(viewport=PHONE, color_scheme="dark")
    page.goto(f"{address}/book/chapters/lood.html", wait_until="domcontentloaded")
    filters = "images => images.map((image) => getComputedStyle(image).filter)"
    drawn = page.locator(".exhibit-picture:not(.of-records) img").evaluate_all(filters)
    records = page.locator(".exhibit-picture.of-records img").evaluate_all(filters)
    assert {"invert" in one for one in drawn} == {True}
    assert set(records) == {"none"}
