"""A card by mouse, keyboard and without scripts, and the table of claims, in both colours."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from membership import paths
from membership.book.exhibits import Exhibit, cards, claims, files, panels
from membership.book.published import Claim, Contrast
from membership.book.published.claim_rules import about, better
from tests.rendered.reading import until

STATIC = paths.project_root() / "book" / "_static"
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><head><title>Cards</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>.visually-hidden {{ position: absolute; clip-path: inset(50%); width: 1px; height: 1px;
overflow: hidden; white-space: nowrap }} body {{ font-family: sans-serif; margin: 12px;
background: {ground}; color: {ink} }} {css}</style><script>{script}</script></head>
<body><main><h1>Cards</h1><h2>One</h2>{body}</main></body></html>"""
GROUND = {"light": "#ffffff", "dark": "#14181e"}


def table(shift: float) -> pd.DataFrame:
    """Two measures of two attacks on two data sets."""
    rows = [
        {"dataset": data, "attack": attack, "metric": metric, "value": value + shift}
        for data in ("MNIST-Odd", "FashionMNIST")
        for attack, auc in (("LiRA", 0.52), ("IHA, gradient over D for everyone", 0.56))
        for metric, value in (("AUC", auc), ("TPR@1%FPR (%)", 40 * (auc - 0.45)))
    ]
    made = pd.DataFrame(rows)
    width = np.where(made["metric"] == "AUC", 0.01, 0.4)
    return made.assign(low=made["value"] - width, high=made["value"] + width)


def judge(made: pd.DataFrame) -> pd.DataFrame:
    """Each verdict at least once."""
    words = [
        *("agrees", "compatible", "differs", "not comparable"),
        "",
        "agrees",
        "agrees",
        "differs",
    ]
    printed = made["value"] + 0.005
    judged = made.assign(published=printed, spread=0.004, verdict=words, reason="", decimals=3)
    judged = judged.assign(equal_low=printed - 0.01, equal_high=printed + 0.01)
    for name in ("standard_error", "p_value", "difference_low", "difference_high", "margin"):
        judged[name] = 0.01
    first = ["dataset", "attack", "metric", "published", "value", "low", "high"]
    return judged[[*first, *judged.columns.difference(first)]]


@pytest.fixture
def body(tmp_path, monkeypatch) -> str:
    """The card of a made-up Table 2 with two runs, and two claims."""
    monkeypatch.setattr(paths, "results_dir", lambda: tmp_path)

    class Settings:
        chapter, results_dir, seed = "iha", "", 0
        changed = staticmethod(dict)

    exhibit = Exhibit(
        *("iha-tab-2", "Table 2", "AUC", "Who keeps up?", lambda source: table(0.0)),
        judge=judge,
        says=lambda made: f"The best AUC is {made['value'].max():.3f}.",
    )
    for profile, shift in (("paper", 0.0), ("quick", 0.01)):
        Settings.profile = profile
        files.save(exhibit, table(shift), Settings, {})
    card = cards.html(exhibit, panels.panels(exhibit, "quick", ""))
    assert files.load("iha-tab-2", "paper") is not None
    contrast = Contrast("MNIST-Odd", 0.03, 0.002, 9)
    told = (
        Claim(
            "iha-c01", "It is better", "4.2", "s", ("iha-tab-2",), lambda s: better(contrast, 0.01)
        ),
        Claim("iha-c02", "It is alike", "4.2", "s", (), lambda s: about(contrast, 0.01)),
    )
    found = claims.rows(told, (exhibit,), None, None)
    return claims.html("iha", found, (exhibit,)) + card


@pytest.fixture
def cards_page(open_page: Callable[..., Page], body: str) -> Callable[..., Page]:
    """Open the card in a colour scheme, at a width, with or without scripts."""

    def opened(*, theme: str = "light", width: int = 1366, scripts: bool = True) -> Page:
        options = {"viewport": {"width": width, "height": 900}, "java_script_enabled": scripts}
        page = open_page(**options)
        css, script = ((STATIC / f"exhibits.{kind}").read_text() for kind in ("css", "js"))
        other = "dark" if theme == "light" else "light"
        page.set_content(
            PAGE.format(
                theme=theme,
                ground=GROUND[theme],
                ink=GROUND[other],
                css=css,
                script=script,
                body=body,
            )
        )
        return page

    return opened


def shown(page: Page) -> list[bool]:
    return [run.is_visible() for run in page.locator(".exhibit-run").all()]


def test_the_readers_run_is_one_click_or_one_key_away(cards_page):
    page = cards_page()
    until(lambda: shown(page), [True, False])
    tabs = page.get_by_role("tab")
    until(lambda: tabs.all_inner_texts(), ["Full run", "Quick run quick"])
    tabs.nth(1).click()
    until(lambda: shown(page), [False, True])
    page.keyboard.press("ArrowLeft")
    until(lambda: shown(page), [True, False])
    expect(tabs.nth(0)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    until(lambda: shown(page), [False, True])
    until(lambda: [tab.get_attribute("tabindex") for tab in tabs.all()], ["-1", "0"])


def test_without_scripts_both_runs_stand_under_headings(cards_page):
    page = cards_page(scripts=False)
    until(lambda: shown(page), [True, True])
    until(lambda: page.locator("h4.exhibit-run-name").all_inner_texts()[0], "Full run")


def test_a_citation_has_a_button_that_copies_it(cards_page):
    page = cards_page()
    page.get_by_text("Cite and download").click()
    expect(page.get_by_role("button", name="Copy")).to_have_count(2)


def test_a_phone_shows_one_measure_at_a_time(cards_page):
    page = cards_page(width=390)
    heads = page.locator(".exhibit-run:not([hidden]) .forest thead th")
    until(lambda: [head.is_visible() for head in heads.all()], [True, False])
    page.get_by_role("radio", name="TPR at 1% FPR").first.check()
    until(lambda: [head.is_visible() for head in heads.all()], [False, True])
    wide = cards_page(width=1366)
    heads = wide.locator(".exhibit-run:not([hidden]) .forest thead th")
    until(lambda: [head.is_visible() for head in heads.all()], [True, True])


# What fits has nothing to do with the colours.
@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1366, "light")])
def test_a_card_is_accessible_and_fits(cards_page, theme, width):
    page = cards_page(theme=theme, width=width)
    for fold in page.locator("details").all():
        fold.evaluate("fold => { fold.open = true }")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    beyond = """width => [...document.querySelectorAll('main *')]
        .filter(e => e.getBoundingClientRect().right > width && !e.closest('.exhibit-scroll'))
        .map(e => e.outerHTML.slice(0, 100))"""
    until(lambda: page.evaluate(beyond, width), [])
    until(lambda: page.evaluate("document.documentElement.scrollWidth") <= width)
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll('.exhibit *, .claims *')]
           .filter(e => e.textContent.trim() && !e.closest('.visually-hidden, .exhibit-bibtex'))
           .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
    )
    assert smallest >= 12
