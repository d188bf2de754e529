"""A user's own data: every check that a registry's digest would have made unnecessary."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from membership import addresses, paths, tables
from membership.arrays import FloatArray
from membership.data import npz, pictures, public
from membership.data.dataset import Dataset, record_digest
from membership.data.npz import Prepared
from membership.data.public import PURCHASE_LIKE, as_float
from membership.errors import InputError, brief

MOST_WORDS = 100
"""Different words of a column that is made into as many 0/1 columns."""
_MISSING = re.compile("|nan|na|n/a|null|nat|<na>|#n/a", re.IGNORECASE)
# Words that mean amounts, dates and times: as 0/1 columns they would lose what they say.
_NO_WORD = re.compile(
    r"[$€£¥+-]? ?([0-9]{1,3}([.,' \xa0][0-9]{3})+|[0-9]+)([.,][0-9]+)?( ?[%$€£¥]| [A-Za-z°µ/]+)?"
    r"|[0-9]{1,4}[-/. ]([0-9]{1,2}|[A-Za-z]{3,9})[-/. ,]+[0-9]{2,4}([ T].*)?"
    r"|[0-9]{1,2}:[0-9]{2}.*"
)
# What images are divided by, for numbers from 0 to 1.
RANGES = {np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}
ACCEPTED = (
    f"a .npz with {npz.KEYS}, a .csv or .parquet with a column of classes (`-p label COLUMN`), or "
    "a folder with one folder of images a class"
)


def load_own(path: Path, label: str = "") -> Dataset:
    """Load a user's own data set: a file, or a folder of images."""
    require_there(path)
    if path.is_dir():
        arrays, kind = pictures.read(path), "folder"
    elif path.name.lower().endswith(addresses.TABLES):
        arrays, kind = _table(path, label), "file"
    else:
        arrays, kind = npz.read(path), "file"
    source = f"The reader's own {kind} {path.name}, {len(arrays.y):,} records."
    return own_dataset(arrays, called(path), source, str(path))


def called(path: Path) -> str:
    """The name of the data set that a user's own file or folder becomes."""
    return _name(path.name if path.is_dir() else _stem(path))


def own_dataset(arrays: Prepared, name: str, source: str, where: str) -> Dataset:
    """Check a user's own arrays and make a data set of them; `where` names them in messages."""
    if len(arrays.x) == 0:
        raise InputError(f"{where} holds no records; give at least one for each of two classes")
    _check_finite(where, arrays.x)
    n_classes = _count_classes(where, arrays.y)
    scale = _range(where, arrays.x) if arrays.x.ndim > 2 else 1.0
    return Dataset(
        x=as_float(arrays.x, scale, where),
        y=arrays.y,
        name=name,
        n_classes=n_classes,
        source=source,
        digest=record_digest(arrays.x, arrays.y, arrays.train),
        official_train=arrays.train,
        columns=arrays.columns,
        categories=arrays.categories,
    )


def _range(where: str, images: np.ndarray) -> float:
    if images.dtype.kind in "bf":
        return 1.0
    if images.dtype not in RANGES:
        raise InputError(
            f"{where}: images are {images.dtype}, whose range is not known; give bytes (uint8), "
            "16-bit numbers (uint16) or floats"
        )
    if images.dtype == np.uint16 and images.max() <= RANGES[np.dtype(np.uint8)]:
        raise InputError(
            f"{where}: images are uint16 and none is above {images.max()}; give them as bytes "
            "(uint8), or as floats from 0 to 1"
        )
    return RANGES[images.dtype]


def require_there(path: Path) -> None:
    """Refuse a path at which neither a file nor a folder lies."""
    if not os.path.exists(path):  # unlike the method it has no error of its own
        shown = brief(str(path), most=200)
        raise InputError(f"dataset={shown}: there is no such file; give {ACCEPTED}")


def _stem(path: Path) -> str:
    ending = max(
        (e for e in addresses.FORMATS if path.name.lower().endswith(e)), key=len, default=""
    )
    return path.name[: -len(ending)] if ending else path.stem


def _name(stem: str) -> str:
    """What to call it: never as a public data set, whose sizes and recipe a chapter would take."""
    is_public = stem.removesuffix(addresses.PARITY) in public.names()
    return f"own-{stem}" if is_public or stem.startswith(PURCHASE_LIKE) else stem


