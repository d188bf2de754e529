"""Rows of marks: where they stand, what leads to them, and the numbers beside them."""

import pandas as pd
import pytest

from membership import plots
from membership.errors import InputError

TABLE = pd.DataFrame(
    {
        "cell": ["a", "a", "b"],
        "attack": ["x", "y", "x"],
        "value": [0.5, 0.6, 0.7],
        "low": [0.4, 0.5, 0.6],
        "high": [0.6, 0.7, 0.8],
    }
)
# Two data sets, of which the second lacks a row.
PANELS = TABLE.assign(data=["one", "two", "one"])


@pytest.mark.parametrize("narrow", [False, True])
def test_a_row_a_setting_and_a_mark_an_attack(narrow):
    if narrow:
        with plots.narrow():
            figure = plots.dots_by_row(TABLE, "cell", baseline=0.5)
    else:
        figure = plots.dots_by_row(TABLE, "cell", label="AUC")
    (axis,) = figure.axes
    assert [one.get_text() for one in axis.get_yticklabels()] == ["a", "b"]
    (legend,) = figure.legends
    assert [one.get_text() for one in legend.get_texts()] == ["x", "y"]
    # The first row is on top, and its marks in the order of the legend.
    places = [line.get_ydata()[0] for line, *_ in axis.containers]
    assert places[0] < places[1]
    assert axis.get_ylim()[0] > axis.get_ylim()[1]
    assert axis.get_xlabel() == ("value" if narrow else "AUC")


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="lacks the columns"):
        plots.dots_by_row(TABLE, "row")
    with pytest.raises(InputError, match="lacks the columns"):
        plots.dots_by_row(TABLE, "cell", panel="data")


def test_panels_side_by_side_share_their_rows_and_a_stack_has_its_own():
    wide = plots.dots_by_row(PANELS, "cell", panel="data", baseline={"one": 0.5})
    with plots.narrow():
        stacked = plots.dots_by_row(PANELS, "cell", panel="data", baseline={"one": 0.5})
    labels = [[one.get_text() for one in axis.get_yticklabels()] for axis in wide.axes]
    assert labels == [["a", "b"], ["", ""]]
    labels = [[one.get_text() for one in axis.get_yticklabels()] for axis in stacked.axes]
    assert labels == [["a", "b"], ["a"]]
    for figure in (wide, stacked):
        first, second = figure.axes
        assert [first.get_title(), second.get_title()] == ["one", "two"]
        # Marks with a row to themselves stand in its middle, and the line where it was asked for.
        (dots,) = (mark[0] for mark in first.containers)
        assert (*dots.get_xdata(), *dots.get_ydata()) == (0.5, 0.7, 0, 1)
        assert len(first.lines) == len(second.lines) + 1


def test_a_bar_leads_from_the_line_or_from_where_the_table_says():
    for start, expected in ((None, [0.55, 0.55]), ([0.9, 0.9, 0.1], [0.9, 0.1])):
        table = TABLE if start is None else TABLE.assign(start=start)
        table = table[table["attack"] == "x"]
        figure = plots.dots_by_row(table, "cell", baseline=0.55, stems=True)
        bars = figure.axes[0].collections[0].get_segments()
        assert [bar[0][0] for bar in bars] == expected
        assert [bar[1][0] for bar in bars] == [0.5, 0.7]


def test_marks_on_one_line_are_joined():
    axis = plots.dots_by_row(TABLE, "cell", joined=True).axes[0]
    assert all(mark[0].get_ydata()[0] == 0 for mark in axis.containers)
    joins = [line for lines in axis.collections for line in lines.get_segments()]
    assert [[0.5, 0], [0.6, 0]] in [line.tolist() for line in joins]


def test_numbers_are_printed_beside_their_interval_and_within_the_axis():
    axis = plots.dots_by_row(TABLE, "cell", told=".1f").axes[0]
    assert [(text.get_text(), text.xy[0]) for text in axis.texts] == [
        ("0.5", 0.6),
        ("0.6", 0.7),
        ("0.7", 0.8),
    ]
    assert axis.get_xlim()[1] > 0.83
    axis = plots.dots_by_row(TABLE.assign(told=[1, 2, 3]), "cell", told="+d").axes[0]
    assert [text.get_text() for text in axis.texts] == ["+1", "+2", "+3"]


def test_an_interval_that_has_no_end_on_a_logarithmic_axis_leaves_the_panel_its_room():
    rows = pd.DataFrame({"row": ["a", "b"], "by": "x", "value": [1.0, 10.0], "high": [2.0, 12.0]})
    widths = []
    for low in (0.5, -3.0):
        # The second has no interval.
        part = rows.assign(low=[low, None], high=[2.0, None])
        figure = plots.dots_by_row(part, row="row", by="by", log_x=True)
        figure.draw_without_rendering()
        widths.append(figure.axes[0].get_position().width)
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
