import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import published
from membership.errors import InputError

NUMBERS = st.floats(-1e6, 1e6)
LENGTHS = st.floats(0, 1e3)


@given(NUMBERS, NUMBERS, LENGTHS, LENGTHS, LENGTHS)
def test_a_verdict_is_what_its_definition_says(printed, value, below, above, tolerance):
    low, high = value - below, value + above
    word = published.verdict(printed, value, low, high, tolerance=tolerance)
    inside = low <= printed <= high or abs(printed - value) <= tolerance
    gap = min(abs(printed - low), abs(printed - high), abs(abs(printed - value) - tolerance))
    if gap > 1e-2:  # away from the edges, where a rounding of doubles may decide
        assert word == ("agrees" if inside else "differs")
    else:
        assert word in ("agrees", "differs")


@given(NUMBERS, NUMBERS, LENGTHS, LENGTHS)
def test_a_wider_interval_or_tolerance_never_ends_an_agreement(printed, value, length, more):
    narrow = published.verdict(printed, value, value - length, value + length, tolerance=length)
    if narrow == "agrees":
        wide = length + more
        assert published.verdict(printed, value, value - wide, value + wide) == "agrees"
        assert published.verdict(printed, value, value, value, tolerance=wide) == "agrees"


@given(NUMBERS, LENGTHS)
def test_the_ends_of_the_interval_belong_to_it(value, length):
    low, high = value - length, value + length
    assert published.verdict(low, value, low, high) == "agrees"
    assert published.verdict(high, value, low, high) == "agrees"


@given(NUMBERS, NUMBERS, LENGTHS, LENGTHS)
def test_other_data_are_never_an_agreement(printed, value, length, tolerance):
    word = published.verdict(
        printed, value, value - length, value + length, tolerance=tolerance, comparable=False
    )
    assert word == "not comparable"


def test_a_tolerance_of_a_tenth_covers_a_tenth():
    assert abs(51.0 - 50.9) > 0.1
    assert published.verdict(50.9, 51.0, 51.0, 51.0, tolerance=0.1) == "agrees"
    assert published.verdict(50.8, 51.0, 51.0, 51.0, tolerance=0.1) == "differs"


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("comparable", [True, False])
def test_numbers_must_be_finite(place, bad, comparable):
    numbers = [1.0, 1.0, 0.0, 2.0]
    numbers[place] = bad
    with pytest.raises(InputError, match="finite"):
        published.verdict(*numbers, comparable=comparable)


def test_an_inverted_interval_is_refused():
    with pytest.raises(InputError, match=r"low = 2\.0 is above high = 1\.0"):
        published.verdict(1.0, 1.5, 2.0, 1.0)


@pytest.mark.parametrize("tolerance", [-0.1, math.nan, math.inf])
def test_a_tolerance_must_be_a_distance(tolerance):
    with pytest.raises(InputError, match="tolerance"):
        published.verdict(1.0, 1.0, 1.0, 1.0, tolerance=tolerance)


def study(comparable=True, deviations=()):
    table = pd.DataFrame(
        {
            "n": [1000, 400, 400, 100],
            "attack": ["MALT", "MALT", "MATT", "MALT"],
            "value": [52.5, 56.0, 56.9, 60.0],
            "low": [52.0, 55.0, 56.0, 59.0],
            "high": [53.0, 57.0, 57.5, 61.0],
            "n_repeats": 5,
        }
    )
    table.attrs = {"comparable": comparable, "deviations": list(deviations)}
    return table


REFERENCE = pd.DataFrame(
    {
        "n": [400, 400, 1000, 6000],
        "attack": ["MALT", "MATT", "MALT", "MALT"],
        "value": [54.4, 57.0, 52.6, 51.0],
    }
)


def test_compare_keeps_the_rows_and_their_order():
    rows = published.compare(study(), REFERENCE, ["n", "attack"])
    assert list(rows.columns) == [
        *["n", "attack", "published", "value", "low", "high", "verdict", "reason"]
    ]
    assert list(rows["n"]) == [1000, 400, 400, 100]
    assert list(rows["verdict"]) == ["agrees", "differs", "agrees", ""]
    assert rows["published"].isna().tolist() == [False, False, False, True]
    assert rows["reason"].tolist() == [
        "published inside the interval",
        "published 0.6 below the interval",
        "published inside the interval",
        "the paper gives no number",
    ]


def test_compare_uses_and_states_the_tolerance():
    rows = published.compare(study(), REFERENCE, ["n", "attack"], tolerance=2.0)
    assert rows["verdict"].iloc[1] == "agrees"
    assert rows["reason"].iloc[1] == "published within 2 of the regenerated value"
    assert rows.attrs["tolerance"] == 2.0


def test_compare_says_why_a_run_is_not_comparable():
    table = study(False, ["digits in place of CIFAR-10", "n up to 1000"])
    rows = published.compare(table, REFERENCE, ["n", "attack"])
    assert list(rows["verdict"]) == ["not comparable"] * 3 + [""]
    assert rows["reason"].iloc[0] == "digits in place of CIFAR-10; n up to 1000"


def test_a_run_must_say_why_it_is_not_comparable():
    with pytest.raises(InputError, match="say why"):
        published.compare(study(False), REFERENCE, ["n", "attack"])


def test_a_table_must_state_whether_it_is_comparable():
    table = study()
    table.attrs = {}
    with pytest.raises(InputError, match="comparable"):
        published.compare(table, REFERENCE, ["n", "attack"])


def test_ambiguous_keys_are_refused():
    with pytest.raises(InputError, match=r"table holds \(400\) twice"):
        published.compare(study(), REFERENCE, ["n"])
    doubled = pd.concat([REFERENCE, REFERENCE])
    with pytest.raises(InputError, match=r"reference holds \(400, MALT\) twice"):
        published.compare(study(), doubled, ["n", "attack"])


def test_missing_columns_are_named():
    with pytest.raises(InputError, match=r"reference lacks the columns \['dataset'\]"):
        published.compare(study().assign(dataset="x"), REFERENCE, ["n", "attack", "dataset"])
    with pytest.raises(InputError, match=r"table lacks the columns \['low'\]"):
        published.compare(study().drop(columns="low"), REFERENCE, ["n", "attack"])


def test_text_is_no_published_number():
    with pytest.raises(InputError, match="holds text"):
        published.compare(study(), REFERENCE.assign(value="lost"), ["n", "attack"])
    with pytest.raises(InputError, match="differ in type"):
        published.compare(study(), REFERENCE.assign(n="400", attack=range(4)), ["n", "attack"])
