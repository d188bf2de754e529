"""The audit in a browser, its report against the package's."""

import csv
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from membership import audit
from tests.audit import odd_scores
from tests.rendered import calculators
from tests.rendered.reading import until

PROMISED = (None, 0.25, 2, 1234567)
NAMES = ["clinic A", 'ward "B", east', "C"]


def page_file(folder: Path, theme: str = "light") -> str:
    return calculators.page_file(folder, theme, "audit")


@pytest.fixture
def auditor(open_page: Callable[..., Page], tmp_path: Path) -> Iterator[Page]:
    yield from calculators.attended(open_page(), page_file(tmp_path), "main")


def choose(page: Page, name: str, given: str | bytes) -> None:
    page.locator("#audit-page [data-part=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": odd_scores.content(given)}
    )
    page.locator(f"#audit-page[aria-busy=false] >> text={name}: ").first.wait_for()


def reported(page: Page) -> dict:
    return json.loads(page.locator("#audit-page").get_attribute("data-report"))


def numbers(report: dict) -> dict:
    """A report as JSON gives it, without where it comes from."""
    return json.loads(json.dumps({**report, "provenance": None}))


def differences(found, wanted, place: str) -> list[str]:
    """The places, all the way down, where two reports differ by more than rounding."""
    if isinstance(wanted, dict) and found.keys() == wanted.keys():
        parts = [differences(found[k], v, f"{place}.{k}") for k, v in wanted.items()]
    elif isinstance(wanted, list) and len(found) == len(wanted):
        parts = [differences(found[i], v, f"{place}[{i}]") for i, v in enumerate(wanted)]
    else:
        number = isinstance(wanted, float)
        close = pytest.approx(wanted, rel=1e-9, abs=1e-9) if number else wanted
        return [] if found == close else [f"{place}: {found!r} where {wanted!r} is reported"]
    return [each for part in parts for each in part]


def drawn(seed: int) -> pd.DataFrame:
    """Scores of many kinds: few or many, tied, on one side, with groups and names or without."""
    rng = np.random.default_rng([seed, 5])
    n_in, n_out = rng.integers(11, 900, 2)
    member = rng.permutation(np.r_[np.ones(n_in, bool), np.zeros(n_out, bool)])
    score = rng.normal(member * rng.uniform(-0.5, 4), rng.uniform(0.5, 2))
    if seed % 3 == 1:
        score = score.round(int(rng.integers(0, 2)))
    if seed % 4 == 2:
        score = score + 1000.0 * member
    if seed == 7:
        score = np.argsort(np.argsort(score)).astype(float)  # as numbers of rows
    if seed == 8:
        score = np.sort(score)
    if seed == 9:
        score = 5.0 * member - 1  # as the membership itself
    n = len(score)
    group = rng.choice(NAMES, n) if seed % 2 else None
    # Some first rows share a name, and say different things.
    record = np.array([f"patient {max(i, n % 4)}" for i in range(n)]) if seed % 5 else None
    return pd.DataFrame({"score": score, "member": member.astype(int)}).assign(
        **({} if group is None else {"group": group}),
        **({} if record is None else {"record": record}),
    )


def with_units(seed: int) -> pd.DataFrame:
    """Visits of persons who are in or out whole; in a column that says so, or in another."""
    rng = np.random.default_rng([seed, 8])
    person = np.arange(600) // 5
    frame = pd.DataFrame({"score": rng.normal(size=600), "member": person % 2})
    column = ("unit", "group", "patient", "unit")[seed % 4]
    frame[column] = [f"the one who is called {number}" for number in person]
    if seed == 3:
        frame["group"] = rng.choice(NAMES, 600)
    return frame


def as_csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)


def test_the_page_reports_what_the_package_does(auditor: Page) -> None:
    for seed in range(16):
        given = drawn(seed) if seed < 12 else with_units(seed - 12)
        level, delta = (0.9, 1e-3) if seed % 2 else (0.95, 1e-5 * (seed % 4))
        auditor.locator("[data-part=level]").select_option(str(level))
        auditor.locator("[data-part=delta]").fill(str(delta))
        promised = {"promised": PROMISED[seed % 4], "promised_mu": PROMISED[-(seed % 3)]}
        for part, value in promised.items():
            auditor.locator(f"[data-part={part.replace('_', '-')}]").fill(str(value or ""))
        choose(auditor, f"scores{seed}.csv", as_csv(given))
        wanted = audit.audit(given, level=level, delta=delta, **promised)
        until(lambda: differences(numbers(reported(auditor)), numbers(wanted), f"seed {seed}"), [])


def test_a_promise_of_nothing_is_refused(auditor: Page) -> None:
    auditor.locator("#audit-page table").last.wait_for(state="attached")
    box = auditor.locator("[data-part=promised-mu]")
    box.fill("0")
    box.blur()
    auditor.get_by_text("Give a promised mu above 0.").wait_for()
    box.fill("2")
    box.blur()
    auditor.get_by_text("The promise of Gaussian privacy with a mu of 2").wait_for()
    until(lambda: reported(auditor)["promises"][0]["notion"], "mu")


