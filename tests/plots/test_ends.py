import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import plots
from membership.plots import ends, look

SEVEN = ["LOSS", "LiRA", "BASE", "RMIA", "IHA", "MATT", "QMIA"]


def lines(names, last=5.0):
    rows = [(x, name, place + x) for place, name in enumerate(names) for x in (1.0, 3.0, 5.0)]
    table = pd.DataFrame(rows, columns=["x", "attack", "value"])
    return table[(table["attack"] != names[0]) | (table["x"] <= last)]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.02, 0.2)), min_size=1, max_size=9))
def test_names_never_touch_and_keep_their_order(given_texts):
    heights, tall = (np.array(part) for part in zip(*given_texts, strict=True))
    found = ends.apart(heights, tall)
    order = np.argsort(heights, kind="stable")
    gaps = np.diff(found[order]) - (tall[order][1:] + tall[order][:-1]) / 2
    assert (gaps > -1e-9).all()
    assert found.mean() == pytest.approx(heights.mean(), abs=tall.sum())


def test_names_that_have_room_stay_where_their_lines_end():
    assert ends.apart(np.array([0.9, 0.1]), np.array([0.1, 0.1])).tolist() == [0.9, 0.1]


def test_lines_are_named_at_their_ends_in_their_colours_and_no_legend_repeats_it():
    figure = plots.lines_with_intervals(lines(SEVEN), "x")
    (axis,) = figure.axes
    assert [text.get_text() for text in axis.texts] == SEVEN
    assert figure.legends == []
    drawn = {line.get_label(): line for line in axis.get_lines()}
    assert len({text.get_color() for text in axis.texts}) == 5  # Four and grey.
    assert drawn.keys().isdisjoint(SEVEN) or drawn["LOSS"].get_color() == "#000000"


@pytest.mark.parametrize("is_narrow", [False, True])
def test_a_legend_names_lines_that_end_elsewhere_and_all_lines_on_a_phone(is_narrow):
    if is_narrow:
        with plots.narrow():
            figure = plots.lines_with_intervals(lines(SEVEN), "x")
    else:
        figure = plots.lines_with_intervals(lines(SEVEN, last=1.0), "x")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == SEVEN
    assert not figure.axes[0].texts


def test_four_of_many_series_have_a_colour_and_those_that_are_named():
    def coloured(**named):
        looks = look.series(SEVEN, **named)
        return [name for name in SEVEN if looks[name]["color"] != look.REST]

    assert coloured() == SEVEN[:4]
    assert coloured(coloured=("QMIA", "IHA")) == ["IHA", "QMIA"]
    assert look.series(["LOSS", "QMIA"])["QMIA"] == look.series([*SEVEN][::-1])["QMIA"]


def test_numbers_of_one_quantity_are_shades_of_one_colour_from_pale_to_dark():
    sizes = [f"n = {n}" for n in (400, 1000, 2000, 4000, 6000)]
    looks = look.series([*sizes, "random score"])
    assert len({looks[name]["color"] for name in sizes}) == 5
    light = [int(looks[name]["color"][3:5], 16) for name in sizes]
    assert light == sorted(light, reverse=True)
    assert looks["random score"]["color"] in look.COLOURS
