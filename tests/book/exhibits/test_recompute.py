import dataclasses
import hashlib
import math

import numpy as np
import pandas as pd
import pytest

from membership import evidence, limits
from membership.book import manifest
from membership.book.exhibits import Exhibit, files, provenance
from membership.book.exhibits.recompute import (
    DRAWN_ON,
    Report,
    differences,
    recompute,
    recompute_all,
)
from membership.book.running import settings_class
from membership.errors import InputError
from tests.evidence.examples import outputs


def mean(source):
    observed = source.evidence("outputs-digits")["log_odds"].values
    return pd.DataFrame({"attack": ["LOSS"], "value": [observed.mean()]})


@pytest.fixture
def made(toy, settings, results, monkeypatch):
    """Settings of a full run whose evidence is there, of a chapter of three exhibits."""
    observed = Exhibit("gmip-tab-1", "Table 1", "c", "Why?", mean, needs=("outputs-digits",))
    drawn = Exhibit(
        *("gmip-fig-1", "Figure 1", "c", "Why?", lambda source: toy.table()),
        draw=toy.draw,
        alt="a line",
    )
    lacking = Exhibit("gmip-tab-2", "Table 2", "c", "Why?", mean, needs=("outputs-mnist",))
    toy.install(monkeypatch, (observed, drawn, lacking))
    settings = dataclasses.replace(settings, chapter="gmip", profile="paper")
    folder = files.location("", "gmip", "paper")
    folder.mkdir(parents=True)
    evidence.save(folder / "outputs-digits.evidence", outputs())
    return settings


def test_what_has_its_evidence_is_computed_and_written(made, results):
    report = recompute(made)
    assert report.computed == ["gmip-tab-1", "gmip-fig-1"]
    assert report.absent == ["gmip-tab-2"]
    table, record = files.load("gmip-tab-1", "paper")
    expected = outputs()["log_odds"].values.mean()
    assert table["value"].item() == pytest.approx(expected, rel=1e-9)
    assert list(record["evidence"]) == ["outputs-digits"]
    assert (results / "paper" / "gmip" / "gmip-fig-1.svg").is_file()


def test_one_exhibit_is_computed_without_the_others(made, results):
    report = recompute(made, ["gmip-fig-1", "iha-tab-2"])
    assert (report.computed, report.absent) == (["gmip-fig-1"], [])
    assert not (results / "paper" / "gmip" / "gmip-tab-1.csv").exists()


def test_without_its_evidence_the_committed_table_stands_in(made, toy, monkeypatch):
    target = files.location("gmip-tab-2", "gmip", "paper")
    content = files.csv_bytes(pd.DataFrame({"value": [1.0]}))
    digest = {"csv_sha256": hashlib.sha256(content).hexdigest()}
    target.with_suffix(".csv").write_bytes(content)
    target.with_suffix(".json").write_bytes(files.json_bytes(digest))
    report = recompute(made)
    assert report.measured == {"gmip-tab-2": ["outputs-mnist"]}
    assert target.with_suffix(".csv").read_bytes() == content
    assert report.last_line(checked=False) == "2 exhibits computed, 1 stand in as measured"


def test_a_check_writes_nothing_and_finds_what_changed(made, results):
    recompute(made)
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    report = recompute(made, check=True)
    assert report.differences == []
    said = "1 have no full run, all equal"
    assert report.undrawn == ["gmip-fig-1"]  # nobody said on which processor it was drawn
    assert report.last_line(checked=True).endswith(
        f"{said}; drawings of 1 were not compared, since another matplotlib or processor made them"
    )
    (results / "paper" / DRAWN_ON).write_text(f"{provenance.processor()}\n")
    assert recompute(made, check=True).last_line(checked=True).endswith(said)
    other = outputs()
    other["log_odds"] = other["log_odds"] + np.float32(0.01)
    evidence.save(results / "paper" / "gmip" / "outputs-digits.evidence", other)
    (results / "paper" / "gmip" / "gmip-fig-1.pdf").unlink()
    with pytest.raises(InputError, match=r"gmip-fig-1\.pdf is not the file that its run wrote"):
        recompute(made, check=True)
    manifest.seal(results / "paper" / "gmip")
    report = recompute(made, check=True)
    first, second = report.differences
    assert first.startswith("gmip-tab-1: row 1, value: ")
    assert second == "gmip-fig-1: no pdf"
    assert report.last_line(checked=True).endswith("2 differences")
    after = {path: path.read_bytes() for path in results.rglob("*.csv")}
    assert after.items() <= before.items()


def test_a_table_that_no_longer_says_where_it_comes_from_is_a_difference(made, toy, monkeypatch):
    def saying(**attrs):
        def compute(source):
            table = toy.table()
            table.attrs |= attrs
            return table

        toy.install(monkeypatch, (Exhibit("gmip-tab-1", "Table 1", "c", "Why?", compute),))

    saying()
    recompute(made)
    saying(note="rounded elsewhere")
    assert recompute(made, check=True).differences == []
    saying(data={}, sizes={"Models": "9"})
    models = toy.ATTRS["sizes"]
    assert recompute(made, check=True).differences == [
        f"gmip-tab-1: its data {toy.ATTRS['data']!r} would be {{}}",
        f"gmip-tab-1: its sizes {models!r} would be {{'Models': '9'}}",
    ]


