import base64
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from membership.errors import InputError
from membership.exhibits.records import one_by_one


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
