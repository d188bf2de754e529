"""Both ways of training arrive at the same parameters, and both are timed."""

from membership.studies import benchmark


def test_batched_training_equals_one_by_one():
    (row,) = benchmark.batched_against_one_by_one(n_models=4, n_records=600).to_dict("records")
    assert row["largest difference"] < 1e-5
    assert row["batched (s)"] > 0
    assert row["ratio"] == row["one by one (s)"] / row["batched (s)"]
