"""From stored arrays to a public data set: dropping, order, verification, scale."""

import numpy as np
import pytest

from membership.data import prepare, record_digest
from membership.data.npz import Prepared
from membership.data.registry import Entry
from membership.errors import InputError


def entry(**fields):
    usual = {"records": 30, "n_classes": 3, "shape": (4,), "homepage": "https://toy.example"}
    return Entry(name="toy", title="Toy", licence="none", **{**usual, **fields})


def test_every_order_gives_the_same_records_and_digest(tiny_table):
    x, y = tiny_table
    train = np.arange(30) < 20
    order = np.random.default_rng(0).permutation(30)
    expected = record_digest(x, y, train)
    first = prepare.identify(entry(digest=expected), Prepared(x, y, train), "here")
    shuffled = Prepared(x[order], y[order], train[order])
    second = prepare.identify(entry(digest=expected), shuffled, "there")
    assert first.digest == second.digest == expected
    np.testing.assert_array_equal(first.arrays.x, second.arrays.x)
    np.testing.assert_array_equal(first.arrays.y, second.arrays.y)
    assert first.arrays.train.tolist() == [True] * 20 + [False] * 10
    table = np.column_stack([x, y])
    found = np.column_stack([first.arrays.x, first.arrays.y])
    assert sorted(map(tuple, found)) == sorted(map(tuple, table))


def test_other_records_are_refused(tiny_table):
    x, y = tiny_table
    good = entry(digest=record_digest(x, y))
    changed = x.copy()
    changed[7, 2] ^= 1
    with pytest.raises(InputError, match=r"here does not hold the public records of toy: .*fetch"):
        prepare.identify(good, Prepared(changed, y, None), "here")
    with pytest.raises(InputError, match="does not hold the public records"):
        prepare.identify(good, Prepared(x, y, np.arange(30) < 20), "here")
    with pytest.raises(InputError, match=r"29 records of shape \(4,\) where toy has 30"):
        prepare.identify(good, Prepared(x[1:], y[1:], None), "here")
    with pytest.raises(InputError, match=r"of shape \(3,\) where toy has 30 of \(4,\)"):
        prepare.identify(good, Prepared(x[:, 1:], y, None), "here")


@pytest.fixture
def with_drop_list(data_folder):
    (data_folder / "drop.csv").write_text("split,label,rank\ntrain,0,1\ntrain,2,0\ntest,1,1\n")
    return entry(records=27, drop="drop.csv")


def test_listed_records_are_dropped_from_official_and_shuffled_copies(with_drop_list, tiny_table):
    x, y = tiny_table
    train = np.arange(30) < 18
    # By hand: labels run 0, 1, 2, 0, ...; the second 0 and the first 2 of the training
    # split are records 3 and 2, the second 1 of the test split is record 22.
    kept = np.setdiff1d(np.arange(30), [2, 3, 22])
    expected = record_digest(x[kept], y[kept], train[kept])
    official = prepare.identify(with_drop_list, Prepared(x, y, train), "upstream")
    assert official.digest == expected

    rank = np.where(train, np.arange(30) // 3, (np.arange(30) - 18) // 3)
    order = np.random.default_rng(1).permutation(30)
    shuffled = Prepared(x, y, train, extra={"rank": rank}).keep(order)
    assert prepare.identify(with_drop_list, shuffled, "prepared").digest == expected

    reduced = Prepared(x[kept], y[kept], train[kept])
    assert prepare.identify(with_drop_list, reduced, "converted").digest == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((5, 7), (5, 7)),
        ((5, 8, 9), (5, 1, 8, 9)),
        ((5, 8, 9, 3), (5, 3, 8, 9)),
        ((5, 8, 9, 1), (5, 1, 8, 9)),
        ((5, 3, 8, 9), (5, 3, 8, 9)),
    ],
)
def test_channels_come_first(shape, expected):
    x = np.arange(np.prod(shape)).reshape(shape)
    found = prepare.channels_first(x, "here")
    assert found.shape == expected
    if shape == (5, 8, 9, 3):
        assert found[2, 1, 4, 5] == x[2, 4, 5, 1]


@pytest.mark.parametrize("shape", [(5, 8, 9, 4), (5, 2, 2, 2, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(InputError, match="1 or 3 channels"):
        prepare.channels_first(np.zeros(shape), "here")


def test_pixels_are_scaled_and_contiguous():
    pixels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    x = prepare.as_float(pixels, 255.0, "here")
    expected = np.array([np.float32(v) / np.float32(255) for v in range(256)])
    np.testing.assert_array_equal(x.ravel(), expected)
    assert x.flags.c_contiguous
    assert x.dtype == np.float32
    assert pixels[0, 0, 1] == 1


def test_source_says_what_was_left_out(tiny_table):
    noted = entry(note="Three were dropped.")
    identified = prepare.identify(noted, Prepared(*tiny_table, None), "here")
    dataset = prepare.as_dataset(noted, identified, "here")
    assert dataset.source == "Toy (https://toy.example). Three were dropped."
    assert not dataset.verified
