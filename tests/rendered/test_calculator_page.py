"""The privacy calculator in a browser, its numbers against the accountant's."""

import functools
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

import membership
from membership import paths, privacy
from membership.cli.calculator import calculate
from membership.studies.gmip.settings import RECIPES
from tests.rendered.reading import PATIENCE, until

HEAD = """<!doctype html><html lang="en" data-theme="{theme}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<link rel="stylesheet" href="../_static/custom.css">
<link rel="stylesheet" href="../_static/game.css">
<style>html[data-theme=light] {{--pst-color-background: #fff; --pst-color-text-base: #222832;
--pst-color-text-muted: #48566b; background: #fff; color: #222832}}
html[data-theme=dark] {{--pst-color-background: #14181e; --pst-color-text-base: #ced6dd;
--pst-color-text-muted: #9ca4af; background: #14181e; color: #ced6dd}}</style>
</head><body><main><h1>{title}</h1>"""
TITLES = {"gmip_calculator": "Privacy calculator", "audit": "Audit"}
READY = "#gmip-calculator[aria-busy=false]"


def page_file(folder: Path, theme: str = "light", name: str = "gmip_calculator") -> str:
    """A page's own markup and scripts, as the book has them, without the theme."""
    book = paths.project_root() / "book"
    text = (book / f"{name}.md").read_text(encoding="utf-8")
    markup = re.search(r"```\{raw\} html\n(.*?)```", text, re.S)[1]
    shutil.copytree(book / "_static", folder / "_static", dirs_exist_ok=True)
    page = folder / "book" / f"{name}.html"
    page.parent.mkdir(exist_ok=True)
    head = HEAD.format(theme=theme, title=TITLES[name])
    page.write_text(f"{head}{markup}</main></body></html>", encoding="utf-8")
    return page.as_uri()


# The run that most tests start from: that of the page's example, its noise given.
RUN = {"n": 256, "records": 60_000, "epochs": 60, "sampling": "poisson", "clip": 1}
RUN |= {"adjacency": "add-remove", "d": "", "k": "", "start": "sigma", "value": 1.1}


# One of few steps, whose numbers are there at once.
SHORT = RUN | {"epochs": 0.5, "delta": 1e-5, "history": "", "group": 1, "prior": 50, "epsilon": 1}
SHORT |= {"auditEpsilon": "", "auditDelta": 1e-5, "auditMu": ""}


def attended(page: Page, address: str, ready: str = READY) -> Iterator[Page]:
    """The opened page; at the end there was nothing to complain about."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.goto(address)
    page.locator(ready).wait_for()
    yield page
    assert problems == []


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


# What lies behind the summary.
MORE = {"history", "group", "prior", "epsilon", "auditEpsilon", "auditDelta", "auditMu"}


def fill(page: Page, **given: object) -> None:
    """Fill in fields and wait for the numbers, or for what is wrong."""
    enter(page, **given)
    page.locator("#gmip-calculator[aria-busy=false]").wait_for()


def enter(page: Page, **given: object) -> None:
    if not MORE.isdisjoint(given):
        page.locator(".gmip-more").evaluate("more => { more.open = true; }")
    for name, value in given.items():
        field = page.locator(f"#gmip-calculator [name={name}]")
        if name in ("size", "sampling", "adjacency", "start", "fpr"):
            field.select_option(str(value))
        else:
            field.fill(str(value))


def shown(page: Page) -> dict[str, float]:
    """The numbers of the page, before rounding."""
    outputs = page.locator("#gmip-calculator [data-number]").all()
    found = {o.get_attribute("data-number"): float(o.get_attribute("data-value")) for o in outputs}
    return {name: value for name, value in found.items() if not math.isnan(value)}


def flat(
    found: privacy.Assessment, tau: float, epsilon: float = 1.0, prior: float = 0.5
) -> dict[str, float]:
    """The accountant's numbers, as the page names them."""
    numbers = {"steps": found.steps, "sigma": found.sigma, "tau": tau, "epsilon": found.epsilon}
    for name in ("membership", "differential"):
        level = getattr(found, name)
        numbers |= {f"{name}.{part}": getattr(level, part) for part in ("step", "limit", "mu")}
        numbers |= {f"{name}.{part}": getattr(level, part) for part in ("auc", "advantage")}
        numbers |= {f"{name}.tpr.{i}": rate for i, rate in enumerate(level.tpr)}
        numbers |= {f"{name}.posterior.{i}": at for i, at in enumerate(level.posterior(prior))}
        numbers[f"{name}.delta"] = level.delta_at(epsilon)
    numbers |= {f"mixture.{i}": rate for i, rate in enumerate(found.mixture)}
    return numbers | {"membership.oneSided": found.membership_one_sided}


