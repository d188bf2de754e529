"""How files are named."""

from membership.book.studies.gmip.settings import Settings


def test_files_are_named_after_their_data_sets(tmp_path):
    path = str(tmp_path / "My Data.npz")
    values = {"dataset": "purchase_like:40000", "also_datasets": ["digits", path, "digits"]}
    words = Settings.from_values(values).words
    assert list(words.values()) == ["purchase-like-40000", "digits", "my-data"]
    twice = Settings.from_values({"dataset": "a/x.npz", "also_datasets": ["b/x.npz"]})
    assert list(twice.words.values()) == ["x", "x-2"]
