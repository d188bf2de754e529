"""Measurements are kept with the machine, and the page shows them."""

import json

import pandas as pd

from membership import paths
from membership.pipeline import benchmarks
from membership.pipeline.site import run_statistics

TABLE = pd.DataFrame(
    [
        {"what": "a | b", "size": 10_000, "ours (s)": 0.01234, "ratio": 5432.1, "note": None},
        {"what": "c", "size": 7, "ours (s)": 2.0, "ratio": float("nan"), "note": "extrapolated"},
    ]
)


def test_a_table_is_kept_and_shown_on_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    assert "## Benchmark" not in run_statistics()
    path = benchmarks.write_benchmarks("demo", TABLE, keep=True)
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
        assert benchmarks.sections() == ""
        assert "runs/benchmark-demo.json is damaged" in capsys.readouterr().err


def test_a_table_of_ones_own_leaves_the_kept_one_alone_and_is_shown_instead(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    kept = benchmarks.write_benchmarks("demo", TABLE[:1], keep=True)
    before = kept.read_bytes()
    own = benchmarks.write_benchmarks("demo", TABLE[1:])
    assert kept.read_bytes() == before
    assert own.name == "own-benchmark-demo.json"
    page = run_statistics()
    assert page.count("## Benchmark: demo") == 1
    assert "| c | 7 |" in page
    assert "10,000" not in page


def test_git_does_not_see_a_table_of_ones_own():
    ignored = (paths.project_root() / ".gitignore").read_text().splitlines()
    assert "/runs/*" in ignored
    assert "!/runs/benchmark-*.json" in ignored
    assert not any(line.startswith("!/runs/own") for line in ignored)


def test_a_busy_machine_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    monkeypatch.setattr(benchmarks.os, "cpu_count", lambda: 2)
    for load, told in ((2.5, False), (13.17, True)):
        monkeypatch.setattr(benchmarks.os, "getloadavg", lambda load=load: (0.0, 0.0, load))
        benchmarks.write_benchmarks("demo", TABLE)
        assert ("busy with other work: a load of 13.2" in run_statistics()) == told
