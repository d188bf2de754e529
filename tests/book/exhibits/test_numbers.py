import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership.book.exhibits import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (54.123456, "54.12"),
        (400, "400"),
        (True, "True"),
        ("0-1", "0-1"),
        (math.nan, numbers.MISSING),
        (None, numbers.MISSING),
        (1.23456e-7, "1.235e-07"),
        (60000.0, "60000"),
        (999_999.7, "1e+06"),
    ],
)
def test_cells(value, text):
    assert numbers.number(value) == text


@pytest.mark.parametrize(
    ("triple", "text"),
    [
        ((54.1234, 53.52, 54.71), "54.1 [53.5, 54.7]"),
        ((54.1234, 54.101, 54.14), "54.123 [54.101, 54.140]"),
        ((1234.5, 1100.0, 1350.0), "1234 [1100, 1350]"),
        ((99.9998, 99.99940561, 100.0001944), "99.9998 [99.9994, 100.0002]"),
        ((99.99998, 99.999979, 99.999981), "100.0000 [100.0000, 100.0000]"),
        ((0.00123456, 0.00123399, 0.00123501), "0.001235 [0.001234, 0.001235]"),
        ((0.0, -0.001, 0.6), "0.00 [0.00, 0.60]"),
        ((2.5e6, 2.499e6, 2.501e6), "2.5e+06 [2.499e+06, 2.501e+06]"),
        ((2.5e6, 2.49876e6, 2.50124e6), "2.5e+06 [2.4988e+06, 2.5012e+06]"),
        ((1.0, -math.inf, 2.0), "1 [-inf, 2]"),
        ((1.0, -1e308, 1e308), "1 [-1e+308, 1e+308]"),
        ((0.5, 0.5, 0.5), "0.5"),
        ((0.5, math.nan, 0.6), "0.5"),
        ((math.nan, 0.1, 0.2), numbers.MISSING),
        ((2.5e-6, 1e-6, 4e-6), "2.5e-06 [1e-06, 4e-06]"),
        ((2.5e6, 1e6, 4e6), "2.5e+06 [1e+06, 4e+06]"),
    ],
)
def test_intervals_set_the_digits(triple, text):
    assert " ".join(numbers.with_interval(*triple)).rstrip() == text


@given(st.floats(-1e5, 1e5), st.floats(1e-4, 1e3), st.floats(1e-4, 1e3))
def test_what_is_shown_is_within_a_tenth_of_the_interval(value, below, above):
    low, high = value - below, value + above
    text = " ".join(numbers.with_interval(value, low, high))
    if "[" in text and "e" not in text:
        shown = [float(x) for x in re.findall(r"-?\d+\.?\d*", text)]
        assert shown == pytest.approx([value, low, high], abs=max(0.06 * (high - low), 6e-5))