def _check_finite(where: str, x: np.ndarray) -> None:
    if x.dtype.kind != "f":
        return
    with np.errstate(over="ignore"):  # a number beyond float32 becomes infinity, and is named
        bad = ~np.isfinite(x.astype(np.float32)).reshape(len(x), -1).all(axis=1)
    if bad.any():
        raise InputError(
            f"{where}: {bad.sum():,} records of x hold NaN, infinity or a number beyond float32, "
            f"the first is record {np.argmax(bad)}; give finite numbers"
        )


def _count_classes(where: str, y: np.ndarray) -> int:
    labels = np.unique(y)
    if len(labels) < 2:
        raise InputError(f"{where}: every label is {labels[0]}; give at least two classes")
    if labels[0] != 0 or labels[-1] != len(labels) - 1:
        shown = ", ".join(map(str, labels[:6])) + (", ..." if len(labels) > 6 else "")
        raise InputError(
            f"{where}: the labels are {shown} (up to {labels[-1]}); number the "
            f"{len(labels)} classes 0 to {len(labels) - 1} without gaps"
        )
    return len(labels)


def from_arrays(x: Any, y: Any = None, name: str = "arrays") -> Dataset:
    """Make a data set of records and labels that a script holds.

    Parameters
    ----------
    x : array_like, shape (records, features), (records, height, width) or with 1 or 3 channels
        NumPy, torch, a pandas or polars table; bytes of images are divided by 255. Or an object
        with ``data`` and ``target`` or ``targets``: what scikit-learn's ``load_wine()`` returns,
        or a data set of torchvision.
    y : array_like, shape (records,), optional
        Labels, in numbers or words, which are numbered in their order; None where `x` has them.
    name : str
        What exhibits call it.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        Shapes disagree, a value is not finite, or there are fewer than two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from membership import data
    >>> wine = data.from_arrays(load_wine(), name="wine")
    >>> wine.x.shape, wine.n_classes
    ((178, 13), 3)
    """
    if y is None:
        x, y = _parts(x)
    columns = tuple(str(column) for column in getattr(x, "columns", ()))
    records, labels = _array("x", x), _array("y", y)
    if records.ndim < 2 or records.dtype.kind not in "buif":
        raise InputError(
            f"x has shape {records.shape} and type {records.dtype}; give numbers of shape "
            "(records, features) or images"
        )
    if labels.shape != records.shape[:1] or not _name_classes(labels):
        raise InputError(
            f"y has shape {labels.shape} and type {labels.dtype}; give one label for each of the "
            f"{len(records)} records, in whole numbers or words"
        )
    classes, numbered = np.unique(labels, return_inverse=True)
    arrays = Prepared(records, numbered.astype(np.int64), None, columns=columns)
    listed = ", ".join(map(str, classes[:10])) + (", ..." if len(classes) > 10 else "")
    source = f"Arrays of the reader's own, {len(records):,} records of the classes {listed}."
    return own_dataset(arrays, name, source, name)


def save(dataset: Dataset, path: str | os.PathLike[str]) -> Path:
    """Write a data set as a .npz that `load` and ``-p dataset`` take.

    Parameters
    ----------
    dataset : Dataset
    path : path
        Ends in .npz.

    Returns
    -------
    Path
        The file, whole.

    Raises
    ------
    InputError
        The path ends otherwise, or cannot be written to.
    """
    path = paths.own_path(os.fspath(path))
    if path.suffix.lower() != ".npz":
        raise InputError(f"path = {str(path)!r}: give one that ends in .npz")
    arrays = Prepared(
        dataset.x, dataset.y, dataset.official_train, dataset.columns, dict(dataset.categories)
    )
    npz.write(path, arrays)
    return path


def _parts(source: Any) -> tuple[Any, Any]:
    """Records and labels of an object that holds both."""
    for labels in ("target", "targets"):
        if hasattr(source, "data") and hasattr(source, labels):
            return source.data, getattr(source, labels)
    raise InputError(
        f"x is {type(source).__name__} and y is missing; give both, or an object with data and "
        "target or targets"
    )


def _name_classes(labels: np.ndarray) -> bool:
    """Whether labels are whole numbers or words, none of them missing."""
    if labels.dtype.kind == "f":
        return not (labels % 1).any()  # NaN is not 0
    if labels.dtype.kind == "O":
        return all(isinstance(label, str) for label in labels)
    return labels.dtype.kind in "buiU"


def _array(name: str, values: Any) -> np.ndarray:
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if str(values.dtype) == "torch.bfloat16" else values
    if np.ma.is_masked(values):
        raise InputError(f"{name} has masked entries; fill them in or leave their records out")
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is no array: {npz.reason(error)}; give one shape") from None


