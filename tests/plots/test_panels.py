import numpy as np
import pandas as pd
import pytest

from membership.errors import InputError
from membership.plots import line_panels, scatter_panels


def example():
    x = np.linspace(1, 2, 20)
    return pd.concat(
        pd.DataFrame({"panel": panel, "series": series, "x": x, "y": x**2, "value": x**2})
        for panel, series in (("one", "a"), ("one", "b"), ("two", "a"))
    )


def test_a_panel_has_its_own_axes_and_series():
    labels = {"one": ("query", "KL (nats)")}
    figure = line_panels(example(), labels=labels, marks={"two": 1.5}, title="Figure 7")
    first, second = figure.axes
    assert (first.get_xlabel(), first.get_ylabel()) == ("query", "KL (nats)")
    assert second.get_xlabel() == "x"
    assert [line.get_label() for line in first.lines] == ["a", "b"]
    assert [line.get_label() for line in second.lines] == ["a", "differing record"]
    assert figure.legends[0].get_title().get_text() == "Figure 7"


def test_a_band_is_drawn_where_there_are_intervals():
    table = example().assign(low=lambda t: t["value"] - 1, high=lambda t: t["value"] + 1)
    assert len(line_panels(table).axes[0].collections) == 2
    assert (
        not line_panels(table.assign(low=table["value"])[["panel", "series", "x", "value"]])
        .axes[0]
        .collections
    )


def test_points_with_the_line_of_equality():
    figure = scatter_panels(example(), identity=True, log_x=True)
    first, _ = figure.axes
    assert first.get_xscale() == "log"
    assert "equal" in {line.get_label() for line in first.lines}


@pytest.mark.parametrize("draw", [scatter_panels, line_panels])
def test_bad_input_is_named(draw):
    with pytest.raises(InputError, match="panel"):
        draw(example().drop(columns="panel"))
    with pytest.raises(InputError, match="empty"):
        draw(example().iloc[:0])