def test_what_is_recomputed_is_sealed(made, results):
    recompute(made)
    folder = results / "paper" / "gmip"
    first = (folder / manifest.NAME).read_bytes()
    assert manifest.listed(folder) == manifest.digests(folder)
    recompute(made)
    assert (folder / manifest.NAME).read_bytes() == first


def test_rounding_changes_no_file_and_more_than_that_does(made, toy, results, monkeypatch):
    def rounded(residue, **more):
        table = pd.DataFrame({"attack": ["LOSS", "IHA"], "value": [0.5, residue], **more})
        one = Exhibit("gmip-tab-1", "Table 1", "c", "Why?", lambda source: table.copy())
        toy.install(monkeypatch, (one,))
        recompute(made)
        return files.location("gmip-tab-1", "gmip", "paper").with_suffix(".csv").read_text()

    first = rounded(4.7e-15)
    assert "4.7e-15" in first
    assert rounded(7.8e-15) == first
    assert "0.01" in rounded(0.01)
    # Words that look like numbers stay as they were.
    told = rounded(4.7e-15, text=["1.00", "0.50"])
    assert "1.00" in told
    assert "1.00" in rounded(4.8e-15, text=["1.00", "0.50"])


def test_another_matplotlib_s_drawing_is_compared_once_its_record_has_given_way(
    made, results, monkeypatch
):
    (results / "paper").mkdir(exist_ok=True)
    (results / "paper" / DRAWN_ON).write_text(f"{provenance.processor()}\n")
    monkeypatch.setattr(provenance, "is_in_history", lambda commit: True)

    def at(commit, matplotlib):
        monkeypatch.setattr(provenance, "git_commit", lambda: commit)
        monkeypatch.setattr(provenance, "versions", lambda: {"matplotlib": matplotlib})
        before = recompute(made, check=True).undrawn
        recompute(made)
        return before, files.load("gmip-fig-1", "paper")[1]["commit"]

    assert at("one", "3.1") == ([], "one")
    assert at("two", "3.1") == ([], "one")
    assert at("three", "3.2") == (["gmip-fig-1"], "three")
    assert at("four", "3.2") == ([], "three")
    # A table that is not drawn is the same whatever draws.
    assert files.load("gmip-tab-1", "paper")[1]["commit"] == "one"


def test_what_was_never_committed_is_a_difference(made):
    report = recompute(made, check=True)
    assert "gmip-tab-1: nothing is committed" in report.differences


def frame(value, word="a"):
    return pd.DataFrame({"attack": [word], "value": [value]})


@pytest.mark.parametrize(
    ("now", "then", "same"),
    [
        (1.0, 1.0 + 5e-7, True),
        (1.0, 1.0 + 5e-6, False),
        (3e-17, -4e-16, True),
        (3e-17, 2e-9, False),
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (0.0, 1e-7, False),
        (math.inf, math.inf, True),
    ],
)
def test_numbers_are_compared_by_ratio_and_residues_by_their_own_scale(now, then, same):
    assert list(differences(frame(now), frame(then), 1e-6, 1e-9)) is not same


def test_words_rows_and_columns_have_to_be_the_same():
    (line,) = differences(frame(1.0), frame(1.0, "b"), 1e-6, 1e-9)
    assert line == "row 1, attack: a where b is committed"
    (line,) = differences(frame(1.0), frame(1.0).rename(columns={"value": "v"}), 1e-6, 1e-9)
    assert line == "1 rows of attack, value where 1 rows of attack, v are committed"


def test_reports_of_chapters_add_up():
    total = Report(computed=["a"])
    total.add(Report(computed=["b"], measured={"c": ["e"]}, differences=["d"], undrawn=["a"]))
    assert total.last_line(checked=True) == (
        "2 exhibits computed, 1 stand in as measured, 1 difference; drawings of 1 were not "
        "compared, since another matplotlib or processor made them"
    )


# Of two chapters, and of each what is soon computed; the second chapter's are done first.
ONLY = ("gmip-fig-1", "lood-fig-6", "lood-fig-1", "gmip-tab-1")


@pytest.mark.slow
def test_chapters_at_a_time_report_in_the_order_asked_for(monkeypatch):
    monkeypatch.setattr(limits, "cores", lambda n_jobs=0: 2)
    run = [settings_class(one).from_values({"profile": "paper"}) for one in ("lood", "gmip")]
    report = recompute_all(run, ONLY, check=True)
    assert report.computed == ["lood-fig-1", "lood-fig-6", "gmip-tab-1", "gmip-fig-1"]
    assert report.differences == []
