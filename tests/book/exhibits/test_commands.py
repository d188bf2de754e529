import dataclasses

import pandas as pd
import pytest
from click.testing import CliRunner

from membership.book import cli, exhibits, published
from membership.book.exhibits import Exhibit
from membership.errors import InputError


def run(*arguments):
    return CliRunner().invoke(cli.cli, arguments)


def test_an_exhibit_is_cited_with_its_paper_size_run_and_its_paper(
    toy, settings, results, monkeypatch
):
    toy.install(monkeypatch)
    without = run("cite", "gmip-tab-1")
    assert "gmip-tab-1 has no full run here" in without.output
    assert "regenerated" not in without.output
    assert without.output.endswith(published.bibtex("gmip"))
    made = dataclasses.replace(settings, chapter="gmip", profile="paper")
    exhibits.open_chapter(made).show("gmip-tab-1")
    done = run("cite", "gmip-tab-1")
    assert done.exit_code == 0
    assert "note = {Exhibit gmip-tab-1, full run, seed 3" in done.output
    assert done.output.endswith(published.bibtex("gmip"))


def test_a_run_of_ones_own_is_cited_by_its_folder(toy, settings, results, monkeypatch):
    toy.install(monkeypatch)
    made = dataclasses.replace(settings, chapter="gmip", profile="quick")
    exhibits.open_chapter(made).show("gmip-tab-1")
    done = run("cite", "gmip-tab-1", "--run", str(results / "quick" / "gmip"))
    assert "note = {Exhibit gmip-tab-1, quick run" in done.output
    assert "@misc{membership-gmip-tab-1-quick-" in done.output
    lost = run("cite", "gmip-tab-1", "--run", str(results))
    assert "it has no gmip-tab-1; name the folder" in str(lost.exception)


def test_an_unknown_exhibit_gets_the_nearest():
    done = run("cite", "iha-tab2")
    assert isinstance(done.exception, InputError)
    assert "did you mean 'iha-tab-2'?" in str(done.exception)


@pytest.mark.parametrize("wrong", [0.0, 0.5])
def test_recompute_counts_and_a_difference_is_a_failure(toy, results, monkeypatch, wrong):
    shift = []
    compute = lambda source: pd.DataFrame({"attack": ["a"], "value": [1.0 + sum(shift)]})  # noqa: E731
    toy.install(monkeypatch, (Exhibit("gmip-tab-1", "Table 1", "c", "Why?", compute),))
    (results / "paper" / "gmip").mkdir(parents=True)
    done = run("recompute", "gmip")
    assert (done.exit_code, done.stdout) == (
        0,
        "1 exhibits computed, 0 stand in as measured\n",
    )
    assert done.stderr == "gmip   1 of 1  gmip-tab-1\n"
    shift.append(wrong)
    done = run("recompute", "gmip", "--check")
    assert done.exit_code == bool(wrong)
    lines = done.stdout.splitlines()
    if wrong:
        assert lines[0] == "gmip-tab-1: row 1, value: 1.5 where 1 is committed"
        assert lines[-1].endswith("1 difference")
        assert run("recompute", "gmip", "--check", "--tolerance", "0.5").exit_code == 0
    else:
        assert lines == ["1 exhibits computed, 0 stand in as measured, all equal"]


REFUSED = {
    ("gimp",): "did you mean 'gmip'?",
    ("gmip-tab-99",): "no exhibit 'gmip-tab-99'",
    ("gmip", "gmip-tab-1"): "gmip is given with an exhibit of its own; give one of them",
}


@pytest.mark.parametrize("asked", REFUSED)
def test_what_is_none_or_given_twice_is_refused(asked):
    done = run("recompute", *asked)
    assert isinstance(done.exception, InputError)
    assert REFUSED[asked] in str(done.exception)
