"""The plan names the files that a run makes; a piece gathered alone, or by shares, is the same."""

import csv
import json
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from membership import evidence, paths, shared_work
from membership.book import running
from membership.book.cli import bulk
from membership.book.running import gathering_plan
from membership.book.running.gathering_plan import Step, apart
from membership.errors import InputError


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(shared_work.VARIABLE, raising=False)
    return tmp_path / "cache"


def settings(chapter: str = "iha"):
    return running.settings_class(chapter).from_values({"profile": "tiny"})


def call(command, *words: str) -> str:
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.mark.slow
def test_the_plan_of_the_book_can_be_followed_from_its_beginning(tmp_path):
    found = gathering_plan.plan(running.chapters(), {"profile": "tiny"}, tmp_path / "none.csv")
    assert len({one.file for one in found}) == len(found) > 50
    assert not any(one.there or one.seconds for one in found)
    before: set[tuple[str, str]] = set()
    for one in found:
        assert one.after == "" or (one.chapter, one.after) in before
        before.add((one.chapter, one.evidence))
    after = {(one.chapter, one.evidence): one.after for one in found}
    assert after["iha", "white-box-digits"] == "outputs-digits"
    assert after["iha", "sweep-digits"] == "white-box-digits"
    assert after["iha", "white-box-left-out-digits"] == "outputs-left-out-digits"
    assert after["iha", "outputs-digits"] == after["gmip", "steps-digits"] == ""
    timed = {f"{one.chapter} {one.evidence}" for one in found if one.timed}
    assert {"lood measured-times", "bmia times-digits"} < timed
    assert not any("outputs" in one for one in timed)


@pytest.mark.slow
def test_a_piece_lies_where_a_run_finds_it(tmp_path):
    source = gathering_plan.gatherer(settings("gmip"), "measured-digits")
    file = Path(call(bulk.gather, "gmip", "measured-digits", "--profile", "tiny").split()[-1])
    assert file == source.address("measured-digits")
    assert evidence.load(file).attrs["key"] == file.stem
    # What is there already took no time that could be measured.
    again = ("gmip", "measured-digits", "--profile", "tiny", "--measured", str(tmp_path / "m.csv"))
    call(bulk.gather, *again)
    assert not (tmp_path / "m.csv").exists()
    planned = gathering_plan.plan(["gmip"], {"profile": "tiny"}, tmp_path / "none.csv")
    assert [one.evidence for one in planned if one.there] == ["measured-digits"]


@pytest.mark.slow
def test_shares_leave_what_the_whole_is_put_together_from(cache, monkeypatch):
    words = ("iha", "white-box-digits", "--profile", "tiny")
    for part in ("1/2", "2/2"):
        assert "is done" in call(bulk.gather, *words, "--share", part)
        monkeypatch.delenv(shared_work.VARIABLE)
    kept = sorted((cache / "models").iterdir())
    shared = Path(call(bulk.gather, *words).split()[-1])
    assert sorted((cache / "models").iterdir()) == kept
    bytes_shared = shared.read_bytes()
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(cache.with_name("alone")))
    alone = Path(call(bulk.gather, *words).split()[-1])
    assert alone.name == shared.name
    assert alone.read_bytes() == bytes_shared


def test_what_a_piece_took_is_remembered_and_shares_the_long_ones(tmp_path):
    file = tmp_path / "measured.csv"
    gathering_plan.remember(file, settings(), "outputs-digits", 10.0, 0.5)
    gathering_plan.remember(file, settings(), "outputs-digits", 1500.04, 1.254)
    # Resumed: less than the whole.
    gathering_plan.remember(file, settings(), "outputs-digits", 3.0, 0.1)
    gathering_plan.remember(file, settings(), "known-digits", 1e6, 1.0)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["evidence"] for row in rows] == ["known-digits", "outputs-digits"]
    found = {one.evidence: one for one in gathering_plan.plan(["iha"], {"profile": "tiny"}, file)}
    one = found["outputs-digits"]
    assert (one.seconds, one.gigabytes, one.shares) == (1500.0, 1.25, 3)
    # One look at the gradients makes it; there is nothing to share.
    assert found["known-digits"].shares == 1
    assert found["white-box-digits"].shares == 1
    asked = gathering_plan.plan(["iha"], {"profile": "tiny"}, file, shares=4)
    assert {one.shares for one in asked if one.evidence.startswith("white-box")} == {4}


@pytest.mark.parametrize("text", ["my notes", "my notes\nand more\n", "score,member\n1,0\n"])
def test_no_file_but_a_table_of_ours_is_written_to(tmp_path, text):
    file = tmp_path / "notes.txt"
    file.write_text(text)
    words = ["gmip", "steps-digits", "--profile", "tiny", "--measured", str(file)]
    result = CliRunner().invoke(bulk.gather, words)
    assert isinstance(result.exception, InputError)
    assert "no table of measured pieces" in str(result.exception)
    assert file.read_text() == text
    assert not paths.cache_dir().exists()


