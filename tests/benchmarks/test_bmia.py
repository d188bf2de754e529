"""The benchmark of the last layer's posterior at a small size: both sides give one answer."""

import importlib.util
from functools import partial

import pytest

from membership import models, paths


@pytest.fixture
def bmia():
    """The module itself; ``benchmarks`` is no part of the package."""
    file = paths.project_root() / "benchmarks" / "bmia.py"
    spec = importlib.util.spec_from_file_location("benchmark_of_bmia", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_sides_give_one_answer(bmia, monkeypatch):
    for name in ("RECORDS", "QUERIES"):
        monkeypatch.setattr(bmia, name, 600)
    monkeypatch.setattr(bmia, "MEASURED", 10)
    monkeypatch.setattr(bmia, "FACTORY", partial(models.mlp, 600, (16,), 100))
    table = bmia.run()
    columns = ["what", "size", "ours (s)", "reference (s)", "ratio", "note"]
    assert list(table.columns) == columns
    assert (table["ratio"] > 1).all()
    notes = table["note"][1:]
    assert notes.str.contains("10 queries measured, the rest in proportion").all()
    assert (notes.str.split("equal to ").str[1].astype(float) < 1e-8).all()
