import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership.exhibits.scale import Scale, fitted

finite = st.floats(1e-3, 1e3)


def test_positions_are_percent_of_the_axis():
    assert Scale(0.5, 0.7, False).at(0.6) == pytest.approx(50)
    assert Scale(0.1, 10.0, True).at(1.0) == pytest.approx(50)
    assert Scale(0.5, 0.7, False).at(0.9) == 100


def test_what_leaves_the_axis_says_on_which_side():
    axis = Scale(0.1, 10.0, True)
    assert [axis.side(x) for x in (0.0, 0.05, 0.1, 3, 10, 20)] == [
        *("left", "left", "", "", "", "right"),
    ]
    assert not axis.holds(math.nan)


def test_ticks_are_round_and_few():
    assert [label for _, label in Scale(0.47, 0.72, False).ticks()] == ["0.5", "0.6", "0.7"]
    assert [label for _, label in Scale(0.09, 30, True).ticks()] == ["0.1", "1", "10"]
    assert [label for _, label in Scale(0.9, 6, True).ticks()] == ["1", "2", "5"]


@given(st.lists(finite, min_size=1, max_size=8), st.booleans())
def test_every_point_lies_on_the_axis_and_the_ticks_do_too(points, logarithmic):
    axis = fitted(points, [], logarithmic=logarithmic)
    assert all(axis.holds(point) for point in points)
    ticks = axis.ticks()
    assert all(0 <= x <= 100 for x, _ in ticks)
    assert len(ticks) <= 6


def test_one_wide_interval_does_not_press_the_points_together():
    points = [0.5, 0.52, 0.6]
    near = fitted(points, [0.49, 0.62], logarithmic=False)
    assert near.holds(0.49)
    assert near.holds(0.62)
    far = fitted(points, [0.49, 0.62, 0.0, 1.0], logarithmic=False)
    assert (far.low, far.high) == (near.low, near.high)


def test_a_logarithmic_axis_bears_zeros_and_nothing_at_all():
    assert fitted([0.0, 1.0], [], logarithmic=True).holds(1.0)
    assert fitted([0.0], [math.nan], logarithmic=True).low > 0
    assert fitted([], [], logarithmic=False).high > 0
