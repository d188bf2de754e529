"""The record digest against a slow definition, and its invariance to order."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from membership.data.digest import canonical_order, record_digest, record_hashes, stored_form

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
