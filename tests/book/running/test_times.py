"""The record of a run adds up and survives a broken neighbour."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from membership import paths
from membership.book.running import times


def timed(seconds):
    return new_code_cell("pass", metadata={"papermill": {"duration": seconds}})


def test_seconds_are_summed_by_section():
    cells = [
        new_markdown_cell("# One"),
        timed(1.5),
        timed(2.25),
        new_markdown_cell("## Two"),
        timed(None),
    ]
    assert times.section_seconds(new_notebook(cells=cells)) == [
        {"title": "One", "seconds": 3.75},
        {"title": "Two", "seconds": 0.0},
    ]


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_the_machine_has_a_name_on_one_line(device):
    name = times.machine(device)
    assert name
    assert "\n" not in name


def test_a_broken_record_is_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    assert times.read_all() == []
    whole = {
        "title": "A", "profile": "quick", "seconds": 1.0, "sections": [], "machine": "m",
        "cpus": 2, "python": "3.11", "started": "2026-11-21T09:00:00+00:00",
    }  # fmt: skip
    damaged = ["{", "[]", "7", "{}", "[" * 100_000, json.dumps({**whole, "sections": 5})]
    damaged += [json.dumps({k: v for k, v in whole.items() if k != left}) for left in whole]
    paths.atomic_write(tmp_path / "runs" / "quick" / "a.json", json.dumps(whole))
    for i, text in enumerate(damaged):
        paths.atomic_write(tmp_path / "runs" / "tiny" / f"{i:02}.json", text)
    assert times.read_all() == [whole]
    told = capsys.readouterr().err.splitlines()
    assert len(told) == len(damaged)
    assert told[0] == "runs/tiny/00.json is damaged and left out; restore it or delete it"
