"""Panels of clouds, curves and heat maps stand where the table says."""

import numpy as np
import pandas as pd
import pytest

from membership import plots
from membership.errors import InputError
from membership.plots import line_panels, scatter_panels


def two_panels():
    x = np.linspace(1, 2, 20)
    return pd.concat(
        pd.DataFrame({"panel": panel, "series": series, "x": x, "y": x**2, "value": x**2})
        for panel, series in (("one", "a"), ("one", "b"), ("two", "a"))
    )


@pytest.mark.parametrize("draw", [scatter_panels, line_panels])
def test_bad_panels_are_named(draw):
    with pytest.raises(InputError, match="panel"):
        draw(two_panels().drop(columns="panel"))
    with pytest.raises(InputError, match="empty"):
        draw(two_panels().iloc[:0])


CELLS = pd.DataFrame(
    {
        "one": ["a", "a", "b", "a"],
        "other": ["a", "b", "a", "b"],
        "at": ["1%", "1%", "1%", "5%"],
        "value": [0.5, 0.25, 0.75, 1.0],
    }
)


@pytest.mark.parametrize("is_narrow", [False, True])
def test_each_number_stands_in_its_cell_and_empty_cells_stay_empty(is_narrow):
    if is_narrow:
        with plots.narrow():
            figure = plots.heat_maps(CELLS, "one", "other", panel="at")
    else:
        figure = plots.heat_maps(CELLS, "one", "other", panel="at")
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["1%", "5%"]
    found = {text.get_position(): text.get_text() for text in first.texts}
    assert found == {(0.5, 0.5): "0.50", (1.5, 0.5): "0.25", (0.5, 1.5): "0.75"}
    assert [text.get_text() for text in second.texts] == ["1.00"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["a", "b"]


def test_cells_have_their_words_and_rows_and_columns_that_share_no_name_their_own():
    cells = CELLS.assign(other=[f"in {name}" for name in CELLS["other"]], text="a\n1")
    figure = plots.heat_maps(cells, "one", "other", panel="at", two_sided=True)
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_xticklabels()] == ["in a", "in b"]
    assert {text.get_text() for text in first.texts} == {"a\n1"}
    colours = first.collections[0].get_facecolors()
    # Halfway is white, and what is below and above it has the one colour or the other.
    white, orange, blue = colours[[0, 1, 2], :3]
    assert white.min() > 0.98
    assert orange[0] > orange[2]
    assert blue[0] < blue[2]


def test_a_table_without_the_column_is_refused():
    with pytest.raises(InputError, match="lacks the columns"):
        plots.heat_maps(CELLS.drop(columns="at"), "one", "other", panel="at")


def test_clouds_have_one_scale_both_ways_and_each_curve_once_in_the_legend():
    circle = np.linspace(0, 2 * np.pi, 9)
    parts = [("models", 0, 1.0), ("measure", 0, 2.0), ("loss", 0, 1.0), ("loss", 1, 3.0)]
    table = pd.concat(
        pd.DataFrame({"x": size * np.cos(circle), "y": np.sin(circle)}).assign(
            panel=panel, series=name, line=line
        )
        for panel in ("one", "two")
        for name, line, size in parts
    )
    figure = plots.clouds(table, axes_labels=("along", "across"))
    for axis in figure.axes:
        assert axis.get_aspect() == 1.0
        # Points, the strong curve, two thin ones, the minimum.
        assert len(axis.lines) == 5
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["models", "measure", "loss", "minimum"]
    with pytest.raises(InputError, match="line"):
        plots.clouds(table.drop(columns="line"), axes_labels=("", ""))
