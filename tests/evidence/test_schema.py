"""What evidence of a kind may hold, and in which precision it is kept."""

import json
import re

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from membership import evidence
from membership.errors import InputError
from membership.evidence import schema
from tests.evidence.examples import ORIGIN, measured, outputs


def test_a_variable_gets_the_dimensions_and_the_precision_of_its_kind():
    made = outputs()
    assert made["log_odds"].dims == ("model", "record")
    assert {name: str(one.dtype) for name, one in made.variables.items()} == {
        "log_odds": "float32",
        "member": "bool",
        "record": "int32",
        "test_accuracy": "float64",
    }


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"log_odd": np.zeros((3, 50))}, "log_odd: not among the variables"),
        ({"member": np.zeros((3, 50))}, "member is of float64; it is stored as bool"),
        ({"member": np.zeros((3, 49), bool)}, "conflicting sizes"),
        ({"log_odds": np.full((3, 50), 1e39)}, "log_odds holds 150 numbers too large for float32"),
        ({"log_odds": (("record", "model"), np.zeros((50, 3)))}, "log_odds lies over"),
        ({"log_odds": np.full((3, 50), "a")}, "log_odds is of"),
    ],
)
def test_what_does_not_fit_its_kind_is_refused_in_one_line(changed, words):
    with pytest.raises(InputError, match=words) as refused:
        outputs(**changed)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("recipe", "x", "attribute recipe is 'x'; it must be an object"),
        ("recipe", None, "attribute recipe is None; it must be an object"),
        ("data", [1], "attribute data is [1]; it must be an object"),
        ("set", 3, "attribute set is 3; it must be words"),
        ("set", "\ud800", "attribute set: '\\ud800' is no text"),
        ("sizes", {"\udfff": "x"}, "attribute a name in sizes: '\\udfff' is no text"),
        ("targets", 5, "attribute targets is 5; it must be a list of whole numbers"),
        ("targets", [True], "attribute targets is [True]; it must be a list of whole numbers"),
        ("targets", [[0]], "attribute targets is [[0]]; it must be a list of whole numbers"),
        ("references", {}, "attribute references is {}; it must be a list of whole numbers"),
        ("references", [1.5], "attribute references is [1.5]; it must be a list of whole numbers"),
        ("complements", ["x"], "attribute complements is ['x']; it must be a list of whole "),
        ("warnings", "abc", "attribute warnings is 'abc'; it must be a list of words"),
        ("inverses", ["x"], "attribute inverses is ['x']; it must be a list of objects"),
        ("rank", "8", "attribute rank is '8'; it must be a number"),
    ],
)
def test_an_attribute_of_another_type_is_refused_in_one_line(name, value, line):
    made = outputs()
    made.attrs[name] = value
    with pytest.raises(InputError, match=re.escape(line)) as refused:
        evidence.digest(made)
    assert "\n" not in str(refused.value)


def test_what_is_missing_is_named():
    whole = outputs()
    with pytest.raises(InputError, match=r"lacks member$"):
        evidence.digest(whole.drop_vars("member"))
    del whole.attrs["targets"], whole.attrs["recipe"]
    with pytest.raises(InputError, match="lacks attributes: recipe, targets"):
        evidence.digest(whole)


@pytest.mark.parametrize("kind", ["gradients", None, 3])
def test_an_unknown_kind_is_refused(kind):
    with pytest.raises(InputError, match=r"kind = .*outputs, white_box"):
        evidence.dataset(kind, {}, **ORIGIN)
    with pytest.raises(InputError, match="kind = "):
        evidence.digest(xr.Dataset(attrs={"kind": kind}))


@pytest.mark.parametrize("value", [object(), float("nan"), np.inf, {"a": b"1"}, [1, {2}]])
def test_an_attribute_that_is_no_json_is_refused(value):
    with pytest.raises(InputError, match="attribute note"):
        evidence.digest(outputs().assign_attrs(note=value))


def test_attributes_become_what_json_has():
    kept = schema.stored(outputs().assign_attrs(sizes=(np.int64(3), np.float32(0.5), True)))
    assert kept.attrs["sizes"] == [3, 0.5, True]
    assert [type(one) for one in kept.attrs["sizes"]] == [int, float, bool]


def test_kinds_with_free_names_take_numbers_words_and_truth_only():
    assert measured()["solver"].values.tolist() == ["exact", "conjugate gradients"]
    for values in (np.array([1j]), np.array([None]), np.array([{}])):
        with pytest.raises(InputError, match="odd"):
            evidence.dataset("measured", {"odd": (("case",), values)}, **ORIGIN)


