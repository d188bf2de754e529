"""Membership masks: their sizes, their independence of one another, their limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership.data import (
    balanced_membership,
    disjoint_halves,
    leave_one_out,
    random_halves,
    random_membership,
)
from membership.errors import InputError

SEEDS = st.integers(0, 2**32 - 1)


@given(st.integers(1, 8), st.integers(2, 60), SEEDS, st.data())
def test_random_membership_has_exact_sizes_and_stable_rows(n_models, n_records, seed, data):
    n_members = data.draw(st.integers(1, n_records - 1))
    mask = random_membership(n_models, n_records, n_members, seed)
    assert mask.shape == (n_models, n_records)
    assert mask.dtype == bool
    assert (mask.sum(axis=1) == n_members).all()
    more = random_membership(n_models + 3, n_records, n_members, seed)
    np.testing.assert_array_equal(more[:n_models], mask)


@given(st.integers(1, 8), st.integers(2, 61), SEEDS)
def test_random_halves_are_halves(n_models, n_records, seed):
    mask = random_halves(n_models, n_records, seed)
    assert (mask.sum(axis=1) == n_records // 2).all()


@given(st.integers(2, 61), SEEDS)
def test_disjoint_halves_share_nothing(n_records, seed):
    mask = disjoint_halves(n_records, seed)
    assert mask.sum(axis=1).tolist() == [n_records // 2] * 2
    assert mask.sum(axis=0).max() == 1


def test_every_record_is_as_likely_to_be_a_member():
    n_models = 4000
    share = random_halves(n_models, 10, seed=1).mean(axis=0)
    # Five standard errors of a share of one half.
    assert np.abs(share - 0.5).max() < 5 * 0.5 / np.sqrt(n_models)


def test_seeds_differ_and_repeat():
    assert (random_halves(2, 50, 0) == random_halves(2, 50, 0)).all()
    assert (random_halves(2, 50, 0) != random_halves(2, 50, 1)).any()


@given(st.integers(2, 40), st.data())
def test_leave_one_out(n_records, data):
    records = data.draw(st.lists(st.integers(0, n_records - 1), min_size=1, max_size=5))
    mask = leave_one_out(n_records, records)
    assert mask.shape == (1 + len(records), n_records)
    assert mask[0].all()
    for row, left_out in zip(mask[1:], records, strict=True):
        assert np.flatnonzero(~row).tolist() == [left_out]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_membership(0, 10, 5, 0), "n_models=0"),
        (lambda: random_membership(1, 10, 0, 0), "n_members=0 of n_records=10"),
        (lambda: random_membership(1, 10, 10, 0), "n_members=10 of n_records=10"),
        (lambda: random_halves(1, 1, 0), "n_records=1"),
        (lambda: disjoint_halves(1, 0), "n_records=1"),
        (lambda: leave_one_out(10, []), "name at least one"),
        (lambda: leave_one_out(10, [10]), "from 0 to n_records - 1 = 9"),
        (lambda: leave_one_out(10, [-1]), "from 0 to"),
    ],
)
def test_sizes_out_of_range_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(("n_models", "n_records"), [(2, 2), (6, 9), (16, 301)])
def test_a_balanced_design_gives_each_record_to_half_of_the_models(n_models, n_records):
    mask = balanced_membership(n_models, n_records, seed=3)
    assert (mask.sum(axis=0) == n_models // 2).all()
    assert set(mask.sum(axis=1)) <= {n_records // 2, (n_records + 1) // 2}
    np.testing.assert_array_equal(mask, balanced_membership(n_models, n_records, seed=3))
    with pytest.raises(InputError, match="even number"):
        balanced_membership(n_models + 1, n_records, seed=3)
