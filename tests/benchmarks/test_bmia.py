"""The benchmark of the last layer's posterior at a small size: both sides give one answer."""

from functools import partial

import pytest

from membership import models


@pytest.mark.slow
def test_both_sides_give_one_answer(monkeypatch):
    from benchmarks import bmia  # with laplace-torch, seconds that no other test needs

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
