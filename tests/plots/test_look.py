import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from membership import plots
from membership.plots import look


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([400, 1000, 2000, 4000, 6000], ["400", "1000", "2000", "4000", "6000"]),
        ([1, 1.1, 1000], ["1", "1000"]),
        ([5], ["5"]),
        ([1e-4, 1e-2], ["1e-4", "0.01"]),
        (np.geomspace(1, 1000, 8), ["1", "10", "100", "1000"]),
    ],
)
def test_values_are_labelled_where_there_is_room_and_powers_where_they_are_not_round(
    values, labels
):
    table = pd.DataFrame({"n": values, "attack": "MALT", "value": 50.0})
    axis = plots.lines_with_intervals(table, "n", log_x=True).axes[0]
    assert axis.get_xscale() == "log"
    low, high = axis.get_xlim()
    shown = zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
    assert [label.get_text() for x, label in shown if low <= x <= high] == labels


@given(st.sets(st.integers(1, 99_999), min_size=2, max_size=30), st.floats(0.5, 4))
def test_labels_never_touch(values, inches):
    values = np.array(sorted(values), dtype=float)
    chosen = np.array(list(look._apart(values, inches, 0.125)))
    assert chosen[0] == values[0]
    widths = np.array([len(f"{x:g}") for x in chosen]) * 0.125 * 0.64
    gaps = np.diff(np.log10(chosen)) * inches - (widths[1:] + widths[:-1]) / 2
    assert (gaps > 0).all()


@pytest.mark.parametrize(
    ("limits", "unit", "labels"),
    [
        ((1e-3, 1), 0.01, ["0.1", "1", "10", "100"]),
        ((0.5, 6), 1, ["0.5", "1", "2", "5"]),
        ((1e-8, 1e-2), 1, ["1e-8", "1e-6", "1e-4", "0.01"]),
    ],
)
def test_an_axis_has_plain_numbers(limits, unit, labels):
    axis = Figure().subplots()
    axis.set(xscale="log", xlim=limits)
    look.plain(axis.xaxis, unit=unit)
    shown = zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
    low, high = limits
    found = [label.get_text() for x, label in shown if low * 0.999 <= x <= high * 1.001]
    assert found == labels


def test_what_has_no_named_series_has_no_legend():
    figure = Figure(layout="constrained")
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1])
    look.legend_above(figure, [axis])
    assert figure.legends == []
    axis.plot([0, 1], [1, 0], label="IHA")
    with look.style():
        look.legend_above(figure, [axis])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["IHA"]
