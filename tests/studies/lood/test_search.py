"""Searches for queries: none above the record, and the records found."""

import numpy as np
import pytest

from membership import nngp
from membership.studies.lood import queries, reconstruction, search


@pytest.fixture(scope="module")
def searches(settings):
    return search.search_all(settings)


def test_no_query_tells_more_than_the_record(searches, settings):
    table = queries.optimality(searches, settings)
    kinds = set(table["queries"])
    assert kinds == {
        "one, random",
        "one, optimised",
        "three, random",
        "three, optimised",
        "reconstructions",
    }
    assert table["kernel"].nunique() >= 3
    assert table["value"].max() < 1e-10


def test_the_ray_of_a_homogeneous_kernel_tells_as_much(records, settings):
    normalised = queries.figure_10(records, settings)
    table = queries.escapes(normalised, records, settings).set_index(["query", "metric"])["value"]
    for factor in (0.1, 2, 10):
        part = table[f"{factor:g} times the record"]
        assert part["KL over the record's, farthest from 1"] == pytest.approx(1, abs=1e-8)
        assert part["mean distance over the record's"] == pytest.approx(factor**2)
    assert table["-1 times the record"]["KL over the record's, farthest from 1"] < 0.5
    assert table["found from the record"]["largest KL over the record's"] >= 1


def test_a_search_finds_its_record(records, settings):
    seen = search.prepare(records, 40)
    found = search.recover(seen, nngp.rbf(), 0, settings, steps=300)
    assert found.correlation > 0.95
    assert 0.95 < found.ratio <= 1 + 1e-10
    kept, targets = seen.without(0)
    assert len(kept) == len(targets) == 39
    np.testing.assert_allclose(seen.seen(seen.x), records.first(40).dataset.x, atol=1e-6)


def test_every_figure_of_the_reconstructions(searches, settings):
    tables = {
        "2": reconstruction.figure_2(searches, settings),
        "8": reconstruction.figure_8(searches, settings),
        **reconstruction.more(searches, settings),
    }
    assert set(reconstruction.FIGURES) <= set(tables)
    for table in tables.values():
        assert (table["pixels"] != "").all()
        assert not table.duplicated(["row", "column"]).any()
    history = reconstruction.figure_9(searches, settings)
    curves = history[history["pixels"] == ""]
    starts = curves[curves["series"].str.startswith("start")]
    target = curves.loc[curves["series"] == "at the record", "kl"].iloc[0]
    assert (starts["kl"] <= target * (1 + 1e-9)).all()


def test_success_is_counted(searches, settings):
    table = reconstruction.success(searches, settings)
    shares = table[table["metric"].str.contains("%")]
    assert shares["value"].between(0, 100).all()
    assert (shares["low"] <= shares["value"]).all()
    excess = table[table["metric"] == "largest relative excess over the record"]
    assert excess["value"].max() < 1e-10