def test_the_command_writes_the_plan_and_counts_the_hours(tmp_path, monkeypatch):
    monkeypatch.setattr(bulk, "MEASURED", tmp_path / "measured.csv")
    gathering_plan.remember(tmp_path / "measured.csv", settings("gmip"), "steps-digits", 7200, 1.0)
    said = call(bulk.plan, "gmip", "--profile", "tiny", "--json", str(tmp_path / "a.json"))
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["chapters"] == ["gmip"]
    assert told["cache"] == str(paths.cache_dir())
    count = len(told["pieces"])
    assert f"{count} of {count} to gather: 2 hours" in said
    assert f"and {count - 1} that were not measured" in said


def test_a_chapter_without_evidence_has_an_empty_plan(tmp_path):
    assert gathering_plan.plan(["loss_enough"], {"profile": "tiny"}, tmp_path / "none.csv") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("iha", "outputs-digit"), "unknown evidence 'outputs-digit'; did you mean"),
        (("ihaa", "outputs-digits"), "unknown chapter 'ihaa'"),
        (("iha", "outputs-digits", "--share", "3/2"), "give K/N, such as 2/4"),
        (("iha", "outputs-digits", "--share", "1/2", "--measured", "m.csv"), "leave out --share"),
        (("iha", "outputs-digits", "-p", "n_models", "5"), "n_models"),
    ],
)
def test_bad_input_ends_before_any_work(cache, words, message):
    with pytest.raises(InputError, match=message):
        CliRunner().invoke(bulk.gather, [*words, "--profile", "tiny"], catch_exceptions=False)
    assert not cache.exists()


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "profile,chapter,evidence,seconds,gigabytes\n1,2\n"]
)
def test_a_table_of_costs_that_is_none(tmp_path, text):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(InputError, match="is no table of measured pieces; its columns are profile"):
        gathering_plan.plan(["gmip"], {"profile": "tiny"}, tmp_path / "m.csv")


class Gathered:
    """A source whose evidence lies ready, or fails to be made."""

    def __init__(self, device):
        self.device = device

    def gather(self, name):
        if name == "fails" and self.device != "cpu":
            raise RuntimeError("no such kernel\nand a long story")
        return Path(self.device)


@pytest.fixture
def two_devices(monkeypatch):
    values = {"cpu": [1.0, 2.0, 2.0], "cuda": [1.0, 2.0, 2.03]}
    monkeypatch.setattr(gathering_plan, "_checked", lambda chapter, strings: strings["device"])
    monkeypatch.setattr(gathering_plan, "source", Gathered)
    monkeypatch.setattr(
        gathering_plan.evidence, "load", lambda path: xr.Dataset({"v": ("i", values[str(path)])})
    )


def test_each_step_is_compared_and_seconds_are_not(two_devices):
    outputs, times, fails = (
        gathering_plan.compared("chapter", name, "tiny")
        for name in ("outputs-a", "times-a", "fails")
    )
    assert outputs.apart == pytest.approx(0.01)
    assert math.isnan(times.apart)
    assert times.is_good
    assert fails.error == "no such kernel"
    assert not fails.is_good


def test_the_tolerance_divides_good_from_bad():
    step = partial(Step, "chapter", "evidence", (1.0, 2.0))
    assert step(gathering_plan.TOLERANCE).is_good
    assert not step(1.01 * gathering_plan.TOLERANCE).is_good
    assert not step(math.inf).is_good
    assert gathering_plan.cells(step(0.5)) == [
        "chapter evidence", "1.0", "2.0", "5.0e-01", "differs"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([3.0, 4.0], [3.0, 4.0], 0.0),
        ([3.0, 4.0], [3.0, 4.5], 0.1),
        ([3.0, np.nan, 4.0], [3.0, np.nan, 4.5], 0.1),
        ([np.inf, 5.0], [np.inf, 5.5], 0.1),
        ([1.0, np.nan], [1.0, 0.0], math.inf),
        ([1.0], [1.0, 2.0], math.inf),
        ([0.0], [1e-9], math.inf),
        ([True, False], [True, True], math.inf),
        ([1, 2], [1, 2], 0.0),
    ],
)
def test_apart_is_the_relative_root_mean_square(left, right, expected):
    found = apart(xr.Dataset({"v": ("i", left)}), xr.Dataset({"v": ("i", right)}))
    assert found == pytest.approx(expected)


def test_another_variable_is_infinitely_far():
    assert apart(xr.Dataset({"a": 1}), xr.Dataset({"b": 1})) == math.inf
