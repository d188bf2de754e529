"""Every page, as a reader with a browser meets it: wide and narrow, light and dark."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.rendered import reading
from tests.rendered.reading import AXE_OPTIONS, HEIGHTS, READ_TO_THEIR_ENDS, Kept, until
from tests.rendered.test_figures import measured

WIDE, PHONE = ({"width": width, "height": height} for width, height in HEIGHTS.items())
TABLET = {"width": 768, "height": 1024}
# Every page is read as a phone shows it and as a wider screen does, in both colours; pages made of
# one template stand beside each other and take turns.
TURNS = (
    ((WIDE, "light"), (PHONE, "dark")),
    ((TABLET, "dark"), (PHONE, "light")),
    ((WIDE, "dark"), (PHONE, "light")),
    ((TABLET, "light"), (PHONE, "dark")),
)
# Pages that one program makes of docstrings: what differs is how wide a line is, which a phone
# shows. One in four is read on a wider screen too.
ONE_TEMPLATE, EVERY = "/book/api/", 4
LOADED = "() => !window.MathJax || MathJax.startup.promise.then(() => true)"
UNRENDERED = """() => [...document.querySelectorAll('.math')]
    .filter(m => !m.querySelector('mjx-container') || m.querySelector('mjx-merror'))
    .map(m => m.textContent)"""
WITHOUT_ALT = """() => [...document.querySelectorAll('img')]
    .filter(i => !(i.getAttribute('alt') || '').trim()).map(i => i.getAttribute('src'))"""
# The browser shows the alternative text of a missing picture: ask whether it has pixels.
BROKEN_IMAGES = """() => [...document.querySelectorAll('img')]
    .filter(i => i.complete && !i.naturalWidth).map(i => i.getAttribute('src'))"""
TOO_WIDE = """() => document.documentElement.scrollWidth
    - document.documentElement.clientWidth"""
# What hides a part of itself on a phone, and no shadow at its edge says so.
UNSIGNED = """() => [...document.querySelectorAll(
        'mjx-container[display="true"], .bd-content :has(> table)')]
    .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 2)
    .filter(e => !getComputedStyle(e).backgroundImage.includes('gradient'))
    .map(e => `${e.tagName} ${e.textContent.trim().slice(0, 40)}`)"""
# Cells of ten words or more that have less than half of a phone's width, folds open. The names in a
# plot are left out: its rows have room for three lines.
SQUEEZED = """() => {
    for (const fold of document.querySelectorAll('.bd-content details')) fold.open = true;
    const words = c => c.textContent.trim().split(/\\s+/).length;
    const tables = '.bd-content table:not(.forest)';
    return [...document.querySelectorAll(`${tables} > tbody > tr > :is(td, th)`)]
        .filter(c => c.getClientRects().length && words(c) >= 10 && c.offsetWidth < 195)
        .map(c => `${c.offsetWidth} pixels: ${c.textContent.trim().slice(0, 40)}`);
}"""
# Tables that became blocks, and have lost the name of a cell or a role.
UNNAMED = """() => [...document.querySelectorAll('table.sentences')]
    .filter(t => t.getClientRects().length)
    .filter(t => t.getAttribute('role') !== 'table'
        || [...t.querySelectorAll('tbody :is(td, th)')].some(c =>
            getComputedStyle(c).display !== 'block' || !c.dataset.label || !c.role))
    .map(t => t.textContent.trim().slice(0, 40))"""
# What hides the shadow of something that scrolls, in another colour than what it lies on.
PATCHES = """() => {
    const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const painted = (...colours) => {  // one above the other
        paint.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            paint.fillStyle = colour;
            paint.fillRect(0, 0, 1, 1);
        }
        return [...paint.getImageData(0, 0, 1, 1).data].join();
    };
    const below = e => e ? [...below(e.parentElement), getComputedStyle(e).backgroundColor] : [];
    const hiding = e => getComputedStyle(e).backgroundImage.match(/(?:[a-z]+)\\([^()]*\\)/)[0];
    return [...document.querySelectorAll('.bd-content *')]
        .filter(e => getComputedStyle(e).backgroundAttachment.includes('local'))
        .map(e => [e, hiding(e), below(e.parentElement)])
        .filter(([, ground, places]) => painted(...places, ground) !== painted(...places))
        .map(([e, ground, places]) =>
            `${e.className} in ${e.parentElement.className}: ${ground} on ${places}`);
}"""
# In pixels of a phone; letters of a drawing at the size that they are drawn at.
LEAST_LETTERS = 8
TOO_SMALL = """least => [...document.querySelectorAll('body *')]
    .filter(e => !e.closest('mjx-container') && e.getClientRects().length)
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .filter(e => {
        const drawn = e.ownerSVGElement && e.getScreenCTM();
        const scale = drawn ? Math.sqrt(Math.abs(drawn.a * drawn.d - drawn.b * drawn.c)) : 1;
        return parseFloat(getComputedStyle(e).fontSize) * scale < least;
    })
    .map(e => e.textContent.trim().slice(0, 40))"""

# Contrasts take axe nine tenths of its time on a page of thousands of words. Texts of one colour,
# size and weight on the same grounds have one contrast: the first in sight of each is marked.
MARKED = """() => {
    const grounds = new Map([[null, ""]]), numbers = new Map(), seen = new Set();
    const ground = e => {
        if (!grounds.has(e)) {
            const { backgroundColor: colour, backgroundImage: image, opacity, filter } =
                getComputedStyle(e);
            const below = ground(e.parentElement), own = [colour, image, opacity, filter].join();
            const key = `${below}|${own}`;
            if (!numbers.has(key)) numbers.set(key, `${numbers.size + 1}`);
            grounds.set(e, own === "rgba(0, 0, 0, 0),none,1,none" ? below : numbers.get(key));
        }
        return grounds.get(e);
    };
    for (const e of document.querySelectorAll("body *")) {
        const told = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
        if (!told && !e.matches("input, select, textarea") || !e.checkVisibility()) continue;
        const { color, fontSize, fontWeight, textShadow } = getComputedStyle(e);
        const look = [ground(e), color, fontSize, fontWeight, textShadow, e.disabled].join();
        if (!seen.has(look)) e.setAttribute("data-look", seen.size);
        seen.add(look);
    }
    return seen.size;
}"""
CONTRAST = "color-contrast"
AXE = Axe(f"""{Axe().axe_script};
    axe.configure({{ rules: [{{ id: "{CONTRAST}", selector: "[data-look]" }}] }});""")
# Axe says nothing of what a closed fold hides, and yet asks each of its thousands of cells for its
# looks.
TAKEN_OUT = """() => {
    const hidden = "details:not([open]) > :not(summary)";
    window.takenOut = [...document.querySelectorAll(hidden)]
        .map(each => [each, each.parentNode, each.nextSibling]);
    for (const [each] of window.takenOut) each.remove();
}"""
PUT_BACK = """() => {
    for (const [each, fold, next] of window.takenOut.reverse()) fold.insertBefore(each, next);
}"""
# Formulas, of many thousands of elements, have the colour of the text around them, and one program
# made them all: one chapter's do.
FORMULAS = "gmip"
WITHOUT_FORMULAS = {"exclude": [["mjx-container"]]}


@dataclass
class Findings:
    """What is wrong with the site, by kind; every entry names its page."""

    site: str = ""
    formulas: int = 0
    console: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unrendered: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    axe: list[str] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)
    unsigned: list[str] = field(default_factory=list)
    patches: list[str] = field(default_factory=list)
    squeezed: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    blocks: int = 0
    too_small: list[str] = field(default_factory=list)


def violations(page: Page, context: dict[str, list] | None = None) -> list[str]:
    """The accessibility violations of a page, of every severity."""
    page.evaluate(MARKED)
    page.evaluate(TAKEN_OUT)
    response = AXE.run(page, context, AXE_OPTIONS).response
    page.evaluate(PUT_BACK)
    return [
        f"{found['id']} ({found['impact']}): {found['nodes'][0]['html'][:120]}"
        for found in response["violations"]
    ]


def visit(page: Page, address: str, found: Findings, turn: int, kept: Kept) -> None:
    """Read one page in two sizes and colours, or on a phone alone."""
    place = address.removeprefix(found.site)
    to_its_end = place in READ_TO_THEIR_ENDS
    looks = TURNS[turn % len(TURNS)]
    if ONE_TEMPLATE in address and (turn // len(TURNS)) % EVERY:
        looks = looks[1:]
    for look, (size, scheme) in enumerate(looks):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        # Each time anew: the theme decides at loading what scrolls.
        if to_its_end and size != TABLET:
            width = size["width"]
            kept.readings[place, width] = reading.read(page, address, width)
        else:
            page.goto(address)
        page.wait_for_function(LOADED)
        until(lambda: page.evaluate("() => document.documentElement.dataset.theme"), scheme)
        whole = look == 0 and FORMULAS in address
        name = f"{address.partition('/book/')[2] or address}, {size['width']} pixels, {scheme}"
        found.axe += [
            f"{name}: {text}" for text in violations(page, None if whole else WITHOUT_FORMULAS)
        ]
        found.patches += [f"{name}: {text}" for text in page.evaluate(PATCHES)]
        if (excess := page.evaluate(TOO_WIDE)) > 0:
            found.too_wide.append(f"{name}: {excess} pixels")
    # The last look is a phone's.
    found.unsigned += [f"{name}: {text}" for text in page.evaluate(UNSIGNED)]
    found.too_small += [f"{name}: {text}" for text in page.evaluate(TOO_SMALL, LEAST_LETTERS)]
    found.unnamed += [f"{name}: {text}" for text in page.evaluate(UNNAMED)]
    found.blocks += page.locator("table.sentences").count()
    found.formulas += page.locator("mjx-container").count()
    found.unrendered += [f"{name}: {text}" for text in page.evaluate(UNRENDERED)]
    found.images += [f"{name}: no alt: {src}" for src in page.evaluate(WITHOUT_ALT)]
    found.images += [f"{name}: broken: {src}" for src in page.evaluate(BROKEN_IMAGES)]
    found.squeezed += [f"{name}: {text}" for text in page.evaluate(SQUEEZED)]  # opens the folds
    if (excess := page.evaluate(TOO_WIDE)) > 0:
        found.too_wide.append(f"{name}, folds open: {excess} pixels")
    if place in reading.CHAPTERS:
        kept.figures[place] = measured(page)  # and leaves nothing else to be seen


@pytest.fixture(scope="module")
def findings(browser: Browser, address: str, pages: list[str], kept: Kept) -> Findings:
    """Visit every page once."""
    found, current = Findings(f"{address}/"), [""]
    # Without transitions a colour is final as soon as the theme has changed.
    page = browser.new_page(viewport=WIDE, reduced_motion="reduce")
    page.set_default_timeout(120_000)  # milliseconds: the machine may be busy with other runs
    page.on("console", lambda m: m.type == "error" and found.console.append(f"{current}: {m.text}"))
    page.on("pageerror", lambda error: found.console.append(f"{current}: {error}"))
    page.on("request", lambda r: is_outside(r.url, address) and found.outside.append(r.url))
    page.on("response", lambda r: r.status >= 400 and found.failed.append(f"{current}: {r.url}"))
    for turn, name in enumerate(pages):
        current[0] = name
        if name == "index.html":
            continue  # forwards to the first page, see test_the_address_leads_to_the_first_page
        visit(page, f"{address}/{name}", found, turn, kept)
    page.close()
    return found


def is_outside(url: str, address: str) -> bool:
    """Tell whether a request leaves the site."""
    return not url.startswith((address, "data:", "blob:"))


def test_there_are_pages_and_formulas(findings: Findings, pages: list[str]) -> None:
    assert "book/chapters/bayes_optimal.html" in pages
    assert findings.formulas > 100


def test_no_console_errors(findings: Findings) -> None:
    assert findings.console == []


def test_nothing_is_fetched_from_outside(findings: Findings) -> None:
    assert findings.outside == []


def test_every_file_a_page_asks_for_is_there(findings: Findings) -> None:
    assert findings.failed == []


def test_mathematics_is_rendered(findings: Findings) -> None:
    assert findings.unrendered == []


def test_images_are_there_and_have_alternative_text(findings: Findings) -> None:
    assert findings.images == []


def test_a_pale_word_among_many_is_found(open_page: Callable[..., Page]) -> None:
    page, word = open_page(), "<p>A <em>word</em> of many</p>"
    start = "<!doctype html><html lang='en'><title>Words</title><body><main><h1>Words</h1>"
    for pale in (
        "<p style='color: #bbb'>pale</p>",
        "<p>A <em style='color: #bbb'>word</em></p>",
        "<div style='background: #666'><p>on grey</p></div>",
        "<div style='opacity: .3'><p>faint</p></div>",
    ):
        page.set_content(f"{start}{50 * word}</main></body></html>")
        until(lambda: violations(page), [])
        page.set_content(f"{start}{50 * word}{pale}{word}</main></body></html>")
        until(lambda: [each[:14] for each in violations(page)], [CONTRAST])


def test_no_accessibility_violation_of_any_severity(findings: Findings) -> None:
    assert findings.axe == []


def test_no_page_scrolls_sideways(findings: Findings) -> None:
    assert findings.too_wide == []


def test_what_scrolls_sideways_on_a_phone_has_a_shadow_at_its_edge(findings: Findings) -> None:
    assert findings.unsigned == []


def test_what_hides_a_shadow_has_the_colour_of_its_place(findings: Findings) -> None:
    assert findings.patches == []


def test_words_in_a_table_have_room_on_a_phone(findings: Findings) -> None:
    assert findings.squeezed == []


def test_a_table_of_sentences_is_blocks_with_names_on_a_phone(findings: Findings) -> None:
    assert findings.blocks > 5
    assert findings.unnamed == []


def test_no_letters_are_too_small_on_a_phone(findings: Findings) -> None:
    assert findings.too_small == []


def test_the_address_leads_to_the_first_page(open_page: Callable[..., Page], address: str) -> None:
    page = open_page()
    page.goto(address)
    page.wait_for_url(f"{address}/book/index.html")
    until(lambda: "Was this record used" in page.title())


def test_the_site_works_from_the_disk(open_page: Callable[..., Page], site) -> None:
    page = open_page()
    errors, requests = [], []
    page.on("console", lambda m: m.type == "error" and errors.append(m.text))
    page.on("request", lambda r: requests.append(r.url))
    page.goto((site / "book" / "game.html").as_uri())
    page.wait_for_function(LOADED)
    until(lambda: page.evaluate(UNRENDERED), [])
    assert errors == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def test_dark_mode_toggles(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(color_scheme="light", viewport=WIDE, reduced_motion="reduce")
    page.goto(f"{address}/book/chapters/bayes_optimal.html")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator("button.theme-switch-button:visible").first
    for _ in range(3):  # auto, light, dark in turn
        button.click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            break
    until(lambda: page.evaluate("() => document.documentElement.dataset.theme"), "dark")
    until(lambda: page.evaluate(ground) != light)
    # Figures are drawn light on dark there, on the page's own ground.
    figure = page.locator(".cell_output img").first
    expect(figure).to_have_css("filter", re.compile(r"^invert\(1\)"))
    expect(figure).to_have_css("background-color", "rgba(0, 0, 0, 0)")


def test_a_card_scrolls_within_itself_on_a_phone(
    open_page: Callable[..., Page], address: str
) -> None:
    page = open_page(viewport=PHONE)
    page.goto(f"{address}/book/chapters/iha_details.html")
    frames = page.locator(".exhibit-scroll:visible")
    until(lambda: frames.count() > 0)
    for frame in frames.all():
        box = frame.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
