"""One inverse is the definition for every record, and its seconds are told apart from verdicts."""

import pandas as pd
import pytest
import xarray as xr

from membership.book.studies.lood import one_inverse


@pytest.mark.slow
def test_the_closed_form_is_the_definition(gathered):
    table = one_inverse.one_by_one(gathered("measured-identity"))
    assert table["kernel"].nunique() == 3
    assert table["value"].max() < 1e-9


def test_the_size_of_the_readme_is_told_where_it_was_run(gathered):
    times = gathered("measured-times")
    assert "GiB" not in " ".join(one_inverse.table(times, [])["quantity"])
    few = times["seconds"].to_series()
    seconds = pd.concat([few, pd.Series({"kernel of many": 57.0, "all of many": 45.5})])
    seconds.index.name = "task"
    many = seconds.rename("seconds").to_xarray().to_dataset()
    many.attrs = {**times.attrs, "records_at_most": 10_000, "peak_gib": 2.1}
    value = one_inverse.table(many, []).set_index("quantity")["value"]
    assert value["kernel of 10000 records (s)"] == 57.0
    assert value["LOOD and AUC of all 10000 records from one inverse (s)"] == 45.5
    assert value["largest memory of the run, with 10000 records (GiB)"] == 2.1
    assert one_inverse.table_said(one_inverse.table(many, [])).startswith(
        "Retraining for a record takes "
    )


def test_trainings_are_counted_by_their_batches():
    cost = xr.Dataset({"batch": ("repeat", [0.1, 0.2]), "lood": ("repeat", [10.0, 10.0])})
    assert one_inverse.ratios(cost) == pytest.approx([15_700, 31_400])
