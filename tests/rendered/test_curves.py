"""Curves that a reader reads off, and plots narrowed to some data sets: by mouse and keyboard."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from membership.book.exhibits.exhibit_pages import page_of
from tests.rendered.reading import until, violations_in_card

EXHIBIT = "bmia-fig-5"


@pytest.fixture
def read(open_page: Callable[..., Page], site: Path) -> Callable[..., Page]:
    """Open the page of an exhibit from disk."""

    def read(exhibit: str, **options: object) -> Page:
        page = open_page(**options)
        page.goto((site / "book" / "chapters" / f"{page_of(exhibit)}.html").as_uri())
        return page

    return read


def open_fold(reader: Locator) -> None:
    """By the keyboard: formulas that are set late move what a mouse is about to click."""
    reader.locator("summary").press("Enter")
    expect(reader).to_have_attribute("open", "")


def told(reader: Locator, place: int) -> list[float | None]:
    """A number of each curve where the slider stands: its height, its interval's lower end."""
    rows = reader.locator("tbody tr td:last-child").all_inner_texts()
    numbers = [re.findall(r"[\d.]+", text) for text in rows]
    return [float(each[place]) if len(each) > place else None for each in numbers]


def test_every_curve_is_read_off_where_the_slider_stands(
    read: Callable[..., Page], site: Path
) -> None:
    page = read(EXHIBIT)
    reader = page.locator(f"#{EXHIBIT} .curves").first
    open_fold(reader)
    slider = reader.get_by_role("slider")
    saved = pd.read_csv(site / "results" / "paper" / "bmia" / f"{EXHIBIT}.csv")
    first = saved[saved["panel"] == saved["panel"].iloc[0]]
    for key, place in (("Home", 0), ("End", -1)):
        slider.focus()
        page.keyboard.press(key)
        grid = first["fpr"][first["fpr"] < 1]
        at = first[first["fpr"] == sorted(grid)[place]]
        expect(reader.locator("tbody tr th")).to_have_text(list(at["series"]))
        close = {"rel": 0.006, "abs": 0.051}
        until(lambda: told(reader, 0), pytest.approx(100 * at["tpr"].to_numpy(), **close))
        spread = (at["low"] < at["tpr"]).to_numpy()
        lows = pytest.approx(100 * at["low"][spread].to_numpy(), **close)
        until(lambda: [low for low in told(reader, 1) if low is not None], lows)
        until(
            lambda: slider.get_attribute("aria-valuetext") == reader.locator("output").inner_text()
        )


def test_every_attack_on_parameters_has_its_interval(read: Callable[..., Page], site: Path) -> None:
    page = read("iha-fig-1")
    reader = page.locator("#iha-fig-1 .curves").first
    open_fold(reader)
    saved = pd.read_csv(site / "results" / "paper" / "iha" / "iha-fig-1.csv")
    at = saved[(saved["fpr"] - 0.01).abs() < 1e-9].groupby("panel", sort=False)
    assert len(at) > 1
    for place, (_, rows) in enumerate(at):
        reader.get_by_role("combobox").select_option(index=place)
        expect(reader.locator("output")).to_have_text("1.00%", use_inner_text=True)
        for end, name in ((1, "low"), (2, "high")):
            wanted = pytest.approx(100 * rows[name].to_numpy(), rel=0.006, abs=0.0051)
            until(lambda: told(reader, end), wanted)


def test_another_setting_has_its_own_curves(read: Callable[..., Page]) -> None:
    page = read(EXHIBIT)
    reader = page.locator(f"#{EXHIBIT} .curves").first
    open_fold(reader)
    before = reader.locator("tbody").inner_text()
    reader.get_by_role("combobox").select_option(index=1)
    until(lambda: reader.locator("tbody").inner_text() != before)


def test_without_scripts_and_on_paper_the_figure_stands_alone(read: Callable[..., Page]) -> None:
    page = read(EXHIBIT, java_script_enabled=False)
    expect(page.locator(f"#{EXHIBIT} img").first).to_be_visible()
    expect(page.locator(f"#{EXHIBIT} .curves").first).to_be_hidden()
    page = read(EXHIBIT)
    page.emulate_media(media="print")
    expect(page.locator(f"#{EXHIBIT} figcaption").first).to_be_visible()
    expect(page.locator(f"#{EXHIBIT} .curves").first).to_be_hidden()
    expect(page.locator(".forest-filter:visible")).to_have_count(0)
    name = "run => getComputedStyle(run, '::before').content"
    runs = page.locator(f"#{EXHIBIT} .exhibit-run")
    until(lambda: runs.evaluate_all(f"runs => runs.map({name})")[0], '"Full run"')


def test_a_plot_shows_only_the_data_sets_that_are_pressed(read: Callable[..., Page]) -> None:
    page = read("iha-tab-4")
    run = page.locator("#iha-tab-4 .exhibit-run").first
    groups = run.locator(".forest-group")
    whole = groups.count()
    names = [group.evaluate("g => g.firstChild.textContent.trim()") for group in groups.all()]
    run.get_by_role("button", name=names[1]).focus()
    page.keyboard.press("Space")
    shown = run.locator(".forest-group:visible")
    until(
        lambda: shown.evaluate_all("gs => gs.map(g => g.firstChild.textContent.trim())"), names[1:2]
    )
    page.keyboard.press("Space")
    until(lambda: run.locator(".forest-group:visible").count() == whole > 1)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1366, "light")])
def test_an_open_reader_is_accessible_and_fits(
    read: Callable[..., Page], width: int, scheme: str
) -> None:
    page = read(EXHIBIT, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.locator(f"#{EXHIBIT} .curves summary").first.click()
    inner = page.locator(f"#{EXHIBIT} .curves .exhibit-scroll").first
    until(lambda: inner.evaluate("box => box.scrollWidth - box.clientWidth") <= 1)
    assert violations_in_card(page, EXHIBIT) == []