def _table(path: Path, label: str) -> Prepared:
    """Read a table; each column of words becomes one 0/1 column a word.

    Raises
    ------
    InputError
        The file cannot be read, lacks the label, or has a cell or a column that is neither a
        number nor one of few words.
    """
    table, label = tables.read(path), (label or "").strip(tables.BLANKS)
    names = list(table.columns)
    if not label or label not in names:
        named = f"it has no column {label!r}." if label else "which column holds the classes?"
        listed = brief(", ".join(names), most=200)
        raise InputError(f"{path}: {named} Give `-p label COLUMN`, one of {listed}")
    if len(names) == 1:
        raise InputError(f"{path} holds no column beside the label; give one feature or more")
    for name in names:
        _require_told(table, name)
    features = [feature for name in names if name != label for feature in _features(table, name)]
    columns = tuple(name for name, _ in features)
    if twice := [name for name in columns if columns.count(name) > 1][:1]:
        raise InputError(f"{path}: two features would be called {twice[0]!r}; rename a column")
    values = _numbers(table, label)
    if values is None:
        values = np.array(_words(table, label))
    classes, y = np.unique(values, return_inverse=True)
    if len(classes) == 1:
        raise InputError(
            f"{path}: column {label!r} holds {classes[0]} alone; give two classes or more"
        )
    if len(classes) > max(2, len(y) // 2):
        raise InputError(
            f"{path}: column {label!r} holds {len(classes):,} different values in {len(y):,} "
            "records; name a column of classes with `-p label COLUMN`"
        )
    x = np.column_stack([column for _, column in features])
    return Prepared(x, y.astype(np.int64), None, columns=columns)


def _require_told(table: tables.Table, name: str) -> None:
    """Refuse a column that is an index, of another kind than numbers and words, or has gaps."""
    if not name or name.startswith(("Unnamed:", "__index_level_")):
        raise InputError(
            f"{table.path}: a column has no name but {name!r}, as pandas writes its index (give "
            "`index=False`); name it, or leave it out"
        )
    gaps = np.array([_MISSING.fullmatch(word) is not None for word in table.words(name)])
    if gaps.any():
        raise InputError(
            f"{table.path}: {gaps.sum():,} of {len(gaps):,} cells of column {name!r} are empty or "
            f"missing, the first at {table.at(int(gaps.argmax()))}; fill them in or leave their "
            "records out"
        )


def _numbers(table: tables.Table, name: str) -> FloatArray | None:
    """A column as numbers, None where it holds words; what is half of each is refused."""
    values, wrong = table.numbers(name)
    if wrong.mean() > 0.5:
        return None
    table.refuse(name, wrong, "a number, as most of its column are, or leave the record out")
    if table.has_large_whole(name):
        raise InputError(
            f"{table.path}: column {name!r} holds whole numbers above {tables.LARGEST_WHOLE:,}, "
            "which would be rounded; leave it out, or make words of it"
        )
    return values


def _features(table: tables.Table, name: str) -> list[tuple[str, np.ndarray]]:
    """A column as features: itself, or one of 0 and 1 for each of its words."""
    values = _numbers(table, name)
    if values is not None:
        return [(name, values)]
    words = np.array(_words(table, name), dtype=object)
    different = sorted(set(words))
    if {word.lower() for word in different} <= {"true", "false"}:
        return [(name, np.array([float(word.lower() == "true") for word in words]))]
    amounts = np.mean([_NO_WORD.fullmatch(word) is not None for word in words]) > 0.5
    # What tells most records apart is a name of theirs, and no feature.
    if amounts or len(different) > min(MOST_WORDS, max(2, len(words) // 2)):
        many = f"{len(different):,} different words in {len(words):,} records"
        held = "amounts or dates" if amounts else many
        raise InputError(
            f"{table.path}: column {name!r} holds {held}, such as "
            f"{brief(words[0], most=40)}; make numbers of it, or leave it out"
        )
    return [(f"{name}={word}", (words == word).astype(np.float64)) for word in different]


def _words(table: tables.Table, name: str) -> list[str]:
    """A column of words, no two of which differ in capitals alone."""
    words = table.words(name)
    alike: dict[str, list[str]] = {}
    for word in sorted(set(words)):
        alike.setdefault(word.lower(), []).append(word)
    if twice := next((same for same in alike.values() if len(same) > 1), None):
        raise InputError(
            f"{table.path}: column {name!r} holds {' and '.join(map(repr, twice))}, which differ "
            "in capitals alone; write them alike, or as different words"
        )
    return words
