"""The pages that the build computes say what was measured and simulated, and on what machine."""

import json
import re

import pandas as pd
import pytest

from membership import paths
from membership.book.published.verdicts import error_rates
from membership.book.site import statistics
from membership.book.site.statistics import run_statistics, verdict_errors

TABLE = pd.DataFrame(
    [
        {"what": "a | b", "size": 10_000, "ours (s)": 0.01234, "ratio": 5432.1, "note": None},
        {"what": "c", "size": 7, "ours (s)": 2.0, "ratio": float("nan"), "note": "extrapolated"},
    ]
)


def test_a_table_is_kept_and_shown_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    assert "## Benchmark" not in run_statistics()
    path = statistics.write_benchmarks("demo", TABLE, keep=True)
    record = json.loads(path.read_text())
    assert record["rows"][0]["ours (s)"] == 0.01234
    assert record["rows"][1]["ratio"] is None
    page = run_statistics()
    assert "## Benchmark: demo" in page
    assert "| a \\| b | 10,000 | 0.0123 | 5,432 |  |" in page
    assert "| c | 7 | 2 |  | extrapolated |" in page


def test_a_damaged_table_is_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    for text in ("[]", "{", '{"name": "demo", "rows": [], "machine": "m", "cpus": 2}'):
        paths.atomic_write(tmp_path / "runs" / "benchmark-demo.json", text)
        assert statistics.sections() == ""
        assert "runs/benchmark-demo.json is damaged" in capsys.readouterr().err


def test_a_table_of_ones_own_leaves_the_kept_one_alone_and_is_shown_instead(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    kept = statistics.write_benchmarks("demo", TABLE[:1], keep=True)
    before = kept.read_bytes()
    own = statistics.write_benchmarks("demo", TABLE[1:])
    assert kept.read_bytes() == before
    assert own.name == "own-benchmark-demo.json"
    page = run_statistics()
    assert page.count("## Benchmark: demo") == 1
    assert "| c | 7 |" in page
    assert "10,000" not in page


def test_what_a_chapter_took_is_that_of_its_least_profile_timed_here(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    words = dict.fromkeys(("title", "machine", "python", "started"), "")
    for profile, seconds in (("paper", 900), ("quick", 120.4), ("tiny", 31)):
        assert "31 " not in statistics.lasted("iha")
        record = {"chapter": "iha", "profile": profile, "seconds": seconds, "cpus": 2}
        paths.atomic_write(
            tmp_path / "runs" / profile / "iha.json",
            json.dumps({**words, **record, "sections": []}),
        )
        if profile == "quick":
            assert statistics.lasted("iha") == (
                "`membership run iha --profile quick`: 120 seconds with 2 CPUs"
            )
    assert statistics.lasted("iha").endswith("--profile tiny`: 31 seconds with 2 CPUs")
    assert statistics.lasted("lood") == "`membership run lood --profile tiny`: not timed here"


def test_git_does_not_see_a_table_of_ones_own():
    ignored = (paths.project_root() / ".gitignore").read_text().splitlines()
    assert "/runs/*" in ignored
    assert "!/runs/benchmark-*.json" in ignored
    assert not any(line.startswith("!/runs/own") for line in ignored)


def test_a_busy_machine_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    monkeypatch.setattr(statistics.os, "cpu_count", lambda: 2)
    for load, told in ((2.5, False), (13.17, True)):
        monkeypatch.setattr(statistics.os, "getloadavg", lambda load=load: (0.0, 0.0, load))
        statistics.write_benchmarks("demo", TABLE)
        assert ("busy with other work: a load of 13.2" in run_statistics()) == told


@pytest.mark.slow
def test_the_page_holds_the_simulated_shares():
    rates, page = error_rates(), verdict_errors()
    rows = [line for line in page.splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == len(rates)
    for line, (_, row) in zip(rows, rates.iterrows(), strict=True):
        shown = [float(text) for text in re.findall(r"([\d.]+) %", line)]
        assert shown == [round(100 * share, 1) for share in row[5:]]
    printed = rates[rates["error"] == "printed"]
    assert f"{100 * printed['false differs'].max():.1f} % (*differs*)" in page
    assert (
        "| Suri et al. (2024) | TPR at 0.1% FPR (%) | 25 % of the published number, at least 0.05 |"
        in page
    )
