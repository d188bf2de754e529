"""Addresses of data sets: taken apart, put together, and what a run adds to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import addresses
from membership.addresses import Address, read
from membership.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected", "own"),
    [
        ("digits", Address("digits"), False),
        ("mnist-odd", Address("mnist", parity=True), False),
        ("purchase_like:2000", Address("purchase_like:2000"), False),
        ("own.npz", Address("own.npz"), True),
        ("photos/", Address("photos/"), True),
        ("a/b.CSV:kind", Address("a/b.CSV", "kind"), True),
        ("b.tsv.gz:is-odd", Address("b.tsv.gz", "is-odd"), True),
        ("standardised:b.parquet:a kind", Address("b.parquet", "a kind", True), True),
        ("standardised:own.npz", Address("own.npz", standardise=True), True),
        ("standardised:digits-odd", Address("digits", "", True, True), False),
        *((place, Address(place), True) for place in ("a/cats-odd", "./standardised:cats-odd/")),
        ("a/cats-standardised", Address("a/cats-standardised"), True),
        ("own-standardised.npz", Address("own-standardised.npz"), True),
    ],
)
def test_an_address_has_these_parts(text, expected, own):
    assert read(text) == expected
    assert read(text).is_own is own
    assert str(expected) == text


@given(
    st.sampled_from(["a-odd.csv", "b/c.parquet", "d.txt.gz", "b/cats-odd", "mnist"]),
    st.text("abc _-:odd", max_size=9),
    st.booleans(),
    st.booleans(),
)
def test_it_is_put_together_as_it_was(place, label, standardise, parity):
    whole = Address(place)
    whole = whole.asked(label, standardise)._replace(parity=parity and not whole.is_own)
    assert read(str(whole)) == whole


def test_a_run_puts_label_and_scale_into_own_addresses_only():
    named = {
        "dataset": "a.csv",
        "also_datasets": ["digits", "b.npz", "c.csv:kind-odd", "./cats-odd"],
    }
    named["also_models"] = ["small", "cnn@digits", "cnn@b.npz"]
    assert addresses.asked({**named, "models": ["d.csv"], "seed": 3}, "y", True) == {
        "dataset": "standardised:a.csv:y",
        "also_datasets": [
            "digits",
            "standardised:b.npz",
            "standardised:c.csv:kind-odd",
            "standardised:./cats-odd",
        ],
        "also_models": ["small", "cnn@digits", "cnn@standardised:b.npz"],
    }
    again = addresses.asked(addresses.asked(named, "y", True), "y", True)
    assert again == addresses.asked(named, "y", True)


@pytest.mark.parametrize(
    ("named", "label", "standardise", "message"),
    [
        ({"dataset": "own.npz"}, "y", False, "'y' names a column of a table of your own"),
        ({"dataset": "digits"}, "", True, "standardise = True is for your own data"),
    ],
)
def test_what_they_cannot_be_meant_for_is_refused(named, label, standardise, message):
    with pytest.raises(InputError, match=message):
        addresses.asked(named, label, standardise)
