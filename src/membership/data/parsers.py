"""What the makers of public data sets publish: IDX, CIFAR's binary archives, and plain tables."""

import csv
import gzip
import struct
import tarfile
import tomllib
import warnings
from importlib.resources import files
from pathlib import Path
from typing import IO

import numpy as np

from membership.data.npz import Prepared

CIFAR_SHAPE = (3, 32, 32)
ADULT_FIELDS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country",
)  # fmt: skip
# fnlwgt is a survey weight, not a trait; education repeats education_num in words.
ADULT_COLUMNS = tuple(name for name in ADULT_FIELDS if name not in ("fnlwgt", "education"))
_WORDS = (files("membership.data") / "adult.toml").read_text(encoding="utf-8")
# Codes are positions in these lists.
ADULT_CATEGORIES = {column: tuple(words) for column, words in tomllib.loads(_WORDS).items()}


def read_idx(path: Path) -> np.ndarray:
    """Read one gzipped IDX file of bytes.

    The format (LeCun's page of MNIST): two zero bytes, the type (8: unsigned byte), the number
    of dimensions, each dimension as a big-endian 32-bit number, then the values.
    """
    content = gzip.decompress(path.read_bytes())
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError("this is no IDX file of bytes")
    n_dimensions = content[3]
    shape = struct.unpack_from(f">{n_dimensions}I", content, 4)
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_dimensions)
    return values.reshape(shape)


def idx(folder: Path) -> Prepared:
    """Join the four files of MNIST or Fashion-MNIST."""
    splits = ("train", "t10k")
    x = [read_idx(folder / f"{split}-images-idx3-ubyte.gz") for split in splits]
    y = [read_idx(folder / f"{split}-labels-idx1-ubyte.gz") for split in splits]
    return _join(x, y)


def cifar10(folder: Path) -> Prepared:
    """Read CIFAR-10, binary version: a record is its label and 3,072 bytes of pixels."""
    archive = folder / "cifar-10-binary.tar.gz"
    batches = [f"cifar-10-batches-bin/data_batch_{i}.bin" for i in range(1, 6)]
    members = _members(archive, [*batches, "cifar-10-batches-bin/test_batch.bin"])
    return _cifar(b"".join(members[:-1]), members[-1], label_bytes=1)


def cifar100(folder: Path) -> Prepared:
    """Read CIFAR-100, binary version: coarse label, fine label (the one kept), pixels."""
    archive = folder / "cifar-100-binary.tar.gz"
    train, test = _members(archive, ["cifar-100-binary/train.bin", "cifar-100-binary/test.bin"])
    return _cifar(train, test, label_bytes=2)


def _members(archive: Path, names: list[str]) -> list[bytes]:
    """Read named files out of an archive; nothing is unpacked to disk."""
    with tarfile.open(archive) as tar:
        return [_opened(tar, name).read() for name in names]


def _opened(archive: tarfile.TarFile, member: str | tarfile.TarInfo) -> IO[bytes]:
    file = archive.extractfile(member)
    if file is None:
        raise ValueError(f"{member} is no file in its archive")
    return file


def _cifar(train: bytes, test: bytes, label_bytes: int) -> Prepared:
    x, y = [], []
    for content in (train, test):
        records = np.frombuffer(content, dtype=np.uint8)
        records = records.reshape(-1, label_bytes + int(np.prod(CIFAR_SHAPE)))
        y.append(records[:, label_bytes - 1])
        planes = records[:, label_bytes:].reshape(-1, *CIFAR_SHAPE)
        x.append(planes.transpose(0, 2, 3, 1))
    return _join(x, y)


def _join(x: list[np.ndarray], y: list[np.ndarray]) -> Prepared:
    for images, labels in zip(x, y, strict=True):
        if len(images) != len(labels):
            raise ValueError(f"there are {len(images)} images and {len(labels)} labels")
    train = np.repeat([True, False], [len(x[0]), len(x[1])])
    return Prepared(np.concatenate(x), np.concatenate(y).astype(np.int64), train)


def location30(folder: Path) -> Prepared:
    """Read Location-30: a line is the label from 1 and 446 binary features."""
    return _labelled_lines(folder / "dataset_location.tgz", "bangkok")


def purchase100(folder: Path) -> Prepared:
    """Read Purchase-100: a line is the label from 1 and 600 binary features."""
    return _labelled_lines(folder / "dataset_purchase.tgz", "dataset_purchase")


def texas100(folder: Path) -> Prepared:
    """Read Texas-100: features and labels (from 1) lie in two files of one archive."""
    with tarfile.open(folder / "dataset_texas.tgz") as archive:
        x = _table(archive, "100/feats")
        y = _table(archive, "100/labels")[:, 0]
    if len(x) != len(y):
        raise ValueError(f"there are {len(x)} records and {len(y)} labels")
    return Prepared(x, y.astype(np.int64) - 1, None)


def _labelled_lines(path: Path, member: str) -> Prepared:
    with tarfile.open(path) as archive:
        table = _table(archive, member)
    return Prepared(np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(np.int64) - 1, None)


def _table(archive: tarfile.TarFile, ending: str) -> np.ndarray:
    """Parse one comma-separated file of small numbers; labels may be quoted."""
    member = next((m for m in archive if f"/{m.name}".endswith(f"/{ending}")), None)
    if member is None:
        raise ValueError(f"the archive holds no file {ending}")
    with warnings.catch_warnings():
        # So NumPy says that 300 or 1.5 is no such integer, and takes another in its place.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.loadtxt(
                _opened(archive, member), delimiter=",", dtype=np.uint8, quotechar='"', ndmin=2
            )
        except DeprecationWarning as error:
            raise ValueError(f"{ending} holds what is no whole number of 0 to 255") from error


def adult(folder: Path) -> Prepared:
    """Read Adult: comma-separated values; words become codes, `ADULT_CATEGORIES`."""
    splits = [_adult_split(folder / name) for name in ("adult.data", "adult.test")]
    x, y = (np.concatenate(parts) for parts in zip(*splits, strict=True))
    train = np.repeat([True, False], [len(splits[0][1]), len(splits[1][1])])
    return Prepared(x, y, train, ADULT_COLUMNS, dict(ADULT_CATEGORIES))


def _adult_split(path: Path) -> tuple[np.ndarray, np.ndarray]:
    codes = {c: {word: i for i, word in enumerate(words)} for c, words in ADULT_CATEGORIES.items()}
    x, y = [], []
    with path.open(newline="", encoding="ascii") as file:
        for line, row in enumerate(csv.reader(file, skipinitialspace=True), start=1):
            # adult.test opens with a remark and ends its labels with a full stop.
            if not row or row[0].startswith("|"):
                continue
            if len(row) != len(ADULT_FIELDS) + 1:
                raise ValueError(f"line {line} of {path.name} has {len(row)} values, not 15")
            record = dict(zip(ADULT_FIELDS, row, strict=False))
            try:
                x.append(
                    [codes[c][record[c]] if c in codes else int(record[c]) for c in ADULT_COLUMNS]
                )
                y.append({"<=50K": 0, ">50K": 1}[row[-1].rstrip(".")])
            except KeyError as error:
                raise ValueError(f"line {line} of {path.name} holds {error}") from error
    return np.array(x, dtype=np.int32), np.array(y, dtype=np.int64)
