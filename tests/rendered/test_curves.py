"""Curves that a reader reads off, and plots narrowed to some data sets: by mouse and keyboard."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from membership.exhibits.homes import page_of
from tests.rendered.reading import violations_in_card

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
        rows = reader.locator("tbody tr").all()
        assert [row.locator("th").inner_text() for row in rows] == list(at["series"])
        for row, (value, low) in zip(rows, at[["tpr", "low"]].to_numpy(), strict=True):
            told = row.locator("td").last.inner_text().replace("%", "").split()
            assert float(told[0]) == pytest.approx(100 * value, rel=0.006, abs=0.051)
            if low < value:
                assert float(told[1]) == pytest.approx(100 * low, rel=0.006, abs=0.051)
        assert slider.get_attribute("aria-valuetext") == reader.locator("output").inner_text()


def test_every_attack_on_parameters_has_its_interval(read: Callable[..., Page], site: Path) -> None:
    page = read("iha-fig-1")
    reader = page.locator("#iha-fig-1 .curves").first
    open_fold(reader)
    saved = pd.read_csv(site / "results" / "paper" / "iha" / "iha-fig-1.csv")
    at = saved[(saved["fpr"] - 0.01).abs() < 1e-9].groupby("panel", sort=False)
    assert len(at) > 1
    for place, (_, rows) in enumerate(at):
        reader.get_by_role("combobox").select_option(index=place)
        assert reader.locator("output").inner_text() == "1.00%"
        shown = [row.locator("small").inner_text() for row in reader.locator("tbody tr").all()]
        for said, row in zip(shown, rows.to_dict("records"), strict=True):
            low, high = (float(part) for part in said.replace("%", "").split(" to "))
            assert low == pytest.approx(100 * row["low"], rel=0.006, abs=0.0051)
            assert high == pytest.approx(100 * row["high"], rel=0.006, abs=0.0051)


def test_another_setting_has_its_own_curves(read: Callable[..., Page]) -> None:
    page = read(EXHIBIT)
    reader = page.locator(f"#{EXHIBIT} .curves").first
    open_fold(reader)
    before = reader.locator("tbody").inner_text()
    reader.get_by_role("combobox").select_option(index=1)
    assert reader.locator("tbody").inner_text() != before


def test_without_scripts_and_on_paper_the_figure_stands_alone(read: Callable[..., Page]) -> None:
    page = read(EXHIBIT, java_script_enabled=False)
    assert page.locator(f"#{EXHIBIT} img").first.is_visible()
    assert not page.locator(f"#{EXHIBIT} .curves").first.is_visible()
    page = read(EXHIBIT)
    page.emulate_media(media="print")
    assert page.locator(f"#{EXHIBIT} figcaption").first.is_visible()
    assert not page.locator(f"#{EXHIBIT} .curves").first.is_visible()
    assert page.locator(".forest-filter:visible").count() == 0
    name = "run => getComputedStyle(run, '::before').content"
    runs = page.locator(f"#{EXHIBIT} .exhibit-run").evaluate_all(f"runs => runs.map({name})")
    assert runs[0] == '"Paper-size run"'


def test_a_plot_shows_only_the_data_sets_that_are_pressed(read: Callable[..., Page]) -> None:
    page = read("iha-tab-4")
    run = page.locator("#iha-tab-4 .exhibit-run").first
    groups = run.locator(".forest-group")
    whole = groups.count()
    names = [group.evaluate("g => g.firstChild.textContent.trim()") for group in groups.all()]
    run.get_by_role("button", name=names[1]).focus()
    page.keyboard.press("Space")
    shown = run.locator(".forest-group:visible")
    assert shown.evaluate_all("gs => gs.map(g => g.firstChild.textContent.trim())") == names[1:2]
    page.keyboard.press("Space")
    assert run.locator(".forest-group:visible").count() == whole > 1


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1366, "light")])
def test_an_open_reader_is_accessible_and_fits(
    read: Callable[..., Page], width: int, scheme: str
) -> None:
    page = read(EXHIBIT, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.locator(f"#{EXHIBIT} .curves summary").first.click()
    inner = page.locator(f"#{EXHIBIT} .curves .exhibit-scroll").first
    assert inner.evaluate("box => box.scrollWidth - box.clientWidth") <= 1
    assert violations_in_card(page, EXHIBIT) == []
