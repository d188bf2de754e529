"""A reader's own CSV or Parquet file."""

import numpy as np
import polars
import pytest

from membership.data import load
from membership.errors import InputError

N = 12
TABLE = polars.DataFrame(
    {
        "height": np.linspace(1, 2, N),
        "kind": ["sour", "sweet", "sour"] * (N // 3),
        "ripe": [True, False] * (N // 2),
        "city": ["Bern", "Chur", "Genf"] * (N // 3),
    }
)


def written(folder, table=TABLE, name="mine.csv"):
    path = folder / name
    (table.write_csv if name.endswith("csv") else table.write_parquet)(path)
    return path


@pytest.mark.parametrize("name", ["mine.csv", "mine.parquet", "MINE.CSV"])
def test_numbers_stay_words_become_columns_and_classes_are_numbered(tmp_path, name):
    (tmp_path / name).touch()
    path = tmp_path / name
    (TABLE.write_csv if name.lower().endswith("csv") else TABLE.write_parquet)(path)
    found = load(path, label="kind")
    assert found.columns == ("height", "ripe", "city=Bern", "city=Chur", "city=Genf")
    np.testing.assert_allclose(found.x[:, 0], np.linspace(1, 2, N), rtol=1e-6)
    np.testing.assert_array_equal(found.x[:3, 2:], np.eye(3))
    np.testing.assert_array_equal(found.y, [0, 1, 0] * (N // 3))
    assert (found.n_classes, found.name, found.verified) == (2, path.stem, False)
    assert load(f"{path}:kind").digest == found.digest


def test_both_formats_hold_the_same_records(tmp_path):
    both = [load(written(tmp_path, name=name), label="kind") for name in ("a.csv", "a.parquet")]
    assert both[0].digest == both[1].digest


def test_it_can_be_standardised(tmp_path):
    found = load(f"{written(tmp_path)}:kind-standardised")
    np.testing.assert_allclose(found.x.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found.x.std(axis=0), 1, rtol=1e-5)
    assert found.name == "mine-standardised"
    assert "mean 0 and standard deviation 1" in found.source


@pytest.mark.parametrize(
    ("change", "label", "message"),
    [
        ({}, "", "which column holds the classes.*`-p label COLUMN`, one of 'height, kind"),
        ({}, "sort", "no column 'sort'"),
        ({}, "height", "column 'height' holds 12 different values in 12 records"),
        ({"height": [None, *range(N - 1)]}, "kind", "1 of 12 cells of column 'height' are empty"),
        ({"height": [float("nan")] * N}, "kind", "12 records of x hold NaN"),
        ({"kind": ["sour"] * N}, "kind", "every label is 0"),
    ],
)
def test_what_is_no_table_of_classes_is_refused(tmp_path, change, label, message):
    table = TABLE.with_columns(**{name: polars.Series(cells) for name, cells in change.items()})
    with pytest.raises(InputError, match=message) as caught:
        load(written(tmp_path, table), label=label)
    assert "\n" not in str(caught.value)


def test_columns_that_are_neither_numbers_nor_few_words_are_named(tmp_path):
    many = polars.DataFrame({"name": [f"n{i}" for i in range(300)], "y": [0, 1] * 150})
    with pytest.raises(InputError, match="'name' holds 300 different words, such as 'n0'"):
        load(written(tmp_path, many), label="y")
    when = polars.DataFrame(
        {
            "day": polars.date_range(polars.date(2020, 1, 1), polars.date(2020, 1, 9), eager=True),
            "y": [0, 1, 0] * 3,
        }
    )
    with pytest.raises(InputError, match="column 'day' holds Date; make numbers of it"):
        load(written(tmp_path, when, "a.parquet"), label="y")
    with pytest.raises(InputError, match="no column beside the label"):
        load(written(tmp_path, TABLE.select("kind")), label="kind")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("content", [b"", b"PAR1 no table PAR1", b"a,b\n1,2,3\n\xff\xfe,1\n"])
def test_damaged_files_are_refused_in_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name) as caught:
        load(tmp_path / name, label="b")
    assert "\n" not in str(caught.value)


def test_a_parquet_file_cut_short_is_refused(tmp_path):
    path = written(tmp_path, name="a.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cannot read .*a\.parquet.*give a whole Parquet file"):
        load(path, label="kind")
