"""The privacy calculator in a browser, its numbers against the accountant's."""

import functools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

import membership
from membership import privacy
from membership.book.cli.calculator import calculate
from membership.book.studies.gmip.settings import RECIPES
from tests.rendered.calculators import (
    RUN,
    SHORT,
    attended,
    curves,
    enter,
    fill,
    flat,
    page_file,
    shown,
)
from tests.rendered.reading import PATIENCE, until


@pytest.fixture
def opened(open_page: Callable[..., Page], tmp_path: Path) -> Iterator[Page]:
    yield from attended(open_page(), page_file(tmp_path))


@pytest.fixture(scope="module")
def shared(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """One page for many tests, each of which fills in every field."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    yield from attended(page, page_file(tmp_path_factory.mktemp("calculator")))
    page.close()


@pytest.fixture
def calculator(opened: Page) -> Page:
    """The page with a run whose numbers nobody waits for: the test fills in more."""
    enter(opened, **RUN)
    return opened


def drawn_at_random() -> list[dict[str, Any]]:
    """120 settings, the same each time: noise for 19 in 20, a target for the others."""
    rng = np.random.default_rng(16)
    schemes = [("poisson", "add-remove"), ("poisson", "replace-one")]
    schemes += [("fixed", "replace-one"), ("shuffled", "replace-one")]
    settings = []
    for i in range(120):
        n = int(np.exp(rng.uniform(np.log(2), np.log(3000))))
        sampling, adjacency = schemes[i % 4]
        one = {
            "n": n,
            "n_records": int(n * np.exp(rng.uniform(0.01, np.log(1000)))),
            "epochs": round(float(np.exp(rng.uniform(np.log(0.1), np.log(60)))), 3),
            "sampling": sampling,
            "adjacency": adjacency,
            "d": int(rng.integers(1, 3000)) if i % 3 else None,
            "k": [round(float(rng.uniform(1, 3000)), 2)] if i % 5 == 1 else [],
            "clip": round(float(rng.uniform(0.1, 500)), 2),
            "delta": float(f"{10 ** rng.uniform(-7, -3):.3g}"),
            "fpr": 0.01,
            "start": "sigma",
            "value": 0.0 if i % 17 == 3 else float(f"{np.exp(rng.uniform(-1, 3)):.4g}"),
            "epsilon": round(float(rng.uniform(0, 0.5)), 2),
            "prior": round(float(rng.uniform(0.001, 0.99)), 3),
        }
        if i % 20 == 7:
            start = ("epsilon-differential", "mu-differential", "tpr-differential")[i // 20 % 3]
            if i % 40 == 7 and one["d"] is not None and start != "epsilon-differential":
                start = start.replace("differential", "membership")
            low, high = (0.02, 0.6) if start.startswith("tpr") else (0.2, 4)
            one |= {"start": start, "value": float(f"{rng.uniform(low, high):.3g}")}
        settings.append(one | further(i, one))
    return settings


def further(i: int, one: dict[str, Any]) -> dict[str, Any]:
    """Of some settings: a group, earlier phases, a rate and steps, several K."""
    found: dict[str, Any] = {}
    if i % 12 == 0:
        found |= {"group": 2 + i // 12 % 4, "d": None, "k": []}
    if i % 6 == 2:
        phase = {"n": one["n"] + 1.0, "n_records": one["n_records"] + 9.0, "epochs": 2.5}
        found["history"] = [phase | {"sigma": 1.5}, {"rate": 0.01, "steps": 40.0, "sigma": 0.9}]
        found |= {"d": None, "k": []}
    if i % 6 == 5 and one["d"]:
        found["history"] = [{"n": 50.0, "rate": 0.02, "steps": 30.0, "sigma": 2.0}]
        found["k"] = [30.0, 500.0, 2.5]
    if i % 8 == 6:
        found |= {"n_records": None, "epochs": None, "rate": 0.013, "steps": 10 * i}
    return found


CORNERS = [
    {"n": 1, "d": None, "k": [], "epochs": 3, "delta": 1e-12, "value": 0.8},
    {"n": 20, "epochs": 30, "delta": 1e-50, "value": 3.0, "sampling": "fixed"},
    {"n": 20, "epochs": 30, "delta": 1e-9, "value": 1.8},
    {"n": 1000, "epochs": 10**8, "delta": 1e-9, "value": 1e4},
    {"n": 10, "epochs": 200, "value": 1.8},
    {"n": 10, "epochs": 1, "value": 0.05},
]


def corners() -> list[dict[str, Any]]:
    """Small deltas, batches of one, a full batch, many steps, a cut-off."""
    run = {"n_records": 1000, "sampling": "poisson", "adjacency": "replace-one", "d": 60, "k": []}
    run |= {"clip": 1.0, "delta": 1e-5, "fpr": 0.01, "start": "sigma", "epsilon": 3, "prior": 0.1}
    return [run | corner for corner in CORNERS]


SIZES = ("n", "n_records", "epochs", "rate", "steps")
OPTIONS = {"n": "-n", "n_records": "-N", "d": "-d", "clip": "-C", "epsilon": "--at-epsilon"}


def written(phase: dict[str, float]) -> str:
    return " ".join(f"{name}={value!r}" for name, value in phase.items())


def in_fields(one: dict[str, Any]) -> dict[str, Any]:
    """A setting as the page reads it."""
    rest = {name: value for name, value in one.items() if name not in SIZES}
    phase = {name: one.get(name) for name in SIZES}
    rest["history"] = "\n".join(map(written, one.get("history", [])))
    audit = {"epsilon": None, "delta": None, "mu": None}
    return {"group": 1} | rest | {"phase": phase, "audit": audit}


def command_line(one: dict[str, Any]) -> list[str]:
    target, _, protect = one["start"].partition("-")
    words = ["gmip", "--alone", f"--{target}", repr(one["value"])]
    words += ["--protect", protect] if protect else []
    for name, value in one.items():
        if name not in ("start", "value", "k", "history") and value is not None:
            words += [OPTIONS.get(name, f"--{name}"), str(value)]
    words += [word for k in one["k"] for word in ("-K", str(k))]
    return words + [
        word for phase in one.get("history", []) for word in ("--phase", written(phase))
    ]


def printed(output: str) -> dict[str, float]:
    """What the command printed, as the page names it."""

    def value(text: str) -> float:
        if text in ("no guarantee", "not counted"):
            return math.inf
        return float(text[:-2]) / 100 if text.endswith(" %") else float(text)

    rows = {
        name.strip(): [value(cell) for cell in re.split(r" {2,}", rest.strip())]
        for name, rest in re.findall(r"^(\S.{39})(.+)$", output, re.M)
        if re.match(r"\s*[\d-]|\s*no guarantee|\s*not counted", rest)
    }
    named = {"steps": "steps", "sigma": "noise multiplier sigma", "epsilon": "epsilon at delta"}
    named |= {"tau": "noise tau at C", "membership.oneSided": "mu of all steps, one-sided"}
    starts = {
        label: next(v[0] for k, v in rows.items() if k.startswith(row))
        for label, row in named.items()
    }
    pairs = {"step": "mu of one step, record in the batch", "mu": "mu of all steps"}
    pairs |= {"limit": "mu of all steps, limit"}
    pairs |= {"auc": "AUC, at most", "advantage": "advantage, at most"}
    for i, rate in enumerate(("0.1", "1", "10")):
        pairs[f"tpr.{i}"] = f"TPR at {rate} % FPR, at most"
        pairs[f"posterior.{i}"] = f"members of the accused at {rate} % FPR"
        if (over := f"TPR over all K at {rate} % FPR, at most") in rows:
            starts[f"mixture.{i}"] = rows[over][0]
    pairs["delta"] = next((name for name in rows if name.startswith("delta at epsilon")), "")
    for part, row in pairs.items():
        if row in rows:
            starts[f"membership.{part}"], starts[f"differential.{part}"] = rows[row]
    return starts


def assessed(one: dict[str, Any]) -> privacy.Assessment:
    sizes = {name: one.get(name) for name in SIZES}
    run = {name: one[name] for name in ("d", "sampling", "adjacency", "delta")}
    # As the command hands them on.
    run |= {"k": (tuple(one["k"]) if len(one["k"]) > 1 else one["k"][0]) if one["k"] else None}
    run |= {"history": one.get("history", []), "group": one.get("group", 1)}
    target, _, protect = one["start"].partition("-")
    sigma = one["value"]
    if protect:
        chosen = {"protect": protect, "fpr": one["fpr"]}
        sigma = privacy.required_sigma(target, one["value"], **sizes, **run, **chosen)
    return privacy.assess(**sizes, **run, sigma=sigma)


def remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which computes once what is asked twice."""
    known: dict[Any, Any] = {}

    def remembered(*values: Any, **named: Any) -> Any:
        key = repr((values, sorted(named.items())))
        if key not in known:
            known[key] = function(*values, **named)
        return known[key]

    return remembered


def test_page_command_and_library_are_one(opened: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("assess", "required_sigma"):
        monkeypatch.setattr(privacy, name, remembering(getattr(privacy, name)))
    settings = drawn_at_random() + corners()
    script = """settings => settings.map(given => {
        given.history = gmip.history(given.history);
        const numbers = gmip.assess(given, gmip.sigma(given));
        return [gmip.problem(given), JSON.parse(JSON.stringify(numbers, (name, value) =>
            value === Infinity ? "inf" : value))];
    })"""
    # The page's functions of these numbers: what it shows is neither read nor changed.
    answers = opened.evaluate(script, [*map(in_fields, settings)])
    runner = CliRunner()
    for one, (problem, page) in zip(settings, answers, strict=True):
        assert problem == ""
        found = assessed(one)
        asked = one["epsilon"], one["prior"]
        expected = flat(found, found.sigma * one["clip"] / one["n"], *asked)
        numbers = {name: float(functools.reduce(_part, name.split("."), page)) for name in expected}
        # Levels beyond a thousand promise nothing, and the command prints six digits of them.
        assert numbers == pytest.approx(expected, abs=1e-6, rel=1e-6), one
        result = runner.invoke(calculate, command_line(one))
        assert result.exit_code == 0, result.output
        assert printed(result.output) == pytest.approx(expected, abs=1e-6, rel=1e-6), one


def _part(found: Any, name: str) -> Any:
    return found[int(name) if name.isdigit() else name]


def test_the_fields_are_what_is_calculated(calculator: Page) -> None:
    given = {"n": 64, "records": 1000, "epochs": 3.5, "d": 37, "k": 120, "clip": 1.5}
    given |= {"delta": 1e-4, "adjacency": "replace-one", "start": "tau", "value": 0.08}
    fill(calculator, **given)
    sigma = privacy.noise_multiplier(64, 0.08, 1.5)
    found = privacy.assess(64, 1000, 3.5, 37, 120, sigma=sigma, adjacency="replace-one", delta=1e-4)
    until(lambda: shown(calculator), pytest.approx(flat(found, 0.08), abs=1e-6))
    fill(calculator, start="tpr-differential", value=5, fpr=0.01)
    until(lambda: shown(calculator)["differential.tpr.1"], pytest.approx(0.05, abs=1e-6))


OPENING = ["--alone", "-n", "400", "-N", "48000", "--epochs", "10", "-d", "650", "-C", "500"]
OPENING += [
    "--prior",
    "0.5",
    "--at-epsilon",
    "1",
    "--sigma",
    "1",
    "--sampling",
    "fixed",
    "--adjacency",
    "replace-one",
]


def test_the_page_opens_where_the_two_promises_differ(opened: Page) -> None:
    result = CliRunner().invoke(calculate, ["gmip", *OPENING])
    numbers = printed(result.output)
    until(lambda: shown(opened), pytest.approx(numbers, abs=1e-6, rel=1e-6))
    times = numbers["differential.tpr.1"] / numbers["membership.tpr.1"]
    assert times > 3
    expect(opened.locator("#gmip-point")).to_contain_text(
        f"allows {times:.1f} times as many", use_inner_text=True
    )

    def length(name: str) -> float:
        return opened.locator(f"[data-bar={name}]").bounding_box()["width"]

    until(lambda: length("differential") / length("membership"), pytest.approx(times, rel=0.05))
    fill(opened, **RUN)
    expect(opened.locator("#gmip-point")).to_have_text(
        "Both promise the same.", use_inner_text=True
    )
    opened.get_by_role("button", name="where the two differ").click()
    opened.locator("#gmip-calculator[aria-busy=false]").wait_for()
    until(lambda: shown(opened), pytest.approx(numbers, abs=1e-6, rel=1e-6))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"value": 0}, "Differential privacy promises nothing here."),
        ({"value": 0, "d": ""}, "Neither promises anything."),
        ({"k": 650}, "its adversary chose all records but one."),
    ],
)
def test_the_bars_are_put_into_words(opened: Page, given: dict, said: str) -> None:
    fill(opened, **given)
    if given.get("d") != "" and "k" not in given:
        said += " Membership inference speaks of a typical member."
    expect(opened.locator("#gmip-point")).to_have_text(
        re.compile(f"{re.escape(said)}$"), use_inner_text=True
    )


