"""What a data set promises, its digest, and the changes made to a whole one."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from membership.data import (
    Dataset,
    deduplicate,
    keep_classes,
    label_parity,
    load,
    one_hot,
    record_digest,
    require,
)
from membership.data.dataset import canonical_order, record_hashes, stored_form
from membership.errors import InputError


def make(x=None, y=None, n_classes=3, **fields):
    x = np.arange(24.0).reshape(6, 4) if x is None else x
    y = np.array([0, 1, 2, 0, 1, 2]) if y is None else y
    return Dataset(x=x, y=y, name="toy", n_classes=n_classes, source="Toy.", digest="", **fields)


def test_arrays_are_read_only_and_typed_and_the_callers_stay_his():
    x = np.zeros((6, 4), dtype=np.float32)
    dataset = make(x, official_train=np.ones(6, dtype=int))
    assert (dataset.x.dtype, dataset.y.dtype) == (np.float32, np.int64)
    assert dataset.official_train.dtype == bool
    assert x.flags.writeable
    for array in (dataset.x, dataset.y, dataset.official_train):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"x": np.zeros((0, 4)), "y": np.zeros(0)}, "at least one record"),
        ({"x": np.zeros((6, 2, 2))}, r"x has shape \(6, 2, 2\)"),
        ({"y": np.zeros(5)}, r"y has shape \(5,\); give one label for each of 6"),
        ({"y": np.zeros((6, 3))}, r"y has shape \(6, 3\)"),
        ({"official_train": np.ones(5)}, r"official_train has shape \(5,\)"),
        ({"x": np.full((6, 4), np.nan)}, "NaN or infinity"),
        ({"x": np.full((6, 4), -np.inf)}, "NaN or infinity"),
        ({"n_classes": 1, "y": np.zeros(6)}, "n_classes is 1"),
        ({"n_classes": 2}, "labels run from 0 to 2; give 0 to 1"),
        ({"y": np.arange(6) - 1, "n_classes": 9}, "labels run from -1"),
    ],
)
def test_bad_arrays_are_refused_in_one_line(fields, message):
    with pytest.raises(InputError, match=message) as caught:
        make(**fields)
    assert "\n" not in str(caught.value)


def test_select_keeps_the_order_asked_for_and_says_what_it_holds():
    dataset = make(official_train=np.array([1, 1, 1, 0, 0, 0]))
    part = dataset.select(np.array([4, 0]), name="pair")
    np.testing.assert_array_equal(part.x, dataset.x[[4, 0]])
    assert (part.name, len(part), part.n_classes) == ("pair", 2, 3)
    assert part.official_train.tolist() == [False, True]
    assert part.digest == record_digest(part.x, part.y, part.official_train)


def test_select_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one record"):
        make().select(np.zeros(6, dtype=bool))


def test_keep_classes_renumbers_in_the_order_given():
    dataset = make(official_train=np.array([1, 1, 1, 0, 0, 0]))
    pair = keep_classes(dataset, [2, 0])
    assert pair.y.tolist() == [1, 0, 1, 0]
    np.testing.assert_array_equal(pair.x, dataset.x[[0, 2, 3, 5]])
    assert pair.official_train.tolist() == [True, True, False, False]
    assert (pair.name, pair.n_classes) == ("toy-2-0", 2)
    assert pair.digest == record_digest(pair.x, pair.y, pair.official_train)
    assert pair.digest != keep_classes(dataset, [0, 2]).digest


@pytest.mark.parametrize("classes", [[], [1], [1, 1], [0, 3], [-1, 0]])
def test_keep_classes_refuses(classes):
    with pytest.raises(InputError, match="classes="):
        keep_classes(make(), classes)


def test_deduplicate_drops_later_copies_of_record_and_label():
    x = np.array([[1.0], [2.0], [1.0], [1.0], [2.0]])
    y = np.array([0, 1, 0, 1, 1])
    kept = deduplicate(make(x, y, official_train=np.array([1, 1, 0, 0, 0])))
    assert kept.x[:, 0].tolist() == [1.0, 2.0, 1.0]
    assert kept.y.tolist() == [0, 1, 1]
    assert kept.official_train.tolist() == [True, True, False]
    assert "2 repeated records dropped" in kept.source


def test_deduplicate_agrees_with_numpy_on_random_codes():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, (300, 3)), rng.integers(0, 2, 300)
    kept = deduplicate(make(x.astype(float), y))
    table = np.column_stack([x, y])
    expected = table[np.sort(np.unique(table, axis=0, return_index=True)[1])]
    np.testing.assert_array_equal(np.column_stack([kept.x, kept.y]), expected)


def test_require():
    dataset = make()
    require(dataset, n_records=6, n_classes=3)
    with pytest.raises(InputError, match="holds 6 records and this design needs 7"):
        require(dataset, n_records=7)
    with pytest.raises(InputError, match="has 3 classes and this design needs 4"):
        require(dataset, n_classes=4)


def test_parity_labels_a_record_by_whether_its_label_is_odd():
    dataset = make(y=np.array([0, 1, 2, 3, 4, 5]), n_classes=6)
    odd = label_parity(dataset)
    assert odd.y.tolist() == [0, 1, 0, 1, 0, 1]
    assert (odd.name, odd.n_classes) == ("toy-odd", 2)
    assert odd.digest == record_digest(odd.x, odd.y)
    assert np.array_equal(odd.x, dataset.x)


def test_parity_is_asked_for_behind_a_name():
    digits, odd = load("digits"), load("digits-odd")
    assert np.array_equal(odd.y, digits.y % 2)
    assert not odd.verified
    with pytest.raises(InputError, match="dataset='digit' is not known"):
        load("digit-odd")


PICTURES = hnp.arrays(np.uint8, st.tuples(st.integers(1, 12), st.just(2), st.just(3)))


def slow_digest(x, y, train=None):
    """The definition, record by record, in plain Python."""
    groups = {"all": []} if train is None else {"train": [], "test": []}
    for i in range(len(x)):
        group = "all" if train is None else ("train" if train[i] else "test")
        content = b"".join(int(v).to_bytes(1, "little") for v in x[i].ravel())
        content += int(y[i]).to_bytes(8, "little")
        groups[group].append(hashlib.sha256(content).hexdigest())
    text = "".join(name + "".join(sorted(hashes)) for name, hashes in groups.items())
    return hashlib.sha256(text.encode()).hexdigest()


@given(PICTURES, st.randoms(use_true_random=False))
def test_digest_is_the_slow_definition(x, random):
    y = np.array([random.randrange(10) for _ in x])
    train = np.array([random.random() < 0.5 for _ in x])
    assert record_digest(x, y) == slow_digest(x, y)
    assert record_digest(x, y, train) == slow_digest(x, y, train)


@given(PICTURES, st.randoms(use_true_random=False))
def test_order_changes_neither_digest_nor_canonical_records(x, random):
    y = np.array([random.randrange(3) for _ in x])
    train = np.array([random.random() < 0.5 for _ in x])
    order = list(range(len(x)))
    random.shuffle(order)
    shuffled = x[order], y[order], train[order]
    assert record_digest(*shuffled) == record_digest(x, y, train)
    first = canonical_order(record_hashes(x, y), train)
    second = canonical_order(record_hashes(*shuffled[:2]), shuffled[2])
    np.testing.assert_array_equal(x[first], shuffled[0][second])
    np.testing.assert_array_equal(y[first], shuffled[1][second])
    np.testing.assert_array_equal(np.sort(train)[::-1], train[first])


@given(PICTURES, st.data())
def test_any_changed_record_changes_the_digest(x, data):
    y = np.zeros(len(x), dtype=np.int64)
    train = np.zeros(len(x), dtype=bool)
    before = record_digest(x, y, train)
    record = data.draw(st.integers(0, len(x) - 1))
    changed = x.copy()
    changed[record, 0, 0] ^= 1
    relabelled, moved = y.copy(), train.copy()
    relabelled[record] = 1
    moved[record] = True
    assert before not in {
        record_digest(changed, y, train),
        record_digest(x, relabelled, train),
        record_digest(x, y, moved),
        record_digest(x, y),
    }


def test_a_repeated_record_counts():
    x, y = np.zeros((2, 1), dtype=np.uint8), np.zeros(2, dtype=np.int64)
    assert record_digest(x, y) != record_digest(x[:1], y[:1])


@pytest.mark.parametrize(
    ("given_type", "stored_type"),
    [("?", "u1"), ("u1", "u1"), ("i4", "<i8"), ("u2", "<i8"), ("f8", "<f4"), (">f4", "<f4")],
)
def test_stored_form(given_type, stored_type):
    x = np.ones((2, 3), dtype=given_type)
    assert stored_form(x).dtype == np.dtype(stored_type)
    assert record_digest(x, np.arange(2)) == record_digest(x.astype(stored_type), np.arange(2))


def test_layout_in_memory_does_not_matter():
    x = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert record_digest(np.asfortranarray(x), [0, 1]) == record_digest(x, [0, 1])


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
