"""What every data set looks like once it is loaded, its digest, and what is done to a whole one."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from membership.arrays import deviation
from membership.errors import InputError


def stored_form(x: np.ndarray) -> np.ndarray:
    """Return the records in the one number format their digest is taken over.

    Bytes and booleans become ``uint8``, other integers ``int64``, floats ``float32``; all
    little-endian and contiguous, so that a digest does not depend on the machine.
    """
    if x.dtype == np.bool_ or x.dtype == np.uint8:
        kind = "u1"
    else:
        kind = "<i8" if np.issubdtype(x.dtype, np.integer) else "<f4"
    return np.ascontiguousarray(x, dtype=kind)


def record_hashes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Hash each record by itself."""
    width = math.prod(x.shape[1:])
    rows = stored_form(x).reshape(len(x), width).view(np.uint8)
    labels = np.ascontiguousarray(y, dtype="<i8")
    hashes = [
        hashlib.sha256(row.tobytes() + label.tobytes()).hexdigest()
        for row, label in zip(rows, labels, strict=True)
    ]
    return np.array(hashes, dtype="S64")


def canonical_order(hashes: np.ndarray, train: np.ndarray | None = None) -> np.ndarray:
    """Return the order in which every copy of a data set lists its records.

    Training records come first where there is an official split; within a split records are
    sorted by their hash. The result depends on the set of records alone, so a seed picks the
    same members on every machine, whichever road the data came by.
    """
    if train is None:
        return np.argsort(hashes, kind="stable")
    return np.lexsort((hashes, ~train))


def combine(hashes: np.ndarray, train: np.ndarray | None = None) -> str:
    """Combine record hashes into the digest of the data set."""
    splits = {"all": hashes} if train is None else {"train": hashes[train], "test": hashes[~train]}
    outer = hashlib.sha256()
    for name, part in splits.items():
        outer.update(name.encode() + np.sort(part).tobytes())
    return outer.hexdigest()