def test_evidence_is_stored_once():
    once = outputs(128, 3000)
    assert once.identical(schema.stored(once))


def test_only_large_evidence_is_rounded():
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=(3, 50)), rng.normal(size=(300, 1000))
    kept = outputs(log_odds=small)["log_odds"].values
    np.testing.assert_array_equal(kept, small.astype(np.float32))
    rounded = outputs(300, 1000, log_odds=large)["log_odds"].values
    assert not (rounded.view(np.uint32) & 0x7F).any()
    error = np.abs(rounded / large - 1)
    assert 2.0**-19 < error.max() < 2.0**-17 * 1.01


@given(arrays.arrays(np.float32, 40, elements=st.floats(-(2.0**127), 2.0**127, width=32)))
def test_rounding_is_to_the_nearest_of_16_bits(values):
    rounded = schema._rounded(values)
    assert not (rounded.view(np.uint32) & 0x7F).any()
    for before, after in zip(values, rounded, strict=True):
        # The neighbours with 16 bits, towards zero and away from it.
        low = np.uint32(before.view(np.uint32) & ~np.uint32(0x7F))
        near = np.array([low, low + np.uint32(0x80)]).view(np.float32).astype(np.float64)
        assert abs(float(after) - float(before)) == np.abs(near - float(before)).min()


def test_what_has_no_neighbour_with_16_bits_stays():
    kept = np.array([np.nan, np.inf, -np.inf, np.finfo(np.float32).max], dtype=np.float32)
    assert schema._rounded(kept).tobytes() == kept.tobytes()


def test_rounded_numbers_are_those_of_a_large_file():
    values = np.random.default_rng(0).standard_normal((8, 50_000)).astype(np.float32)
    values[0, :3] = np.nan, np.inf, 0.0
    asked = np.isfinite(values)
    large = outputs(8, 50_000, asked=asked)
    kept = schema.stored(large.assign(log_odds=(("model", "record"), values)))
    np.testing.assert_array_equal(evidence.rounded(values), kept["log_odds"])
    np.testing.assert_allclose(evidence.rounded(values), values, rtol=8e-6)


@pytest.mark.parametrize("bits", [1, 12, 22])
def test_fewer_bits_change_numbers_by_half_of_the_last_one(bits):
    values = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    found = evidence.rounded(values, bits)
    assert not (found.view(np.uint32) & np.uint32((1 << (23 - bits)) - 1)).any()
    error = np.abs(found.astype(float) / values - 1)
    assert 2.0 ** -(bits + 2) < error.max() <= 2.0 ** -(bits + 1)


@pytest.mark.parametrize("bits", [0, 23, 2.5])
def test_bits_are_fewer_than_a_float_has(bits):
    with pytest.raises(InputError, match="bits = "):
        evidence.rounded(np.ones(3), bits)


def lacking(name: str, where: tuple, number: float = np.nan, **further) -> xr.Dataset:
    made = outputs(hinge=np.zeros((3, 50)), **further)
    values = made[name].values.copy()
    values[where] = number
    return made.assign({name: (("model", "record"), values)})


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["log_odds", "hinge"])
def test_evidence_with_numbers_that_are_none_replaces_no_good_one(tmp_path, name, number):
    good = evidence.save(tmp_path / "mine.evidence", outputs())
    before = good.read_bytes()
    with pytest.raises(InputError) as refused:
        evidence.save(good, lacking(name, (1, 7), number))
    assert f"{name} holds 1 numbers that are not finite, the first of model 1 and record 7" in str(
        refused.value
    )
    assert good.read_bytes() == before


def test_what_was_not_asked_needs_no_number(tmp_path):
    asked = np.ones((3, 50), bool)
    asked[1, 7] = False
    for fine in (lacking("log_odds", (1, 7), asked=asked), lacking("hinge", (2,))):
        assert evidence.load(evidence.save(tmp_path / "mine.evidence", fine)).identical(fine)
    with pytest.raises(InputError, match="log_odds holds 50 numbers"):
        evidence.save(tmp_path / "mine.evidence", lacking("log_odds", (2,)))


def test_evidence_goes_to_netcdf_as_the_docstring_says(tmp_path):
    made = outputs()
    flat = {name: json.dumps(value) for name, value in made.attrs.items()}
    made.assign_attrs(flat).to_netcdf(tmp_path / "mine.nc", engine="scipy")
    found = xr.load_dataset(tmp_path / "mine.nc", engine="scipy")
    assert {name: json.loads(value) for name, value in found.attrs.items()} == made.attrs
    np.testing.assert_array_equal(found["log_odds"], made["log_odds"])
