"""The record digest: one SHA-256 for a data set, whatever the order its records lie in."""

import hashlib
import math

import numpy as np


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
    x, y, train
        As for `record_hashes` and `combine`.
    """
    return combine(record_hashes(x, y), train)
