"""Both ways of training arrive at the same parameters, and both are timed."""

from benchmarks import training


def test_batched_training_equals_one_by_one():
    (row,) = training.run(n_models=4, n_records=600).to_dict("records")
    assert float(row["note"].removeprefix("parameters equal to ")) < 1e-5
    assert row["ours (s)"] > 0
    assert row["ratio"] == row["reference (s)"] / row["ours (s)"]