def curves(page: Page) -> list[str]:
    return [line.get_attribute("d") for line in page.locator("[data-curve]").all()]


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
    runner = CliRunner()
    for one, (problem, page) in zip(
        settings, opened.evaluate(script, [*map(in_fields, settings)]), strict=True
    ):
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
    lengths = {
        name: opened.locator(f"[data-bar={name}]").bounding_box()["width"]
        for name in ("membership", "differential")
    }
    assert lengths["differential"] / lengths["membership"] == pytest.approx(times, rel=0.05)
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
    told = opened.locator("#gmip-point").inner_text()
    assert told.removesuffix(" Membership inference speaks of a typical member.").endswith(said)
    assert told.endswith("typical member.") == (given.get("d") != "" and "k" not in given)


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
    told = calculator.locator("#gmip-note").inner_text()
    assert told.startswith("Membership inference: for a typical record, K = d;")
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


LOGGED = {"size": "logged", "n": "", "rate": 0.01, "steps": 50, "sampling": "poisson"}
LOGGED |= {"adjacency": "add-remove", "d": "", "value": 0.8, "delta": 1e-6}


def test_a_history_is_entered_as_it_was_logged(opened: Page) -> None:
    fill(opened, **LOGGED, history="rate=0.02, steps=30 sigma=1.1\n n=8 n_records=90 epochs=1 ")
    history = [{"rate": 0.02, "steps": 30, "sigma": 1.1}, {"n": 8, "n_records": 90, "epochs": 1}]
    asked = {"rate": 0.01, "steps": 50, "sigma": 0.8, "delta": 1e-6}
    # The last phase has no noise.
    found = privacy.assess(**asked, history=history)
    until(lambda: opened.locator("#gmip-statement").inner_text(), found.statement)
    history[1]["sigma"] = 2.0
    fill(opened, history="rate=0.02 steps=30 sigma=1.1; n=8 n_records=90 epochs=1 sigma=2")
    found = privacy.assess(**asked, history=history)
    expected = flat(found, math.nan)
    del expected["tau"]
    until(lambda: shown(opened), pytest.approx(expected, abs=1e-6))
    until(lambda: opened.locator("#gmip-statement").inner_text(), found.statement)
    expect(opened.get_by_label("Training records")).to_be_hidden()
    opened.get_by_role("button", name="where the two differ").click()
    expect(opened.get_by_label("Training records")).to_be_visible()


def test_an_audits_file_is_drawn_beside_the_promise(opened: Page, tmp_path: Path) -> None:
    fill(opened, **LOGGED, auditMu="")
    file = tmp_path / "audit.json"
    bounds = {"epsilon_lower_bound": {"value": 0.1, "delta": 1e-6}, "mu_lower_bound": {"value": 9}}
    file.write_text(json.dumps(bounds), encoding="utf-8")
    opened.locator("[name=auditFile]").set_input_files(file)
    proven = opened.locator("#gmip-audit")
    expect(proven).to_contain_text("ε of at least 0.1000 at δ = 0.000001", use_inner_text=True)
    expect(proven).to_contain_text("not refuted by these attacks", use_inner_text=True)
    expect(proven).to_contain_text("μ of at least 9.0000", use_inner_text=True)
    expect(proven).to_contain_text("the promise is refuted", use_inner_text=True)
    until(lambda: opened.locator("[data-audit]").count(), 4)
    mu = "composed.gaussianMu(0.1, 1e-6)"
    until(lambda: privacy.gaussian_delta(opened.evaluate(mu), 0.1), pytest.approx(1e-6, rel=1e-6))
    file.write_text("{}", encoding="utf-8")
    opened.locator("[name=auditFile]").set_input_files(file)
    expect(opened.locator("#gmip-status")).to_contain_text(
        "No lower bounds in audit.json", use_inner_text=True
    )


def test_several_records_have_rows_of_their_own(opened: Page) -> None:
    rows = opened.locator("[data-several]")
    expect(rows.first).to_be_hidden()
    fill(opened, k="100, 650", value=3)
    expect(rows.first).to_be_visible()
    sizes = {"n": 400, "n_records": 48_000, "epochs": 10, "d": 650, "k": [100, 650], "sigma": 3.0}
    found = privacy.assess(**sizes, sampling="fixed", adjacency="replace-one")
    together = f"all these K together: at most {100 * found.mixture[1]:.3f} %."
    expect(opened.locator("#gmip-point")).to_contain_text(together, use_inner_text=True)
    until(lambda: shown(opened), pytest.approx(flat(found, 3 * 500 / 400), abs=1e-6, rel=1e-6))


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
    labels = [s.get_attribute("aria-label") for s in page.locator("svg").all()]
    drawing = {"sampling": "fixed", "adjacency": "replace-one"}
    most = 100 * privacy.assess(400, 48_000, 10, 650, sigma=1, **drawing).membership.tpr[1]
    assert all(f"At 1 % FPR the TPR is at most {most:.3f} %" in label for label in labels)


def test_without_javascript_there_is_text(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(page_file(tmp_path))
    expect(page.locator("#gmip-calculator")).to_contain_text(
        "needs JavaScript", use_inner_text=True
    )
