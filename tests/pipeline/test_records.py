"""The record of a run adds up and survives a broken neighbour."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from membership import paths
from membership.pipeline import records


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
    assert records.section_seconds(new_notebook(cells=cells)) == [
        {"title": "One", "seconds": 3.75},
        {"title": "Two", "seconds": 0.0},
    ]


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_the_machine_has_a_name_on_one_line(device):
    name = records.machine(device)
    assert name
    assert "\n" not in name


def test_a_broken_record_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "project_root", lambda: tmp_path)
    assert records.read_all() == []
    paths.atomic_write(tmp_path / "runs" / "quick" / "a.json", '{"chapter": "a"}')
    paths.atomic_write(tmp_path / "runs" / "tiny" / "b.json", "{")
    assert records.read_all() == [{"chapter": "a"}]
