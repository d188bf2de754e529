"""Addresses of data sets: taken apart, put together, and what a run adds to them."""

import html
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import addresses, paths
from membership.addresses import Address, hidden, own_data, read
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


HOME = "/home/mia-müller"
OWN = f"{HOME}/private study/mes-données.csv"


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.setattr(sys, "prefix", f"{HOME}/clone/.venv")
    monkeypatch.setattr(paths, "project_root", lambda: Path(HOME) / "clone")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{HOME}/clone/.venv/lib/tqdm/auto.py:21: TqdmWarning", ".venv/lib/tqdm/auto.py:21: "),
        (f"{HOME}/clone/src/membership/x.py:1: RuntimeWarning", "src/membership/x.py:1: "),
        (f"<module 'numpy' from '{HOME}/lib/numpy.py'>", "<module 'numpy' from '~/lib/numpy.py'>"),
        (f"cd {HOME}/clone", "cd ."),
        (f"file://{HOME}/a", "file://~/a"),
        (f"{OWN}:t", "mes-données.csv:t"),
        (f"dataset = {OWN!r}", "dataset = 'mes-données.csv'"),
        (f'dataset = "{OWN.encode("unicode_escape").decode()}:t"', 'dataset = "mes-données.csv:t"'),
        (json.dumps([OWN]), '["mes-données.csv"]'),
        (html.escape(f"<td>{OWN}"), html.escape("<td>mes-données.csv")),
        (f"cnn@{OWN}:t", "cnn@mes-données.csv:t"),
    ],
)
def test_every_way_of_writing_a_place_is_hidden(text, shown):
    parameters = {"dataset": f"{OWN}:t", "data_root": f"{HOME}/data", "also_models": ["cnn@digits"]}
    found = hidden({"cells": [{text: text}], "n": 3}, parameters)
    (told,) = found["cells"][0].values()
    assert told.startswith(shown)
    assert "mia" not in json.dumps(found, ensure_ascii=False)
    assert found["n"] == 3


@pytest.mark.parametrize(
    "text",
    ["a/b", "/homework/x", f"{HOME}-of-another/x", f"iVBOR+{HOME}", "1/2 of all", "https://a.b/c"],
)
def test_what_names_no_place_of_this_machine_stays(text):
    assert hidden(text, {"dataset": OWN}) == text


@pytest.mark.parametrize("home", ["/", ""])
def test_a_home_that_is_the_root_hides_nothing(monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(Path, "home", lambda: Path(home or "/"))
    assert hidden("a/b and /etc", {}) == "a/b and /etc"


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"dataset": "mnist"}, []),
        ({"dataset": ""}, []),
        ({"dataset": f"{OWN}:t-standardised"}, ["mes-données.csv"]),
        ({"dataset": "/x/cats", "also_datasets": ["digits", "/y/dogs.npz"]}, ["cats", "dogs.npz"]),
        ({"also_models": ["cnn@/x/cats", "cnn@digits"]}, ["cats"]),
    ],
)
def test_own_data_go_by_their_names(parameters, names):
    assert own_data(parameters) == names
