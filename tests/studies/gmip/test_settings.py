"""Sizes that cannot be, and how files are named."""

import pytest

from membership.errors import InputError
from membership.studies.gmip.settings import Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("audit_models", 1),
        ("utility_seeds", 1),
        ("utility_seeds", 101),
        ("simulated_repeats", 1),
        ("simulated_records", 999),
        ("n_reference", 2),
    ],
)
def test_sizes_that_cannot_be_are_refused_before_any_work(name, value):
    with pytest.raises(InputError, match=f"{name}'? = {value}"):
        Settings.from_values({"profile": "tiny", name: value})


def test_files_are_named_after_their_data_sets(tmp_path):
    path = str(tmp_path / "My Data.npz")
    values = {"dataset": "purchase_like:40000", "also_datasets": ["digits", path, "digits"]}
    words = Settings.from_values(values).words
    assert list(words.values()) == ["purchase-like-40000", "digits", "my-data"]
    twice = Settings.from_values({"dataset": "a/x.npz", "also_datasets": ["b/x.npz"]})
    assert list(twice.words.values()) == ["x", "x-2"]
