"""A share says where a job begins; each job ends with everything."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import shared_work
from membership.errors import InputError


def test_without_a_share_the_order_is_kept(monkeypatch):
    monkeypatch.delenv(shared_work.VARIABLE, raising=False)
    assert shared_work.rotated("abcd") == list("abcd")


@given(st.integers(1, 12), st.integers(0, 40))
def test_every_share_holds_every_item_and_begins_at_its_own(of, count):
    begins = []
    for part in range(1, of + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(shared_work.VARIABLE, f"{part}/{of}")
            found = shared_work.rotated(range(count))
        assert sorted(found) == list(range(count))
        begins += found[:1]
    # As far apart as they can be.
    gaps = [later - sooner for sooner, later in itertools.pairwise(begins)]
    assert all(gap in (count // of, count // of + 1) for gap in gaps)


@pytest.mark.parametrize("text", ["", "2", "0/2", "3/2", "1/1001", "a/b", "1/2/3", "-1/2", "²/3"])
def test_bad_input(text):
    with pytest.raises(InputError, match="give K/N, such as 2/4"):
        shared_work.parse(text)
