"""One-hot encoding against a loop."""

import numpy as np
import pytest

from membership.data import Dataset, one_hot
from membership.errors import InputError


def table(x, columns=("colour", "size"), categories=None):
    return Dataset(
        x=np.asarray(x, dtype=float),
        y=np.arange(len(x)) % 2,
        name="toy",
        n_classes=2,
        source="Toy.",
        digest="",
        columns=columns,
        categories={"colour": ("red", "green", "blue")} if categories is None else categories,
    )


def test_words_become_indicators_and_numbers_are_standardised():
    encoded = one_hot(table([[0, 10], [2, 20], [2, 60]]))
    assert encoded.columns == ("colour=red", "colour=green", "colour=blue", "size")
    np.testing.assert_array_equal(encoded.x[:, :3], [[1, 0, 0], [0, 0, 1], [0, 0, 1]])
    sizes = np.array([10.0, 20.0, 60.0])
    expected = (sizes - sizes.mean()) / np.sqrt(np.mean((sizes - sizes.mean()) ** 2))
    np.testing.assert_allclose(encoded.x[:, 3], expected, rtol=1e-6)
    assert encoded.categories == {}
    assert encoded.digest


def test_a_constant_number_becomes_zero():
    assert (one_hot(table([[0, 7], [1, 7]])).x[:, 3] == 0).all()


@pytest.mark.parametrize("code", [-1, 3, 0.5])
def test_a_code_without_a_meaning_is_refused(code):
    with pytest.raises(InputError, match=r"column 'colour' .* whole codes from 0 to 2"):
        one_hot(table([[code, 1], [0, 1]]))


@pytest.mark.parametrize("columns", [(), ("colour",)])
def test_columns_must_be_named(columns):
    with pytest.raises(InputError, match="one_hot: dataset 'toy' names"):
        one_hot(table([[0, 1], [1, 2]], columns=columns))