def record_digest(x: np.ndarray, y: np.ndarray, train: np.ndarray | None = None) -> str:
    """Return the order-independent SHA-256 of a data set's records.

    Parameters
    ----------
    x : ndarray, shape (records, ...)
    y : ndarray of int, shape (records,)
    train : ndarray of bool, shape (records,), optional
        The official split, each part of which is hashed by itself.
    """
    return combine(record_hashes(x, y), train)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records and their labels, ready for a model. Arrays are read-only.

    Parameters
    ----------
    x : ndarray of float32, shape (records, channels, height, width) or (records, features)
        Images scaled to [0, 1]; tabular values as they are.
    y : ndarray of int64, shape (records,)
        Labels in 0..n_classes-1.
    name : str
        The registry's name, or the stem of the user's file.
    n_classes : int
        At least 2.
    source : str
        One sentence for the page: where the records come from and what was left out.
    digest : str
        Order-independent SHA-256 of the records (see `record_digest`).
    official_train : ndarray of bool, shape (records,), optional
        True for the records of the official training split; None where there is no split.
    verified : bool
        True where the digest is the one the registry holds.
    columns : tuple of str
        Names of the features of a tabular set; empty where unknown.
    categories : mapping of str to tuple of str
        For each integer-coded column the meaning of code 0, 1, ...

    Raises
    ------
    InputError
        Shapes disagree, a value is not finite, or a label is outside 0..n_classes-1.
    """

    x: np.ndarray
    y: np.ndarray
    name: str
    n_classes: int
    source: str
    digest: str
    official_train: np.ndarray | None = None
    verified: bool = False
    columns: tuple[str, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", _read_only(self.x, np.float32))
        object.__setattr__(self, "y", _read_only(self.y, np.int64))
        if self.official_train is not None:
            object.__setattr__(self, "official_train", _read_only(self.official_train, np.bool_))
        object.__setattr__(self, "categories", MappingProxyType(dict(self.categories)))
        self._check()

    def _check(self) -> None:
        n = len(self.x)
        if self.x.size == 0 or self.x.ndim not in (2, 4):
            raise InputError(
                f"{self.name}: x has shape {self.x.shape}; give (records, features) or "
                "(records, channels, height, width), with at least one record and feature"
            )
        if self.y.shape != (n,):
            raise InputError(
                f"{self.name}: y has shape {self.y.shape}; give one label for each of {n} records"
            )
        if self.official_train is not None and self.official_train.shape != (n,):
            raise InputError(
                f"{self.name}: official_train has shape {self.official_train.shape}; "
                f"give one entry for each of {n} records"
            )
        # The extremes carry any NaN or infinity and need no copy of a large array.
        if not (np.isfinite(self.x.min()) and np.isfinite(self.x.max())):
            raise InputError(f"{self.name}: x holds NaN or infinity; give finite numbers")
        if self.n_classes < 2:
            raise InputError(f"{self.name}: n_classes is {self.n_classes}; give at least 2 classes")
        if self.y.min() < 0 or self.y.max() >= self.n_classes:
            raise InputError(
                f"{self.name}: labels run from {self.y.min()} to {self.y.max()}; "
                f"give 0 to {self.n_classes - 1}"
            )

    def __len__(self) -> int:
        return len(self.y)

    def select(self, records: np.ndarray, name: str | None = None) -> "Dataset":
        """Return the data set that holds these records only, in this order.

        Parameters
        ----------
        records : ndarray
            Indices, or a boolean mask of shape (records,).
        name : str, optional
            What to call it; by default the name stays.
        """
        split = None if self.official_train is None else self.official_train[records]
        x, y = self.x[records], self.y[records]
        return _changed(
            self, x=x, y=y, official_train=split, name=self.name if name is None else name
        )


def _changed(dataset: Dataset, **fields: Any) -> Dataset:
    """The data set with other records, labels or words, and the digest that these have."""
    records = {name: getattr(dataset, name) for name in ("x", "y", "official_train")}
    digest = record_digest(*((records | fields)[name] for name in records))
    return replace(dataset, **fields, digest=digest, verified=False)


def _read_only(array: np.ndarray, dtype: type) -> np.ndarray:
    """Return a view that cannot be written to, leaving the caller's own array as it was."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def keep_classes(dataset: Dataset, classes: Sequence[int]) -> Dataset:
    """Keep the records of some classes and renumber their labels 0, 1, ... in the order given.

    Parameters
    ----------
    dataset : Dataset
    classes : sequence of int
        At least two different labels, each in 0..n_classes-1. ``keep_classes(cifar10, [9, 8])``
        is truck (0) against ship (1), the pair of Sablayrolles et al. (2019), Table 1.

    Raises
    ------
    InputError
        Fewer than two classes, one named twice, or one that the data set does not have.
    """
    chosen = [int(label) for label in classes]
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise InputError(f"classes={chosen}: name at least two different classes")
    if not set(chosen) <= set(range(dataset.n_classes)):
        raise InputError(
            f"classes={chosen}: {dataset.name} has the classes 0 to {dataset.n_classes - 1}"
        )
    renumber = np.full(dataset.n_classes, -1)
    renumber[chosen] = np.arange(len(chosen))
    kept = np.flatnonzero(renumber[dataset.y] >= 0)
    x, y = dataset.x[kept], renumber[dataset.y[kept]]
    split = None if dataset.official_train is None else dataset.official_train[kept]
    listed = ", ".join(map(str, chosen))
    return _changed(
        dataset,
        x=x,
        y=y,
        official_train=split,
        name=f"{dataset.name}-{'-'.join(map(str, chosen))}",
        n_classes=len(chosen),
        source=f"{dataset.source} Classes {listed} only, renumbered from 0.",
    )


def label_parity(dataset: Dataset) -> Dataset:
    """Label every record by whether its label is odd (1) or even (0).

    Suri et al. (2024), Section 4.1, make a binary task of MNIST in this way.
    """
    source = f"{dataset.source} Labelled by whether the original label is odd."
    name = f"{dataset.name}-odd"
    return _changed(dataset, y=dataset.y % 2, name=name, n_classes=2, source=source)


