"""A reader's own tables: those that are read, all to one data set, and the others."""

import datetime
import gzip

import numpy as np
import pandas as pd
import pytest

from membership.data import load
from membership.errors import InputError

N = 12
TABLE = pd.DataFrame(
    {
        "height": np.linspace(1, 2, N),
        "kind": ["sour", "sweet", "sour"] * (N // 3),
        "ripe": [True, False] * (N // 2),
        "city": ["Bern", "Chur", "Genf"] * (N // 3),
    }
)
PLAIN = TABLE.to_csv(index=False)


def comma(text: str) -> str:
    return text.replace(",", ";").replace(".", ",")


READ = {
    "mine.csv": PLAIN,
    "MINE.CSV": PLAIN,
    "mine.tsv": PLAIN.replace(",", "\t"),
    "mine.txt": PLAIN.replace(",", ";"),
    "mine.csv.gz": gzip.compress(PLAIN.encode()),
    "blanks.csv": PLAIN.replace(",", ", "),
    "blank_padded.csv": PLAIN.replace("sweet", '" sweet "').replace("Bern", "Bern "),
    "capitals.csv": PLAIN.replace("true", "TRUE").replace("false", "FALSE"),
    "excel.csv": b"\xef\xbb\xbf" + comma(PLAIN).replace("\n", ";;\r\n").encode(),
    "unicode.txt": PLAIN.replace(",", "\t").encode("utf-16"),
    "blank_rows.csv": PLAIN.replace("\n", "\n\n") + ",,,\n",
}


@pytest.mark.parametrize("name", READ)
def test_numbers_stay_words_become_columns_and_classes_are_numbered(tmp_path, name):
    path = tmp_path / name
    given = READ[name]
    path.write_bytes(given if isinstance(given, bytes) else given.encode())
    found = load(path, label="kind")
    assert found.columns == ("height", "ripe", "city=Bern", "city=Chur", "city=Genf")
    np.testing.assert_allclose(found.x[:, 0], np.linspace(1, 2, N), rtol=1e-6)
    np.testing.assert_array_equal(found.x[:, 1], [1, 0] * (N // 2))
    np.testing.assert_array_equal(found.x[:3, 2:], np.eye(3))
    np.testing.assert_array_equal(found.y, [0, 1, 0] * (N // 3))
    assert (found.n_classes, found.name) == (2, name.split(".")[0])
    assert load(f"{path}:kind").digest == found.digest


def test_a_parquet_file_holds_the_same_records(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text(PLAIN)
    TABLE.astype({"city": "category", "height": "float32"}).to_parquet(tmp_path / "a.parquet")
    both = [load(tmp_path / name, label="kind") for name in ("a.csv", "a.parquet")]
    assert both[0].digest == both[1].digest


def test_it_can_be_standardised(tmp_path):
    (tmp_path / "mine.csv").write_text(PLAIN)
    found = load(f"standardised:{tmp_path}/mine.csv:kind")
    np.testing.assert_allclose(found.x.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found.x.std(axis=0), 1, rtol=1e-5)
    assert found.name == "mine-standardised"
    assert "mean 0 and standard deviation 1" in found.source


def column(*cells, n=60, head="a,y", label="01") -> str:
    """A table of one column that begins with these cells and goes on with 20, 21, ..."""
    cells = [*cells, *(str(20 + i) for i in range(len(cells), n))]
    return head + "\n" + "".join(f'"{c}",{label[i % 2]}\n' for i, c in enumerate(cells))


def labels(*cells, n=60) -> str:
    cells = [*cells, *(("cat", "dog")[i % 2] for i in range(len(cells), n))]
    return "a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))


EVERY = range(60)
REFUSED = {
    "question": (column("1", "?"), "line 3: a is '?'; give a number, as most of its column are"),
    "gap": (column("1", "NA"), "1 of 60 cells of column 'a' are empty or missing, the first at li"),
    "empty": (column("", ""), "2 of 60 cells of column 'a' are empty or missing, the first at lin"),
    "nan": (column("1", "2", "NaN"), "the first at line 4; fill them in or leave their records ou"),
    "excel error": (column("#N/A"), "1 of 60 cells of column 'a' are empty or missing"),
    "infinite": (column("inf"), "line 2: a is 'inf'"),
    "beyond": (column("1e60"), "beyond float32"),
    "thousands": (column(*(f"{i + 1},000" for i in EVERY)), "amounts or dates, such as '1,000'"),
    "one thousand": (column("1,000"), "line 2: a is '1,000'; give a number, as most"),
    "swiss": (column(*(f"{i + 1}'000" for i in EVERY)), 'amounts or dates, such as "1\'000"; make'),
    "per cent": (column(*(f"{i}%" for i in EVERY)), "amounts or dates, such as '0%'; make num"),
    "dates": (column(*(f"2024-01-{i % 28 + 1:02}" for i in EVERY)), "or dates, such as '2024"),
    "stamps": (column(*(f"1/{i % 9 + 1}/2024 10:00" for i in EVERY)), "or dates, such as '1/1/"),
    "months": (column(*(f"{i % 28 + 1}-Jan-24" for i in EVERY)), "or dates, such as '1-Jan"),
    "units": (column(*(f"{i} kg" for i in EVERY)), "amounts or dates, such as '0 kg'"),
    "times": (column(*(f"10:{i:02}" for i in EVERY)), "amounts or dates, such as '10:00'"),
    "money": (column(*(f"${i}.50" for i in EVERY)), "amounts or dates, such as '$0.50'"),
    "decimal comma": (column(*(f"{i},5" for i in EVERY)), "amounts or dates, such as '0,5'"),
    "capitals": (column(*["Red", "red"] * 30), "'Red' and 'red', which differ in capitals alone"),
    "names": (column(*(f"n{i}" for i in range(120)), n=120), "holds 120 different words in 120 r"),
    "identifiers": (column(*(str(10**25 + i) for i in EVERY)), "holds whole numbers above 9,007,1"),
    "index": (column(head=",y"), "a column has no name but '', as pandas"),
    "pandas index": (column(head="Unnamed: 0,y"), "a column has no name but 'Unnamed: 0'"),
    "twice": ("a,a,y\n1,2,0\n", "2 columns are named 'a'; name each column once"),
    "feature twice": ('a,a=x,y\nx,1,0\nz,2,1\n', "two features would be called 'a=x'"),
    "wide": ("a,y\n1,0,1\n", "line 2: 3 cells; its first line names 2: 'a, y'"),
    "narrow": ("a,y\n1,0\n1\n", "line 3: 1 cells; its first line names 2: 'a, y'"),
    "label only": ("y\n0\n1\n", "no column beside the label"),
    "label absent": (column(head="a,b"), r"it has no column 'y'. Give `-p label COLUMN`, one of '"),
    "label nan": (labels("nan"), "1 of 60 cells of column 'y' are empty or missing, the first at "),
    "label typed": (labels("Cat"), "column 'y' holds 'Cat' and 'cat', which differ in capitals"),
    "label mixed": (column(label="01").replace(",1\n", ",x\n", 1), "line 3: y is 'x'; give a numb"),
    "label number": ("a,y\n" + "".join(f"{i},{i}\n" for i in EVERY), "holds 60 different values i"),
    "one label": (labels(*["cat"] * 60), "column 'y' holds cat alone; give two classes"),
    "few names": (column(*(f"n{i % 40}" for i in EVERY)), "holds 40 different words in 60 records"),
    "latin": ("a,y\n1,é\n".encode("latin-1"), "line 2: no UTF-8 text"),
    "binary": (b"PAR1 no table PAR1", "give a whole Parquet file"),
    "nothing": (b"", "is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_of_classes_is_refused_in_a_line(tmp_path, name):
    given, said = REFUSED[name]
    path = tmp_path / "mine.csv"
    path.write_bytes(given if isinstance(given, bytes) else given.encode())
    with pytest.raises(InputError) as caught:
        load(path, label="y")
    assert said in str(caught.value)
    assert "mine.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "words",
    ["<=50K >50K", "18-25 26-40", "1st-4th 7th", "4wd rwd", "2023-24 2024-25", "B1 C1", "50+ -"],
)
def test_words_with_digits_are_words(tmp_path, words):
    (tmp_path / "mine.csv").write_text(column(*words.split() * 30))
    assert load(tmp_path / "mine.csv", label="y").columns == tuple(
        f"a={word}" for word in sorted(words.split())
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"height": [None, *range(N - 1)]},
            "1 of 12 cells of column 'height'.*the first at record 0",
        ),
        ({"height": [float("nan")] * N}, "12 of 12 cells of column 'height' are empty or missing"),
        ({"height": ["1", "x", *"3456789012"]}, "record 1: height is 'x'; give a number"),
        ({"height": [2**60] * N}, "holds whole numbers above"),
        ({"height": [[1]] * N}, "column 'height' holds ndarray; give one number or word a"),
        (
            {"height": [datetime.date(2020, 1, 1)] * N},
            "amounts or dates, such as '2020-01-01'",
        ),
        ({"__index_level_0__": range(N)}, "a column has no name but '__index_level_0__'"),
        ({"kind": [float("nan"), *[1.0, 0.0] * 5, 1.0]}, "1 of 12 cells of column 'kind'"),
    ],
)
def test_a_parquet_file_is_looked_at_alike(tmp_path, change, message):
    pytest.importorskip("pyarrow")
    table = TABLE.assign(**{name: list(cells) for name, cells in change.items()})
    table.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path / "a.parquet", label="kind")
    assert "\n" not in str(caught.value)


def test_a_parquet_file_cut_short_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    TABLE.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cannot read .*a\.parquet.*give a whole Parquet file"):
        load(path, label="kind")


def test_which_column_holds_the_classes_must_be_said(tmp_path):
    (tmp_path / "mine.csv").write_text(PLAIN)
    with pytest.raises(InputError, match=r"which column.*`-p label COLUMN`, one of 'height, kind"):
        load(tmp_path / "mine.csv")
