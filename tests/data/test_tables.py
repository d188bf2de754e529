"""Tabular formats, on small files written as their makers write them."""

import numpy as np
import pytest

from membership.data import tables

PEOPLE = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
38, ?, 215646, HS-grad, 9, Divorced, ?, Wife, Amer-Indian-Eskimo, Female, 0, 7, 20, ?, >50K

"""


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (8, 5)), np.array([1, 30, 7, 100, 2, 3, 30, 1])


def lines(x, labels, quote=""):
    return "".join(
        f"{quote}{label}{quote},{','.join(map(str, row))}\n"
        for row, label in zip(x.tolist(), labels, strict=True)
    ).encode()


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("member", ["bangkok", "./bangkok", "location/bangkok"])
def test_location30(tmp_path, write_tar, rows, quote, member):
    x, labels = rows
    write_tar(tmp_path / "dataset_location.tgz", {member: lines(x, labels, quote)})
    prepared = tables.location30(tmp_path)
    np.testing.assert_array_equal(prepared.x, x)
    np.testing.assert_array_equal(prepared.y, labels - 1)
    assert prepared.x.dtype == np.uint8
    assert prepared.train is None


def test_purchase100(tmp_path, write_tar, rows):
    x, labels = rows
    write_tar(tmp_path / "dataset_purchase.tgz", {"dataset_purchase": lines(x, labels)})
    prepared = tables.purchase100(tmp_path)
    np.testing.assert_array_equal(prepared.x, x)
    np.testing.assert_array_equal(prepared.y, labels - 1)


def test_texas100(tmp_path, write_tar, rows):
    x, labels = rows
    feats = "".join(",".join(map(str, row)) + "\n" for row in x.tolist()).encode()
    marks = "".join(f"{label}\n" for label in labels).encode()
    other = {"texas/10/feats": b"0,0\n", "texas/10/labels": b"1\n"}
    write_tar(
        tmp_path / "dataset_texas.tgz",
        other | {"texas/100/feats": feats, "texas/100/labels": marks},
    )
    prepared = tables.texas100(tmp_path)
    np.testing.assert_array_equal(prepared.x, x)
    np.testing.assert_array_equal(prepared.y, labels - 1)


def test_texas100_refuses_a_missing_label(tmp_path, write_tar):
    write_tar(
        tmp_path / "dataset_texas.tgz",
        {"texas/100/feats": b"0,1\n1,1\n", "texas/100/labels": b"3\n"},
    )
    with pytest.raises(ValueError, match="2 records and 1 labels"):
        tables.texas100(tmp_path)


@pytest.mark.parametrize("content", [b"1,0,1\n2,0\n", b"1,0,x\n", b"1,0,300\n"])
def test_uneven_or_foreign_lines_are_refused(tmp_path, write_tar, content):
    write_tar(tmp_path / "dataset_purchase.tgz", {"dataset_purchase": content})
    with pytest.raises(ValueError, match=r"columns|convert"):
        tables.purchase100(tmp_path)


def test_an_archive_without_the_file_is_refused(tmp_path, write_tar):
    write_tar(tmp_path / "dataset_purchase.tgz", {"readme": b"hello"})
    with pytest.raises(ValueError, match="no file dataset_purchase"):
        tables.purchase100(tmp_path)


def test_adult(tmp_path):
    (tmp_path / "adult.data").write_text(PEOPLE)
    test_split = PEOPLE.replace("<=50K", "<=50K.").replace(">50K", ">50K.")
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + test_split)
    prepared = tables.adult(tmp_path)
    assert prepared.columns == tables.ADULT_COLUMNS
    expected = [
        [39, 7, 13, 4, 1, 1, 4, 1, 2174, 0, 40, 39],
        [38, 0, 9, 0, 0, 5, 0, 0, 0, 7, 20, 0],
    ]
    np.testing.assert_array_equal(prepared.x, expected * 2)
    assert prepared.y.tolist() == [0, 1, 0, 1]
    assert prepared.train.tolist() == [True, True, False, False]
    assert prepared.categories["sex"] == ("Female", "Male")


def test_adult_codes_are_in_the_order_of_the_words():
    for words in tables.ADULT_CATEGORIES.values():
        assert list(words) == sorted(words)
    assert set(tables.ADULT_CATEGORIES) < set(tables.ADULT_COLUMNS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("State-gov", "Baker", "line 1 of adult.data holds 'Baker'"),
        ("<=50K", "poor", "line 1 of adult.data holds 'poor'"),
        (", United-States", "", "line 1 of adult.data has 14 values"),
        ("39", "old", "invalid literal"),
    ],
)
def test_adult_refuses_what_it_does_not_know(tmp_path, old, new, message):
    (tmp_path / "adult.data").write_text(PEOPLE.replace(old, new))
    (tmp_path / "adult.test").write_text(PEOPLE)
    with pytest.raises(ValueError, match=message):
        tables.adult(tmp_path)
