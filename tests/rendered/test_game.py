"""The interactive picture of the membership game, its numbers against scipy's."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from scipy.stats import norm

from tests.rendered.reading import until

CONTROLS = {"t": "#game-threshold", "mu": "#game-mean", "sigma": "#game-spread"}
PRESETS = {"a": (0.5, 1.0), "b": (0.79, 2.0)}


def expected(t: float, mu: float, sigma: float) -> dict[str, float]:
    """The six numbers by scipy, from the formulas that the page states."""
    fpr, tpr = norm.sf(t), norm.sf((t - mu) / sigma)
    return {
        "fpr": fpr,
        "tpr": tpr,
        "accuracy": (tpr + 1 - fpr) / 2,
        "auc": norm.cdf(mu / np.sqrt(1 + sigma**2)),
        "tprAt1": norm.sf((norm.isf(0.01) - mu) / sigma),
        "tprAt01": norm.sf((norm.isf(0.001) - mu) / sigma),
    }


def shown(page: Page) -> dict[str, float]:
    """The six numbers that the page shows, before rounding."""
    outputs = page.locator("#membership-game [data-number]").all()
    return {o.get_attribute("data-number"): float(o.get_attribute("data-value")) for o in outputs}


def position(page: Page) -> dict[str, float]:
    """Where the three sliders are."""
    return {name: float(page.locator(at).input_value()) for name, at in CONTROLS.items()}


@pytest.fixture
def game(open_page: Callable[..., Page], address: str) -> Page:
    """The page with the picture, freshly loaded."""
    page = open_page()
    page.goto(f"{address}/book/game.html")
    return page


def test_numbers_at_the_start(game: Page) -> None:
    until(lambda: shown(game) == pytest.approx(expected(**position(game)), abs=1e-6))


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize("key", ["ArrowRight", "PageUp", "Home", "End"])
def test_sliders_move_the_numbers_by_keyboard(game: Page, name: str, key: str) -> None:
    before, numbers = position(game), shown(game)
    game.locator(CONTROLS[name]).focus()
    game.keyboard.press(key)
    until(lambda: {n for n, at in position(game).items() if at != before[n]}, {name})
    after = position(game)
    until(lambda: shown(game) != numbers)
    until(lambda: shown(game), pytest.approx(expected(**after), abs=1e-6))


@pytest.mark.parametrize(("t", "mu", "sigma"), [(-4, 0, 0.5), (8, 4, 3), (3.3, 1.25, 0.7)])
def test_numbers_far_out(game: Page, t: float, mu: float, sigma: float) -> None:
    values = {"t": t, "mu": mu, "sigma": sigma}
    numbers = game.evaluate("values => globalThis.eval('game').numbers(values)", values)
    assert numbers == pytest.approx(expected(**values), rel=1e-9, abs=1e-300)


def test_text_is_the_number_rounded(game: Page) -> None:
    numbers = shown(game)
    expect(game.locator("[data-number=fpr]")).to_have_text(
        f"{100 * numbers['fpr']:.2f}%", use_inner_text=True
    )
    expect(game.locator("[data-number=auc]")).to_have_text(
        f"{numbers['auc']:.3f}", use_inner_text=True
    )


@pytest.mark.parametrize("fpr", [0.1, 0.01, 0.001])
def test_buttons_set_the_threshold(game: Page, fpr: float) -> None:
    game.locator(f"[data-fpr='{fpr}']").click()
    until(lambda: shown(game)["fpr"], pytest.approx(fpr, abs=1e-9))


def test_presets_have_the_same_auc_and_the_tables_numbers(game: Page) -> None:
    table = game.locator("table", has_text="Attack A")
    rows = {r.locator("td").first.inner_text(): r for r in table.locator("tbody tr").all()}
    for column, (name, (mu, sigma)) in enumerate(PRESETS.items(), start=1):
        game.locator(f"[data-preset={name}]").click()
        until(lambda: position(game) | {"mu": mu, "sigma": sigma} == position(game))
        until(lambda: shown(game)["auc"], pytest.approx(0.638, abs=5e-4))
        numbers = shown(game)
        at10 = norm.sf((norm.isf(0.1) - mu) / sigma)
        printed = {
            "AUC": f"{numbers['auc']:.3f}",
            "TPR at 10% FPR": f"{100 * at10:.2f}%",
            "TPR at 1% FPR": f"{100 * numbers['tprAt1']:.2f}%",
            "TPR at 0.1% FPR": f"{100 * numbers['tprAt01']:.2f}%",
        }
        for label, text in printed.items():
            expect(rows[label].locator("td").nth(column)).to_have_text(text, use_inner_text=True)


def test_the_curve_passes_through_the_point_of_the_threshold(game: Page) -> None:
    def apart() -> float:
        curve = game.locator("#game-roc .game-line.member").get_attribute("d")
        points = np.array([pair.split() for pair in curve[1:].split("L")], dtype=float)
        dot = game.locator("#game-roc .game-dot")
        at = np.array([float(dot.get_attribute(name)) for name in ("cx", "cy")])
        return np.linalg.norm(points - at, axis=1).min()

    until(lambda: apart() < 3)  # pixels; the curve is drawn in steps


@pytest.mark.parametrize(("name", "picture"), [("game", "game"), ("index", "first")])
@pytest.mark.parametrize("width", [1366, 390])
def test_the_threshold_is_dragged_and_its_slider_stands_under_it(
    open_page: Callable[..., Page], address: str, name: str, picture: str, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 900})
    page.goto(f"{address}/book/{name}.html")
    drawing, slider = page.locator(f"#{picture}-scores"), page.locator(f"#{picture}-threshold")
    expect(drawing.locator(".game-dot")).to_have_count(1)
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 60)
    page.mouse.down()
    to = box["x"] + 0.7 * box["width"]
    page.mouse.move(to, box["y"] + 60, steps=4)
    page.mouse.up()
    page.mouse.move(box["x"], box["y"] + 60)

    def line() -> float:
        dot = drawing.locator(".game-dot").bounding_box()
        return dot["x"] + dot["width"] / 2

    def knob() -> float:
        track = slider.bounding_box()
        share = (float(slider.input_value()) + 4) / 12
        return track["x"] + 8 + share * (track["width"] - 16)

    until(lambda: abs(line() - to) < 2 and abs(knob() - to) < 2)


def test_the_other_attack_stands_behind_and_the_button_says_which(game: Page) -> None:
    a, b = game.locator("[data-preset=a]"), game.locator("[data-preset=b]")
    behind = game.locator("#game-roc-log .game-line.other")
    expect(a).to_have_attribute("aria-pressed", "true")
    before = game.locator("#game-roc-log .game-line.member").get_attribute("d")
    b.click()
    expect(b).to_have_attribute("aria-pressed", "true")
    expect(a).to_have_attribute("aria-pressed", "false")
    expect(behind).to_have_attribute("d", before)
    game.locator("#game-spread").press("Home")
    expect(behind).to_have_count(2)
    expect(b).to_have_attribute("aria-pressed", "false")


def test_one_innocent_in_a_hundred(open_page: Callable[..., Page], address: str) -> None:
    page = open_page()
    page.goto(f"{address}/book/index.html")
    page.locator("#first-rare").click()
    share = round(100 * norm.sf((norm.isf(0.01) - 2) / 1.2))
    told = f"finds {share} of 100 members, accuses 1 of 100 others"
    expect(page.locator("#first-told")).to_have_text(told, use_inner_text=True)


def test_each_drawing_says_what_it_shows(game: Page) -> None:
    game.locator("[data-preset=b]").click()
    drawings = game.locator("#membership-game svg")
    expect(drawings).to_have_count(3)
    for i, said in enumerate(("standard deviation 2.00", "area 0.638", "22.12% at 1% FPR")):
        expect(drawings.nth(i)).to_have_attribute("aria-label", re.compile(re.escape(said)))


def test_without_javascript_there_is_text(open_page: Callable[..., Page], address: str) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(f"{address}/book/game.html")
    expect(page.locator("#membership-game")).to_contain_text("JavaScript", use_inner_text=True)
    expect(page.locator("table", has_text="Attack A")).to_be_visible()
