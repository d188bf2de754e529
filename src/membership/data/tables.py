"""Upstream files of the tabular sets: Location-30, Purchase-100, Texas-100 and Adult."""

import csv
import tarfile
from pathlib import Path

import numpy as np

from membership.data.npz import Prepared

ADULT_FIELDS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country",
)  # fmt: skip
# fnlwgt is a survey weight, not a trait; education repeats education_num in words.
ADULT_COLUMNS = tuple(name for name in ADULT_FIELDS if name not in ("fnlwgt", "education"))
# Codes are positions in these lists, each in the order of its characters.
ADULT_CATEGORIES = {
    "workclass": (
        "?", "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc",
        "Self-emp-not-inc", "State-gov", "Without-pay",
    ),
    "marital_status": (
        "Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent",
        "Never-married", "Separated", "Widowed",
    ),
    "occupation": (
        "?", "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing",
        "Handlers-cleaners", "Machine-op-inspct", "Other-service", "Priv-house-serv",
        "Prof-specialty", "Protective-serv", "Sales", "Tech-support", "Transport-moving",
    ),
    "relationship": (
        "Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife",
    ),
    "race": ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"),
    "sex": ("Female", "Male"),
    "native_country": (
        "?", "Cambodia", "Canada", "China", "Columbia", "Cuba", "Dominican-Republic", "Ecuador",
        "El-Salvador", "England", "France", "Germany", "Greece", "Guatemala", "Haiti",
        "Holand-Netherlands", "Honduras", "Hong", "Hungary", "India", "Iran", "Ireland", "Italy",
        "Jamaica", "Japan", "Laos", "Mexico", "Nicaragua", "Outlying-US(Guam-USVI-etc)", "Peru",
        "Philippines", "Poland", "Portugal", "Puerto-Rico", "Scotland", "South", "Taiwan",
        "Thailand", "Trinadad&Tobago", "United-States", "Vietnam", "Yugoslavia",
    ),
}  # fmt: skip


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
    return np.loadtxt(
        archive.extractfile(member), delimiter=",", dtype=np.uint8, quotechar='"', ndmin=2
    )


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
