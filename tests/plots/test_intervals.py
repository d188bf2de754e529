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
