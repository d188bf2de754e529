import numpy as np
import pandas as pd
import pytest

from membership.errors import InputError
from membership.plots import image_grid, narrow, optimisation
from membership.plots.images import picture


def example(columns=3):
    rows = [
        {"row": row, "column": i, "text": "r = 1\n99%", "shape": "1x2x2", "pixels": "0 85 170 255"}
        for row in ("record", "found")
        for i in range(columns)
    ]
    return pd.DataFrame(rows)


def shown(figure):
    return [axis for axis in figure.axes if axis.images]


@pytest.mark.parametrize(("columns", "pictures"), [(1, 2), (3, 6), (14, 28)])
def test_one_picture_a_cell(columns, pictures):
    assert len(shown(image_grid(example(columns)))) == pictures


def test_pixels_are_shown_as_they_are():
    axis = shown(image_grid(example(1)))[0]
    np.testing.assert_array_equal(axis.images[0].get_array(), [[0, 85], [170, 255]])
    assert axis.images[0].get_clim() == (0, 255)
    assert picture("3x1x2", "1 2 3 4 5 6").tolist() == [[[1, 3, 5], [2, 4, 6]]]


def test_rows_without_pixels_are_left_out():
    table = example(2)
    table.loc[0, "pixels"] = ""
    assert len(shown(image_grid(table))) == 3
    with pytest.raises(InputError, match="no picture"):
        image_grid(table.assign(pixels=""))


@pytest.mark.parametrize(
    ("shape", "pixels"), [("1x2x2", "1 2 3"), ("2x1x1", "1 2"), ("x", ""), ("1x1x1", "300")]
)
def test_unreadable_pixels_are_named(shape, pixels):
    with pytest.raises(InputError, match="a picture of shape"):
        picture(shape, pixels)


def test_a_search_has_its_pictures_above_its_curves():
    pictures = example(3).query("row == 'record'").assign(series="", step=0, kl=1.0)
    curve = pd.DataFrame({"series": "start 1", "step": [0, 10], "kl": [1e-6, 1.0]})
    figure = optimisation(pd.concat([pictures, curve]).fillna({"pixels": "", "text": ""}))
    assert len(shown(figure)) == 3
    (axis,) = (axis for axis in figure.axes if axis.lines)
    assert axis.get_yscale() == "log"
    with pytest.raises(InputError, match="kl"):
        optimisation(pictures.drop(columns="kl"))


@pytest.mark.parametrize("columns", [2, 8, 9])
def test_on_a_phone_a_search_s_pictures_stay_as_large_as_a_thumb(columns):
    pictures = example(columns).assign(series="", step=0, kl=1.0)
    curve = pd.DataFrame({"series": "start 1", "step": [0, 10], "kl": [1e-6, 1.0]})
    table = pd.concat([pictures, curve]).fillna({"pixels": "", "text": ""})
    with narrow():
        figure = optimisation(table, labels=("a label of several words that is too long", "KL"))
        figure.canvas.draw()
        drawn = shown(figure)
        assert len(drawn) == 2 * columns
        sizes = [axis.get_window_extent().width / figure.dpi for axis in drawn]
        (curves,) = (axis for axis in figure.axes if axis.lines)
        label = curves.xaxis.label.get_window_extent()
    assert min(sizes) > 0.5
    assert 0 <= label.x0 < label.x1 <= figure.bbox.width