def test_the_example_takes_its_target(calculator: Page) -> None:
    calculator.get_by_role("button", name="the example below").click()
    calculator.locator("#gmip-calculator[aria-busy=false]").wait_for()
    sigma = privacy.required_sigma("epsilon", 2, 256, 60_000, 60)
    until(lambda: shown(calculator)["sigma"], pytest.approx(sigma, abs=1e-6))


def test_presets_are_the_papers_table(calculator: Page) -> None:
    for recipe in RECIPES.values():
        calculator.get_by_role("button", name=recipe.label).click()
        calculator.locator("#gmip-calculator[aria-busy=false]").wait_for()
        step = privacy.mip_mu_step(recipe.dimension, recipe.batch_size, recipe.dimension)
        mu = privacy.subsampled_mu(step, recipe.batch_size, recipe.n_records, recipe.steps)
        until(lambda: shown(calculator)["membership.limit"], pytest.approx(mu, abs=1e-6))
        until(lambda: float(calculator.locator("[name=clip]").input_value()), recipe.clip)


def test_few_steps_are_told(calculator: Page) -> None:
    few = {"n": 100, "records": 10_000, "epochs": 0.1, "d": 400, "value": 0}
    fill(calculator, adjacency="replace-one", sampling="fixed", **few)
    until(lambda: shown(calculator)["membership.tpr.0"], pytest.approx(0.00529, abs=5e-6))
    expect(calculator.locator("#gmip-note")).to_contain_text(
        "no bound here for membership inference", use_inner_text=True
    )
    fill(calculator, n=400, records=48_000, epochs=10, d=650)
    expect(calculator.locator("#gmip-note")).to_have_text(
        re.compile("^Membership inference: for a typical record, K = d;"), use_inner_text=True
    )
    fill(calculator, k=650)
    expect(calculator.locator("#gmip-note")).to_have_text("", use_inner_text=True)


