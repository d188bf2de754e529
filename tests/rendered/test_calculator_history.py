"""What the calculator's page takes beside a run: earlier phases, an audit's bounds, several K."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from membership import privacy
from tests.rendered.calculators import attended, fill, flat, page_file, shown
from tests.rendered.reading import until


@pytest.fixture
def opened(open_page: Callable[..., Page], tmp_path: Path) -> Iterator[Page]:
    yield from attended(open_page(), page_file(tmp_path))


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
    together = f"all these K together: at most {100 * found.mixture[1]:.3f}%."
    expect(opened.locator("#gmip-point")).to_contain_text(together, use_inner_text=True)
    until(lambda: shown(opened), pytest.approx(flat(found, 3 * 500 / 400), abs=1e-6, rel=1e-6))
