import base64
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from membership.book.exhibits.panels import curves, one_by_one
from membership.errors import InputError


def rates(**more):
    rows = {"panel": "MNIST", "series": ["LiRA", "LiRA", "LOSS", "LOSS"], "fpr": [0.1, 0.01] * 2}
    return pd.DataFrame({**rows, "tpr": [0.5, 0.123456, 0.1, 0.01], **more})


def test_the_curves_of_each_panel_in_order_of_their_rates():
    (panel,) = curves(rates())["panels"]
    assert panel == {
        "name": "MNIST",
        "fpr": [0.01, 0.1],
        "curves": [{"name": "LiRA", "value": [0.123, 0.5]}, {"name": "LOSS", "value": [0.01, 0.1]}],
    }
    apart = curves(rates(fpr=[0.1, 0.01, 0.1, 0.02]))["panels"][0]
    assert [one["fpr"] for one in apart["curves"]] == [[0.01, 0.1], [0.02, 0.1]]


def test_intervals_are_given_where_every_point_has_one():
    whole = curves(rates(low=0.0, high=1.0))["panels"][0]["curves"][0]
    assert (whole["low"], whole["high"]) == ([0, 0], [1, 1])
    assert "low" not in curves(rates(low=[0, 0, None, 0], high=1.0))["panels"][0]["curves"][1]
    exact = rates().assign(low=lambda t: t["tpr"], high=lambda t: t["tpr"])
    assert "low" not in curves(exact)["panels"][0]["curves"][0]


def test_a_trade_off_function_has_another_rate_and_other_tables_have_no_curves():
    assert curves(rates())["rate"] == "true positive rate"
    assert curves(rates().rename(columns={"tpr": "fnr"}))["rate"] == "false negative rate"
    assert curves(rates().drop(columns="tpr")) is None
    assert curves(rates().drop(columns="panel")) is None


def table(**more):
    return pd.DataFrame(
        {
            "group": ["a", "a", "a", "b"],
            "label": ["one", "two", "three", "four"],
            "shape": ["1x1x2", "", "1x1x2", "3x1x1"],
            "pixels": ["0 255", "", "7 8", "1 2 3"],
            "KL": [0.5, 0.9, 0.5, 0.1],
            **more,
        }
    )


def test_ranks_are_counted_in_each_group_among_the_pictured_and_the_others():
    found = one_by_one(table(AUC=[1.0, 0.5, 0.75, 0.6]))
    assert found["measures"] == ["KL", "AUC"]
    assert [one["label"] for one in found["records"]] == ["one", "three", "four"]
    assert [one["ranks"] for one in found["records"]] == [[2, 1], [2, 2], [1, 1]]
    assert [one["of"] for one in found["records"]] == [3, 3, 1]
    assert found["records"][0]["values"] == ["0.5", "1"]


def test_a_picture_is_the_one_of_the_table():
    for one, levels in zip(
        one_by_one(table())["records"], ([[0, 255]], [[7, 8]], [[[1, 2, 3]]]), strict=True
    ):
        kind, _, content = one["picture"].partition(",")
        assert kind == "data:image/webp;base64"
        shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))
        grey = np.ndim(levels) == 2
        np.testing.assert_array_equal(shown[..., 0] if grey else shown, levels)


def test_records_without_pictures_are_not_shown_and_a_table_that_says_too_little_is_refused():
    assert one_by_one(table(pixels=None)) is None
    with pytest.raises(InputError, match="lacks the columns \\['label'\\]"):
        one_by_one(table().drop(columns="label"))
    with pytest.raises(InputError, match="measures nothing"):
        one_by_one(table().drop(columns="KL"))
