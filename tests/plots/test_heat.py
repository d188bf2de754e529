import pandas as pd
import pytest

from membership import plots
from membership.errors import InputError

TABLE = pd.DataFrame(
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
            figure = plots.heat_maps(TABLE, "one", "other", panel="at")
    else:
        figure = plots.heat_maps(TABLE, "one", "other", panel="at")
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["1%", "5%"]
    found = {text.get_position(): text.get_text() for text in first.texts}
    assert found == {(0.5, 0.5): "0.50", (1.5, 0.5): "0.25", (0.5, 1.5): "0.75"}
    assert [text.get_text() for text in second.texts] == ["1.00"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["a", "b"]


def test_a_table_without_the_column_is_refused():
    with pytest.raises(InputError, match="lacks the columns"):
        plots.heat_maps(TABLE.drop(columns="at"), "one", "other", panel="at")
