"""What a table says of its origin."""

import xarray as xr

from membership.book.exhibits.tidy import origin


def gathered(name, **more):
    attrs = {
        "set": name,
        "data": {name.lower(): f"sha256 {name}"},
        "deviations": ["one network", f"{name} alone"],
        "device": "cuda",
        "sizes": {"Targets": "5", "Records": str(len(name))},
    }
    return xr.Dataset(attrs=attrs | more)


def test_departures_are_said_once_and_sizes_that_differ_by_data_set():
    found = origin([gathered("Digits"), gathered("Adult")], "by hand", note="A note.")
    assert found == {
        "data": {"digits": "sha256 Digits", "adult": "sha256 Adult"},
        "deviations": ["one network", "Digits alone", "Adult alone", "by hand"],
        "device": "cuda",
        "sizes": {"Targets": "5", "Records": "Digits 6, Adult 5"},
        "note": "A note.",
    }


def test_departures_may_name_their_data_set_and_setups_are_told_apart_by_it():
    some = [gathered("Digits", setup={"members": 3}), gathered("Adult")]
    found = origin(some, named=True)
    assert found["deviations"][:2] == ["Digits: one network", "Digits: Digits alone"]
    assert found["setup"] == {"Digits": {"members": 3}}


def test_a_table_without_evidence_needed_no_data():
    assert origin([], note="None.") == {
        "data": {},
        "deviations": [],
        "device": "cpu",
        "note": "None.",
    }
