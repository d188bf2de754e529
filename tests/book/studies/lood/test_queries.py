"""Queries that leak more than the record, counted on numbers that are written down."""

import numpy as np
import pytest
import xarray as xr

from membership.book.studies.lood import queries


@pytest.fixture
def normalised():
    """Four records whose best queries leak .9, 1, 1.02 and 1.2 times what the record does."""
    ratio = np.array([0.9, 1 + queries.GAIN / 2, 1.02, 1.2])
    at = np.array([2.0, 1.0, 4.0, 0.5])
    ray = np.array([[[1.0, 1.0, 1.0, 0.25], [2.0, 2.0, 4.0, 4.0]]])
    return xr.Dataset(
        {
            "ray": (("factor", "measure", "searched"), ray),
            "kl": ("searched", ratio * at),
            "kl_at_record": ("searched", at),
            "pixel_kl": ("searched", ratio[::-1] * at),
            "pixel_kl_at_record": ("searched", at),
            "variance": ("searched", np.ones(4)),
            "pixel_variance": ("searched", np.zeros(4)),
        },
        coords={"factor": [2.0], "measure": ["kl", "mean"]},
        attrs={"sizes": {"Training records": "4"}},
    )


@pytest.fixture
def at_mean():
    """Two records, and one distance from the mean: there they leak .5 and 3 times as much."""
    return xr.Dataset(
        {
            "kl": (("record", "distance"), [[1.0], [3.0]]),
            "kl_at_record": ("record", [2.0, 1.0]),
            "kl_directly": (("checked", "distance"), [[1.25]]),
            "variance": (("record", "distance"), [[5.0], [7.0]]),
            "auc": (("record", "distance"), [[0.6], [0.9]]),
            "kl_in_grey_levels": ("record", [2.0, 0.5]),
            "kl_of_others": (("kernel", "record"), [[3.0, 3.0]]),
            "kl_of_others_at_record": (("kernel", "record"), [[1.0, 2.0]]),
        },
        coords={"distance": [0.1], "kernel": ["RBF"]},
        attrs={"sizes": {"Training records": "2"}},
    )


def test_what_is_rounding_is_no_better_query(normalised, at_mean):
    table, better = queries.escapes(normalised, at_mean), "records with a better query (%)"
    for unit, proper in (("channel", 25.0), ("pixel", 0.0)):
        part = table[table["case"] == f"normalisation by the data, of each {unit}"]
        assert part.set_index("metric")["value"].to_dict() == pytest.approx(
            {
                better: 50.0,
                queries.LARGEST_GAIN: 1.2,
                queries.SMALLEST_GAIN: 0.9,
                "records that gain 5%, no blow-up (%)": proper,
            }
        )
    along = table[table["case"].str.startswith("homogeneous")].set_index("metric")["value"]
    expected = {queries.ALONG_RAY: 0.25, "mean distance over the record's": 3.0}
    assert along.to_dict() == pytest.approx(expected)


def test_near_the_mean_every_record_counts(normalised, at_mean):
    table = queries.escapes(normalised, at_mean)
    near = table[table["case"] == queries.NEAR_MEAN].set_index(["query", "metric"])["value"]
    at = near[f"0.1 {queries.FROM_MEAN}"]
    assert at.to_dict() == pytest.approx(
        {
            queries.LARGEST_GAIN: 3.0,
            queries.SMALLEST_GAIN: 0.5,
            "records with a better query (%)": 50.0,
            "largest variance under D' over the record's": 7.0,
            "largest deviation of the second path": 0.2,
            "smallest AUC": 0.6,
        }
    )
    assert near[queries.IN_LEVELS][queries.LARGEST_GAIN] == 1.0
    assert near["the mean of D', RBF"][queries.SMALLEST_GAIN] == 1.5
