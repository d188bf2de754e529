"""Arrays of a script as a data set, and back as a file."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_wine

from membership import data
from membership.errors import InputError

X, Y = np.arange(24.0).reshape(6, 4), np.array(["b", "a"] * 3)


def halved(x):
    return torch.tensor(x).bfloat16()


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor, pd.DataFrame, halved, np.ma.asarray])
def test_arrays_of_every_library_are_taken(kind):
    found = data.from_arrays(kind(X), Y, name="mine")
    np.testing.assert_array_equal(found.x, X)
    np.testing.assert_array_equal(found.y, [1, 0] * 3)
    assert (found.name, found.n_classes) == ("mine", 2)
    assert found.columns == (("0", "1", "2", "3") if kind is pd.DataFrame else ())
    assert "the classes a, b" in found.source


def test_what_scikit_learn_returns_is_taken_whole():
    wine = data.from_arrays(load_wine(as_frame=True), name="wine")
    assert wine.x.shape == (178, 13)
    assert wine.columns[0] == "alcohol"
    assert np.bincount(wine.y).tolist() == [59, 71, 48]


def test_what_looks_like_a_data_set_of_torchvision_is_taken_whole():
    pixels = torch.arange(6 * 16, dtype=torch.uint8).reshape(6, 4, 4)
    found = data.from_arrays(SimpleNamespace(data=pixels, targets=[0, 1, 2] * 2))
    np.testing.assert_allclose(found.x[:, 0], pixels.numpy() / 255, rtol=1e-6)
    assert found.n_classes == 3


def test_a_saved_data_set_is_loaded_as_it_was(tmp_path):
    first = data.from_arrays(load_wine(as_frame=True))
    again = data.load(data.save(first, tmp_path / "wine.npz"))
    np.testing.assert_array_equal(again.x, first.x)
    np.testing.assert_array_equal(again.y, first.y)
    assert again.columns == first.columns
    with pytest.raises(InputError, match=r"ends in \.npz"):
        data.save(first, tmp_path / "wine.csv")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X, None, "x is ndarray and y is missing"),
        (X, Y[:5], r"y has shape \(5,\)"),
        (X, X[:, 0] + 0.5, "in whole numbers or words"),
        (X[:, 0], Y, r"x has shape \(6,\)"),
        (X.astype(str), Y, "give numbers"),
        (X, ["a"] * 6, "every label is 0"),
        (X * np.nan, Y, "hold NaN"),
        ([[1], [1, 2]] * 3, Y, "x is no array"),
        (X, np.array(["a", None] * 3, dtype=object), "in whole numbers or words"),
        (X, [0, np.nan] * 3, "in whole numbers or words"),
        (np.ma.masked_greater(X, 20), Y, "x has masked entries; fill them in"),
        (X + 1j, Y, "type complex128; give numbers"),
    ],
)
def test_what_is_no_data_set_is_refused(x, y, message):
    with pytest.raises(InputError, match=message):
        data.from_arrays(x, y)
