"""The privacy calculator in a browser, its numbers against the accountant's."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from membership import paths, privacy

VECTORS = [
    {"n": 400, "records": 48_000, "epochs": 10, "d": 650, "k": "", "clip": 500, "tau": 2.84},
    {"n": 64, "records": 1_000, "epochs": 3.5, "d": 37, "k": 120, "clip": 1.5, "tau": 0.08},
    {"n": 1_000, "records": 43_000, "epochs": 20, "d": 513, "k": "", "clip": "", "tau": 0},
]
HEAD = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Privacy calculator</title>
<link rel="stylesheet" href="../_static/custom.css">
<link rel="stylesheet" href="../_static/game.css">
<style>html[data-theme=light] {{--pst-color-background: #fff; --pst-color-text-base: #222832;
--pst-color-text-muted: #48566b; background: #fff; color: #222832}}
html[data-theme=dark] {{--pst-color-background: #14181e; --pst-color-text-base: #ced6dd;
--pst-color-text-muted: #9ca4af; background: #14181e; color: #ced6dd}}</style>
</head><body><main><h1>Privacy calculator</h1>"""


def page_file(folder: Path, theme: str = "light") -> str:
    """The calculator's own markup and scripts, as the book has them, without the theme."""
    book = paths.project_root() / "book"
    text = (book / "gmip_calculator.md").read_text(encoding="utf-8")
    markup = re.search(r"```\{raw\} html\n(.*?)```", text, re.S)[1]
    shutil.copytree(book / "_static", folder / "_static", dirs_exist_ok=True)
    page = folder / "book" / "gmip_calculator.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text(HEAD.format(theme=theme) + markup + "</main></body></html>", encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def calculator(open_page: Callable[..., Page], tmp_path: Path) -> Iterator[Page]:
    page = open_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.goto(page_file(tmp_path))
    yield page
    assert problems == []


def shown(page: Page) -> dict[str, float]:
    """The numbers of the page, before rounding."""
    outputs = page.locator("#gmip-calculator [data-number]").all()
    return {o.get_attribute("data-number"): float(o.get_attribute("data-value")) for o in outputs}


def expected(vector: dict) -> dict[str, float]:
    optional = {k: vector[k] if vector[k] != "" else None for k in ("k", "clip")}
    found = privacy.assess(
        vector["n"], vector["records"], vector["epochs"], vector["d"], **optional, tau=vector["tau"]
    )
    rates = {
        f"{name}Tpr{i}": float(privacy.gaussian_tpr(rate, mu))
        for i, rate in enumerate((0.001, 0.01, 0.1))
        for name, mu in (("mip", found.mip), ("gdp", found.gdp))
    }
    levels = {"mipStep": found.mip_step, "gdpStep": found.gdp_step}
    return {"steps": found.steps, "mip": found.mip, "gdp": found.gdp, **levels, **rates}


def curves(page: Page) -> list[str]:
    return [line.get_attribute("d") for line in page.locator("[data-curve]").all()]


@pytest.mark.parametrize("vector", VECTORS)
def test_numbers_are_the_accountants(calculator: Page, vector: dict) -> None:
    for name, value in vector.items():
        calculator.locator(f"input[name={name}]").fill(str(value))
    assert shown(calculator) == pytest.approx(expected(vector), abs=1e-6)


def test_typing_changes_the_curve(calculator: Page) -> None:
    before = curves(calculator)
    field = calculator.get_by_label("Batch size")
    field.focus()
    calculator.keyboard.press("End")
    calculator.keyboard.type("0")
    assert field.input_value() == "4000"
    after = curves(calculator)
    assert len(before) == len(after) == 4
    # Without noise the other curve is no guarantee, whatever the batch.
    changed = [one != other for one, other in zip(before, after, strict=True)]
    assert changed == [True, False, True, False]


def test_presets_have_the_pages_own_table(calculator: Page) -> None:
    text = (paths.project_root() / "book" / "gmip_calculator.md").read_text(encoding="utf-8")
    for name, label in (("cifar", "CIFAR-10"), ("purchase", "Purchase"), ("adult", "Adult")):
        calculator.locator(f"[data-preset={name}]").click()
        numbers = shown(calculator)
        row = re.search(rf"\| {label}:.*", text)[0].split("|")
        assert float(row[2]) == pytest.approx(numbers["mipStep"], abs=5e-5)
        assert float(row[3]) == pytest.approx(numbers["mip"], abs=5e-5)
        assert float(row[4].strip(" %")) == pytest.approx(100 * numbers["mipTpr1"], abs=5e-4)


def test_the_levels_at_the_rank_are_the_accountants(calculator: Page) -> None:
    text = (paths.project_root() / "book" / "gmip_calculator.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| (\S+), at the rank: .*", text)
    assert rows == ["CIFAR-10", "Purchase", "Adult"]
    for name, label in zip(("cifar", "purchase", "adult"), rows, strict=True):
        row = re.search(rf"\| {label}, at the rank: .*", text)[0]
        calculator.locator(f"[data-preset={name}]").click()
        calculator.locator("input[name=d]").fill(re.search(r"\$d = (\d+)\$", row)[1])
        numbers, cells = shown(calculator), row.split("|")
        assert float(cells[2]) == pytest.approx(numbers["mipStep"], abs=5e-5)
        assert float(cells[3]) == pytest.approx(numbers["mip"], abs=5e-5)
        assert float(cells[4].strip(" %")) == pytest.approx(100 * numbers["mipTpr1"], abs=5e-4)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n", "1", "batch size n of 2 or more"),
        ("n", "", "batch size n of 2 or more"),
        ("records", "10", "at least the batch size"),
        ("epochs", "0", "epochs above 0"),
        ("d", "0", "dimension d of 1 or more"),
        ("k", "-1", "susceptibility K above 0"),
        ("tau", "-1", "noise τ of 0 or more"),
        ("clip", "0", "clipping norm C above 0"),
    ],
)
def test_bad_sizes_are_named(calculator: Page, name: str, value: str, message: str) -> None:
    calculator.locator(f"input[name={name}]").fill(value)
    assert message in calculator.locator("#gmip-status").inner_text()
    assert curves(calculator) == []
    assert set(calculator.locator("[data-number]").all_inner_texts()) == {"\u2013"}


def test_noise_needs_a_clipping_norm(calculator: Page) -> None:
    calculator.locator("input[name=clip]").fill("")
    assert calculator.locator("#gmip-status").inner_text() == ""
    calculator.locator("input[name=tau]").fill("1")
    assert "clipping norm C" in calculator.locator("#gmip-status").inner_text()


def test_levels_beyond_floating_point_are_no_guarantee(calculator: Page) -> None:
    calculator.locator("input[name=k]").fill("1e9")
    assert shown(calculator)["mip"] == float("inf")
    assert calculator.locator("[data-number=mip]").inner_text() == "no guarantee"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_accessible_and_fits(
    open_page: Callable[..., Page], tmp_path: Path, theme: str, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 800})
    page.goto(page_file(tmp_path, theme))
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    labels = [s.get_attribute("aria-label") for s in page.locator("svg").all()]
    assert all("At 1 % FPR the TPR is 6.181 %" in label for label in labels)


def test_without_javascript_there_is_text(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(page_file(tmp_path))
    assert "needs JavaScript" in page.locator("#gmip-calculator").inner_text()