def test_an_example_stands_there_before_any_click(auditor: Page) -> None:
    auditor.get_by_text("An example with made-up scores").wait_for()
    until(lambda: reported(auditor)["records"], {"members": 1000, "non_members": 1000})
    expect(auditor.locator("#audit-page svg")).to_be_visible()
    expect(auditor.locator("#audit-page table").last).to_be_hidden()


def test_the_example_once_more_keeps_its_note_and_its_fold(auditor: Page) -> None:
    note = auditor.get_by_text("An example with made-up scores")
    last = auditor.locator("#audit-page table").last
    for unfolded in (False, True):
        note.wait_for()
        before = auditor.locator("#audit-page svg").element_handle()
        auditor.get_by_role("button", name="Try an example").click()
        auditor.wait_for_function("drawn => !drawn.isConnected", arg=before)
        note.wait_for()
        until(lambda: last.is_visible(), unfolded)
        auditor.get_by_text("Rates, who is exposed").click()
        until(lambda: last.is_visible() != unfolded)


def test_a_file_of_ones_own_opens_its_tables_once(auditor: Page) -> None:
    choose(auditor, "scores.csv", as_csv(drawn(1)))
    last = auditor.locator("#audit-page table").last
    expect(last).to_be_visible()
    auditor.get_by_text("Rates, who is exposed").click()
    before = auditor.locator("#audit-page svg").element_handle()
    auditor.locator("[data-part=level]").select_option("0.9")
    auditor.wait_for_function("drawn => !drawn.isConnected", arg=before)
    expect(last).to_be_hidden()


def test_the_example_shows_every_part_and_is_saved(auditor: Page) -> None:
    auditor.get_by_role("button", name="Try an example").click()
    auditor.locator("#audit-page table").last.wait_for(state="attached")
    expect(auditor.locator("#audit-page table")).to_have_count(5)
    report = reported(auditor)
    assert report["auc"]["low"] < 0.76 < report["auc"]["high"]  # Phi(1 / sqrt 2)
    assert 0 < report["mu_lower_bound"]["value"] < 1
    with auditor.expect_download() as saving:
        auditor.get_by_role("button", name="Save audit.json").click()
    assert json.loads(Path(saving.value.path()).read_text(encoding="utf-8")) == report


def test_every_file_that_the_command_reads_gives_its_report(auditor: Page, tmp_path: Path) -> None:
    for name, given in odd_scores.READ.items():
        choose(auditor, name, odd_scores.content(given))
        (tmp_path / name).write_bytes(odd_scores.content(given))
        wanted = audit.audit(audit.read_scores(tmp_path / name))
        report = reported(auditor)
        assert differences(numbers(report), numbers(wanted), name) == []
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert report["provenance"]["inputs"] == [{"name": name, "sha256": digest}]


def test_what_the_command_refuses_or_alone_can_do_is_refused_in_a_line(auditor: Page) -> None:
    status = auditor.locator("#audit-page [data-part=status]")
    for name, (given, said) in (odd_scores.REFUSED | odd_scores.COMPARED).items():
        choose(auditor, "scores.csv", odd_scores.PLAIN)
        until(lambda: auditor.locator("#audit-page table").count() > 0)
        auditor.locator("[data-part=file]").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": odd_scores.content(given)}
        )
        auditor.wait_for_function(
            "([at, said]) => document.querySelector(at).innerText.includes(said)",
            arg=["#audit-page [data-part=status]", said],
        )
        until(lambda: "\n" not in status.inner_text())
        expect(auditor.locator("#audit-page table")).to_have_count(0)
        until(lambda: auditor.locator("#audit-page").get_attribute("data-report") is None)


def test_of_several_attacks_one_is_chosen(auditor: Page, tmp_path: Path) -> None:
    given, _ = odd_scores.COMPARED["attacks.csv"]
    (tmp_path / "attacks.csv").write_bytes(odd_scores.content(given))
    auditor.locator("#audit-page [data-part=file]").set_input_files(tmp_path / "attacks.csv")
    box = auditor.locator("[data-part=attack]")
    expect(box.locator("option")).to_have_text(["choose", "loss", "lira"], use_inner_text=True)
    for name in ("lira", "loss"):
        box.select_option(name)
        auditor.get_by_text(f"The attack {name} is one of 2").wait_for()
        wanted = audit.audit(audit.read_scores(tmp_path / "attacks.csv", [name]))
        until(lambda: differences(numbers(reported(auditor)), numbers(wanted), name), [])
        option = f"--attack={name}"
        until(lambda: option in reported(auditor)["provenance"]["command"])
    choose(auditor, "scores.csv", odd_scores.PLAIN)
    expect(box).to_be_hidden()


def test_names_from_the_file_are_text_and_no_markup(auditor: Page) -> None:
    rows = [f"{i},{i % 2},<img src=x onerror=alert(1)>,r{i}" for i in range(60)]
    choose(auditor, "evil.csv", "\n".join(["score,member,group,record", *rows]))
    expect(auditor.locator("#audit-page img")).to_have_count(0)
    expect(auditor.get_by_text("<img src=x onerror=alert(1)>")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(
    open_page: Callable[..., Page], tmp_path: Path, theme: str
) -> None:
    page = open_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(page_file(tmp_path, theme))
    page.get_by_text("Rates, who is exposed").click()
    page.locator("#audit-page table").last.wait_for()
    until(lambda: page.evaluate("document.documentElement.scrollWidth") <= 390)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
