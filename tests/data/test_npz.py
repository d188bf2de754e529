"""Prepared files: what is read, what is refused, what is written."""

import numpy as np
import pytest

from membership.data import npz
from membership.errors import InputError

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 256, (6, 4, 4), dtype=np.uint8), np.arange(6, dtype=np.uint8) % 3


@pytest.fixture
def file(tmp_path):
    return tmp_path / "toy.npz"


def test_splits_are_joined_training_first(file):
    np.savez(file, x_train=X[:4], y_train=Y[:4], x_test=X[4:], y_test=Y[4:])
    prepared = npz.read(file)
    np.testing.assert_array_equal(prepared.x, X)
    np.testing.assert_array_equal(prepared.y, Y)
    assert prepared.y.dtype == np.int64
    assert prepared.train.tolist() == [True] * 4 + [False] * 2


@pytest.mark.parametrize("keys", [("x", "y"), ("x_train", "y_train")])
def test_one_split_is_no_split(file, keys):
    np.savez(file, **dict(zip(keys, (X, Y), strict=True)))
    assert npz.read(file).train is None


def test_columns_and_ranks_are_kept(file):
    np.savez(
        file, x_train=X[:4, 0], y_train=Y[:4], x_test=X[4:, 0], y_test=Y[4:],
        columns=["a", "b", "c", "d"], names_b=["no", "yes"], rank_train=[3, 2, 1, 0],
        rank_test=[1, 0],
    )  # fmt: skip
    prepared = npz.read(file)
    assert prepared.columns == ("a", "b", "c", "d")
    assert prepared.categories == {"b": ("no", "yes")}
    assert prepared.extra["rank"].tolist() == [3, 2, 1, 0, 1, 0]
    kept = prepared.keep(np.array([5, 0]))
    assert kept.extra["rank"].tolist() == [0, 3]
    assert kept.train.tolist() == [False, True]
    np.testing.assert_array_equal(kept.x, X[[5, 0], 0])


@pytest.mark.parametrize("split", [True, False])
def test_written_files_read_back(file, split):
    train = np.array([1, 1, 0, 1, 0, 0], dtype=bool) if split else None
    before = npz.Prepared(X[:, 0], Y.astype(int), train, ("a", "b", "c", "d"), {"b": ("no", "yes")})
    npz.write(file, before)
    after = npz.read(file)
    order = np.argsort(~train, kind="stable") if split else np.arange(6)
    np.testing.assert_array_equal(after.x, before.x[order])
    np.testing.assert_array_equal(after.y, before.y[order])
    assert (after.columns, after.categories) == (before.columns, before.categories)
    assert [path.name for path in file.parent.iterdir()] == ["toy.npz"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"features": X, "labels": Y}, "holds features, labels; give x_train"),
        ({}, "holds nothing"),
        ({"x": X, "y": Y[:4]}, r"y has shape \(4,\) .* each of the 6 records"),
        ({"x": X, "y": np.eye(6)}, r"y has shape \(6, 6\)"),
        ({"x": X, "y": Y.astype(float)}, "type float64; give one integer label"),
        ({"x": X[:, 0, 0], "y": Y}, r"x has shape \(6,\)"),
        ({"x": X.astype(str), "y": Y}, "type <U3; give numbers"),
        ({"x": X.astype(complex), "y": Y}, "type complex128; give numbers"),
        ({"x_train": X, "y_train": Y, "x_test": X[:, :2], "y_test": Y}, "give one shape"),
        ({"x_train": X, "y_train": Y, "x_test": X, "y_test": Y[:2]}, "y_test has shape"),
    ],
)
def test_wrong_arrays_are_refused_in_one_line(file, arrays, message):
    np.savez(file, **arrays)
    with pytest.raises(InputError, match=message) as caught:
        npz.read(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_pickled_objects_are_refused(file):
    np.savez(file, x=np.array([{"a": 1}] * 6, dtype=object), y=Y)
    with pytest.raises(InputError, match="Object arrays cannot be loaded"):
        npz.read(file)


def test_a_missing_file_is_named(file):
    with pytest.raises(InputError, match=f"{file} is no file"):
        npz.read(file)


def flipped(content):
    place = content.index(X.tobytes()) + 5
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: b"", r"truncated or no \.npz"),
        (lambda content: content[: len(content) // 2], r"truncated or no \.npz"),
        (lambda content: content[: int(0.99 * len(content))], r"truncated or no \.npz"),
        (flipped, "Bad CRC-32"),
    ],
)
def test_a_damaged_file_is_refused(file, damage, message):
    np.savez(file, x=X, y=Y)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(InputError, match=message):
        npz.read(file)


def test_another_format_is_refused(file):
    with file.open("wb") as stream:
        np.save(stream, X)
    with pytest.raises(InputError, match=r"truncated or no \.npz"):
        npz.read(file)
