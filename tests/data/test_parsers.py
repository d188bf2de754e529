"""The formats of public data sets, on small files written as their makers write them."""

import gzip

import numpy as np
import pytest

from membership.data import parsers

PEOPLE = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
38, ?, 215646, HS-grad, 9, Divorced, ?, Wife, Amer-Indian-Eskimo, Female, 0, 7, 20, ?, >50K

"""


def test_read_idx(tmp_path, write_idx):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    write_idx(tmp_path / "a.gz", array)
    np.testing.assert_array_equal(parsers.read_idx(tmp_path / "a.gz"), array)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x00\x08",
        b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00",
        b"\x00\x00\x08\x01\x00\x00\x00\x03ab",
        b"\x00\x00\x08\x01\x00\x00\x00\x03abcd",
    ],
)
def test_read_idx_refuses_other_headers_and_lengths(tmp_path, content):
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=r"IDX|reshape"):
        parsers.read_idx(tmp_path / "a.gz")


def test_idx_joins_four_files(tmp_path, write_idx):
    rng = np.random.default_rng(0)
    parts = {}
    for split, n in (("train", 5), ("t10k", 3)):
        parts[split] = rng.integers(0, 256, (n, 4, 4), dtype=np.uint8), rng.integers(0, 10, n)
        write_idx(tmp_path / f"{split}-images-idx3-ubyte.gz", parts[split][0])
        write_idx(tmp_path / f"{split}-labels-idx1-ubyte.gz", parts[split][1].astype(np.uint8))
    prepared = parsers.idx(tmp_path)
    for k, joined in enumerate((prepared.x, prepared.y)):
        np.testing.assert_array_equal(joined, np.concatenate([p[k] for p in parts.values()]))
    assert prepared.train.tolist() == [True] * 5 + [False] * 3


def test_idx_refuses_a_missing_label(tmp_path, write_idx):
    for split in ("train", "t10k"):
        write_idx(tmp_path / f"{split}-images-idx3-ubyte.gz", np.zeros((2, 1, 1), np.uint8))
        write_idx(tmp_path / f"{split}-labels-idx1-ubyte.gz", np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match="2 images and 1 labels"):
        parsers.idx(tmp_path)


def cifar_record(labels, image):
    """One record of the binary version: labels, then red, green and blue planes by row."""
    planes = [
        bytes(int(image[row, column, colour]) for row in range(32) for column in range(32))
        for colour in range(3)
    ]
    return bytes(labels) + b"".join(planes)


@pytest.fixture
def pictures():
    rng = np.random.default_rng(1)
    return rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)


def test_cifar10(tmp_path, write_tar, pictures):
    names = [f"cifar-10-batches-bin/data_batch_{i}.bin" for i in (1, 2, 3, 4, 5)]
    names.append("cifar-10-batches-bin/test_batch.bin")
    content = {
        name: b"".join(cifar_record([2 * i + j], pictures[2 * i + j]) for j in range(2))
        for i, name in enumerate(names)
    }
    write_tar(tmp_path / "cifar-10-binary.tar.gz", dict(reversed(content.items())))
    prepared = parsers.cifar10(tmp_path)
    np.testing.assert_array_equal(prepared.x, pictures)
    assert prepared.y.tolist() == list(range(12))
    assert prepared.train.tolist() == [True] * 10 + [False] * 2


def test_cifar100_keeps_the_fine_label(tmp_path, write_tar, pictures):
    records = [cifar_record([99, i], picture) for i, picture in enumerate(pictures)]
    write_tar(
        tmp_path / "cifar-100-binary.tar.gz",
        {
            "cifar-100-binary/train.bin": b"".join(records[:9]),
            "cifar-100-binary/test.bin": b"".join(records[9:]),
        },
    )
    prepared = parsers.cifar100(tmp_path)
    np.testing.assert_array_equal(prepared.x, pictures)
    assert prepared.y.tolist() == list(range(12))
    assert prepared.train.sum() == 9


def test_cifar_refuses_a_cut_record(tmp_path, write_tar):
    write_tar(
        tmp_path / "cifar-100-binary.tar.gz",
        {"cifar-100-binary/train.bin": bytes(3073), "cifar-100-binary/test.bin": bytes(3074)},
    )
    with pytest.raises(ValueError, match="reshape"):
        parsers.cifar100(tmp_path)


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
@pytest.mark.parametrize(
    ("parser", "member"),
    [
        (parsers.location30, "bangkok"),
        (parsers.location30, "./bangkok"),
        (parsers.location30, "location/bangkok"),
        (parsers.purchase100, "dataset_purchase"),
    ],
)
def test_location30_and_purchase100(tmp_path, write_tar, rows, quote, parser, member):
    x, labels = rows
    archive = f"dataset_{parser.__name__.rstrip('0123456789')}.tgz"
    write_tar(tmp_path / archive, {member: lines(x, labels, quote)})
    prepared = parser(tmp_path)
    np.testing.assert_array_equal(prepared.x, x)
    np.testing.assert_array_equal(prepared.y, labels - 1)
    assert prepared.x.dtype == np.uint8
    assert prepared.train is None


def test_texas100(tmp_path, write_tar, rows):
    x, labels = rows
    feats = "".join(",".join(map(str, row)) + "\n" for row in x.tolist()).encode()
    marks = "".join(f"{label}\n" for label in labels).encode()
    other = {"texas/10/feats": b"0,0\n", "texas/10/labels": b"1\n"}
    write_tar(
        tmp_path / "dataset_texas.tgz",
        other | {"texas/100/feats": feats, "texas/100/labels": marks},
    )
    prepared = parsers.texas100(tmp_path)
    np.testing.assert_array_equal(prepared.x, x)
    np.testing.assert_array_equal(prepared.y, labels - 1)


def test_texas100_refuses_a_missing_label(tmp_path, write_tar):
    write_tar(
        tmp_path / "dataset_texas.tgz",
        {"texas/100/feats": b"0,1\n1,1\n", "texas/100/labels": b"3\n"},
    )
    with pytest.raises(ValueError, match="2 records and 1 labels"):
        parsers.texas100(tmp_path)


@pytest.mark.parametrize(
    "content", [b"1,0,1\n2,0\n", b"1,0,x\n", b"1,0,300\n", b"1,0,1.5\n", b"1,0,-1\n"]
)
def test_uneven_or_foreign_lines_are_refused(tmp_path, write_tar, content):
    write_tar(tmp_path / "dataset_purchase.tgz", {"dataset_purchase": content})
    with pytest.raises(ValueError, match=r"columns|convert|no whole number of 0 to 255"):
        parsers.purchase100(tmp_path)


def test_an_archive_without_the_file_is_refused(tmp_path, write_tar):
    write_tar(tmp_path / "dataset_purchase.tgz", {"readme": b"hello"})
    with pytest.raises(ValueError, match="no file dataset_purchase"):
        parsers.purchase100(tmp_path)


def test_adult(tmp_path):
    (tmp_path / "adult.data").write_text(PEOPLE)
    test_split = PEOPLE.replace("<=50K", "<=50K.").replace(">50K", ">50K.")
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + test_split)
    prepared = parsers.adult(tmp_path)
    assert prepared.columns == parsers.ADULT_COLUMNS
    expected = [
        [39, 7, 13, 4, 1, 1, 4, 1, 2174, 0, 40, 39],
        [38, 0, 9, 0, 0, 5, 0, 0, 0, 7, 20, 0],
    ]
    np.testing.assert_array_equal(prepared.x, expected * 2)
    assert prepared.y.tolist() == [0, 1, 0, 1]
    assert prepared.train.tolist() == [True, True, False, False]
    assert prepared.categories["sex"] == ("Female", "Male")


def test_adult_codes_are_in_the_order_of_the_words():
    for words in parsers.ADULT_CATEGORIES.values():
        assert list(words) == sorted(words)
    assert set(parsers.ADULT_CATEGORIES) < set(parsers.ADULT_COLUMNS)


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
        parsers.adult(tmp_path)