def standardised(dataset: Dataset) -> Dataset:
    """Bring each feature of a table, or each channel of images, to mean 0 and deviation 1.

    Mean and deviation are those of all records, members or not; what is constant becomes 0.
    """
    x = dataset.x.astype(np.float64)
    axes = (0, *range(2, x.ndim))
    spread = deviation(x, axes, keepdims=True)
    x = (x - x.mean(axis=axes, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    source = f"{dataset.source} Features brought to mean 0 and standard deviation 1."
    name = f"{dataset.name}-standardised"
    return _changed(dataset, x=x.astype(np.float32), name=name, source=source)


def deduplicate(dataset: Dataset) -> Dataset:
    """Drop every record that repeats an earlier one in both features and label.

    Membership of a repeated record is ambiguous: a copy of it may be a member while it is not.
    Of a record that occurs in both official splits, the training copy stays in a registry data
    set, because that lists the training records first.
    """
    rows = np.ascontiguousarray(dataset.x.reshape(len(dataset), -1))
    keys = [row.tobytes() + label.tobytes() for row, label in zip(rows, dataset.y, strict=True)]
    first: dict[bytes, int] = {}
    for index, key in enumerate(keys):
        first.setdefault(key, index)
    kept = np.fromiter(first.values(), dtype=np.int64)
    source = f"{dataset.source} {len(dataset) - len(kept):,} repeated records dropped."
    return replace(dataset.select(kept), source=source)


def require(dataset: Dataset, *, n_records: int = 0, n_classes: int = 0) -> None:
    """Refuse a data set that is too small for a design, before any work starts.

    Parameters
    ----------
    dataset : Dataset
    n_records, n_classes : int
        How many the design needs at least.

    Raises
    ------
    InputError
        There are fewer.
    """
    if len(dataset) < n_records:
        raise InputError(
            f"dataset {dataset.name!r} holds {len(dataset):,} records and this design needs "
            f"{n_records:,}; take a larger data set or smaller sizes"
        )
    if dataset.n_classes < n_classes:
        raise InputError(
            f"dataset {dataset.name!r} has {dataset.n_classes} classes and this design needs "
            f"{n_classes}; take a data set with more classes"
        )


def one_hot(dataset: Dataset) -> Dataset:
    """Encode the categorical columns one-hot and standardise the others.

    Parameters
    ----------
    dataset : Dataset
        Tabular, with `columns` and `categories` (Adult, or a user's file that holds
        ``columns`` and ``names_<column>``).

    Returns
    -------
    Dataset
        x of shape (records, encoded features); `columns` names each: ``workclass=Private`` for
        a 0/1 feature, ``age`` for a number of mean 0 and standard deviation 1. Mean and
        deviation are those of all records, members or not.

    Raises
    ------
    InputError
        The data set names no columns, or a code has no meaning in its column.
    """
    if not dataset.columns or len(dataset.columns) != dataset.x[0].size:
        raise InputError(
            f"one_hot: dataset {dataset.name!r} names {len(dataset.columns)} columns for records "
            f"of shape {dataset.x.shape[1:]}; give a tabular set that names each column (adult)"
        )
    parts, names = [], []
    for column, values in zip(dataset.columns, dataset.x.T, strict=True):
        if column in dataset.categories:
            words = dataset.categories[column]
            parts.append(_indicators(dataset.name, column, values, len(words)))
            names += [f"{column}={word}" for word in words]
        else:
            numbers = values.astype(np.float64)
            parts.append((numbers - numbers.mean())[:, None] / (deviation(numbers) or 1.0))
            names.append(column)
    x = np.concatenate(parts, axis=1).astype(np.float32)
    return _changed(dataset, x=x, columns=tuple(names), categories={})


def _indicators(name: str, column: str, values: np.ndarray, n_codes: int) -> np.ndarray:
    codes = values.astype(np.int64)
    if (codes != values).any() or codes.min() < 0 or codes.max() >= n_codes:
        raise InputError(
            f"one_hot: column {column!r} of dataset {name!r} holds values from {values.min():g} "
            f"to {values.max():g}; give whole codes from 0 to {n_codes - 1}"
        )
    return np.eye(n_codes)[codes]