def test_typing_changes_the_curve(calculator: Page) -> None:
    fill(calculator, d=650, value=0)
    before = curves(calculator)
    field = calculator.get_by_label("Batch size")
    field.focus()
    calculator.keyboard.press("End")
    calculator.keyboard.type("0")
    expect(field).to_have_value("2560")
    calculator.locator("#gmip-calculator[aria-busy=false]").wait_for()
    after = curves(calculator)
    assert len(before) == len(after) == 4
    # Without noise the other curve is no guarantee, whatever the batch.
    changed = [one != other for one, other in zip(before, after, strict=True)]
    assert changed == [True, False, True, False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 1, "d": 5}, "batch size n of 2 or more"),
        ({"n": 0}, "batch size n above 0"),
        ({"n": ""}, "batch size n above 0"),
        ({"records": 10}, "at least the batch size"),
        ({"epochs": 0}, "epochs above 0"),
        ({"epochs": 1e8}, "at most 1e9 steps"),
        ({"d": 0}, "dimension d of 1 or more"),
        ({"k": -1}, "susceptibility K above 0"),
        ({"value": -1}, "noise of 0"),
        ({"clip": 0}, "clipping norm C above 0"),
        ({"delta": 2}, "delta of 1e-100 or more"),
        ({"sampling": "fixed"}, "No accountant exists for fixed batches"),
        ({"sampling": "shuffled"}, "No accountant exists for shuffled batches"),
        ({"start": "mu-membership"}, "give the dimension d"),
        (
            {"history": "rate=0.1 steps=3\nrate=0.1 epoch=3"},
            "Phase 2: unknown “epoch”; a",
        ),
        ({"history": "rate=0.1 steps=0"}, "Phase 1: give a whole number of steps"),
        ({"history": "rate=0.1 steps=x"}, "Phase 1: give steps=number in the place of “steps=x”"),
        ({"history": "rate=0.1 steps=3 sigma=-1"}, "Phase 1: give a noise multiplier"),
        ({"group": 0}, "whole number of records in a group"),
        ({"group": 2, "d": 5}, "for a group leave the dimension d empty"),
        ({"group": 2, "adjacency": "replace-one"}, "No accountant here for groups of replaced"),
        ({"d": 5, "k": "3 x"}, "several with spaces between them"),
        ({"prior": 0}, "share of members above 0"),
        ({"epsilon": -1}, "epsilon of 0 to 600"),
        ({"auditEpsilon": -1}, "bound on ε as 0 to 600"),
        ({"auditEpsilon": 1, "auditDelta": 1}, "δ as 0 or more and below 1"),
        ({"auditMu": -1}, "bound on μ as 0 or more"),
        ({"start": "tpr-differential", "value": 0.05}, "above the false positive rate"),
        ({"start": "epsilon-differential", "value": 0}, "target above 0"),
        ({"start": "tpr-differential", "value": 0.1000000001}, "No noise multiplier"),
    ],
)
def test_what_cannot_be_used_is_named(shared: Page, given: dict, message: str) -> None:
    fill(shared, **SHORT)
    until(lambda: len(curves(shared)), 4)
    fill(shared, **given)
    expect(shared.locator("#gmip-status")).to_contain_text(message, use_inner_text=True)
    until(lambda: curves(shared), [])
    until(lambda: set(shared.locator("[data-number]").all_inner_texts()), {"\u2013"})


