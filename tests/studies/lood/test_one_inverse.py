"""One inverse is the definition for every record, and its seconds are told apart from verdicts."""

import pandas as pd
import pytest
import xarray as xr

from membership.studies.lood import (
    one_inverse,
    sentences,
)


def test_the_closed_form_is_the_definition(gathered):
    table = one_inverse.one_by_one(gathered("measured-identity"))
    assert table["kernel"].nunique() == 3
    assert table["value"].max() < 1e-9


def test_a_timing_is_marked_and_compared_with_the_readme(gathered):
    table = one_inverse.table(gathered("measured-times"), [])
    assert table.attrs["timing"]
    assert (table["value"] > 0).all()
    judged = one_inverse.comparison(table).set_index("quantity")
    assert judged.loc[one_inverse.RATIO, "published"] == 105
    assert judged.loc[one_inverse.RATIO, "verdict"] == "not comparable"


def test_the_size_of_the_readme_is_told_where_it_was_run(gathered):
    times = gathered("measured-times")
    assert "GiB" not in sentences.speed(one_inverse.table(times, []))
    few = times["seconds"].to_series()
    seconds = pd.concat([few, pd.Series({"kernel of many": 57.0, "all of many": 45.5})])
    seconds.index.name = "task"
    many = seconds.rename("seconds").to_xarray().to_dataset()
    many.attrs = {**times.attrs, "records_at_most": 10_000, "peak_gib": 2.1}
    told = sentences.speed(one_inverse.table(many, []))
    assert told.endswith("All of 10,000 records take 102 s and 2.1 GiB.")


def test_trainings_are_counted_by_their_batches():
    cost = xr.Dataset({"batch": ("repeat", [0.1, 0.2]), "lood": ("repeat", [10.0, 10.0])})
    assert one_inverse.ratios(cost) == pytest.approx([15_700, 31_400])