def test_the_line_names_this_version(opened: Page) -> None:
    until(lambda: opened.evaluate("gmip.version"), membership.__version__)


@pytest.mark.parametrize(
    ("given", "cell", "said"),
    [
        ({"d": 650, "k": "1e9", "value": 0}, "membership.mu", "not counted"),
        ({"d": 650, "k": "1e9", "value": 0}, "differential.mu", "no guarantee"),
        ({"value": 0.06}, "differential.mu", "not counted"),
        ({"value": 0.1, "records": 1000}, "epsilon", "not counted"),
    ],
)
def test_a_cut_off_is_called_one(calculator: Page, given: dict, cell: str, said: str) -> None:
    fill(calculator, **given)
    until(lambda: shown(calculator)[cell], float("inf"))
    number = calculator.locator(f"[data-number='{cell}']")
    expect(number).to_have_text(said, use_inner_text=True)
    noted = calculator.locator("#gmip-note")
    expect(noted).to_contain_text("Not counted: one step tells more", use_inner_text=True)


# What fits has nothing to do with the colours.
@pytest.mark.parametrize(("width", "theme"), [(360, "dark"), (1200, "light")])
def test_it_is_accessible_and_fits(
    open_page: Callable[..., Page], tmp_path: Path, theme: str, width: int
) -> None:
    page = open_page(viewport={"width": width, "height": 800})
    page.goto(page_file(tmp_path, theme))
    page.locator("#gmip-calculator[aria-busy=false]").wait_for()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    until(lambda: page.evaluate("document.documentElement.scrollWidth") <= width)
    drawing = {"sampling": "fixed", "adjacency": "replace-one"}
    most = 100 * privacy.assess(400, 48_000, 10, 650, sigma=1, **drawing).membership.tpr[1]
    told = re.compile(f"At 1% FPR the TPR is at most {most:.3f}%")
    for drawn in page.locator("svg").all():
        expect(drawn).to_have_attribute("aria-label", told)


def test_without_javascript_there_is_text(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(page_file(tmp_path))
    expect(page.locator("#gmip-calculator")).to_contain_text(
        "needs JavaScript", use_inner_text=True
    )
