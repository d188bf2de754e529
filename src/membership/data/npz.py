"""Reading and writing prepared files: plain arrays in a .npz, never a pickle."""

import io
import math
import os
import struct
import tokenize
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from membership import memory, paths
from membership.errors import InputError

# What NumPy and zipfile raise for files that are damaged or made to harm.
_DAMAGE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, SyntaxError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Deflate makes nothing smaller than a 1,032nd of it.
_MOST_PACKED = 1032
KEYS = "x_train, y_train, x_test, y_test (or x, y where there is no split)"


@dataclass(frozen=True, eq=False)
class Prepared:
    """The arrays of one prepared file, both splits joined, as they were stored.

    Parameters
    ----------
    x : ndarray, shape (records, ...)
        Images uint8 with channels last or absent, or tabular values.
    y : ndarray of int64, shape (records,)
    train : ndarray of bool, shape (records,), optional
        The official split.
    columns : tuple of str
    categories : dict of str to tuple of str
        As in `membership.data.Dataset`.
    extra : dict
        Per-record arrays that a data set needs for its own preparation (CIFAR-10's `rank`).
    """

    x: np.ndarray
    y: np.ndarray
    train: np.ndarray | None
    columns: tuple[str, ...] = ()
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extra: dict[str, np.ndarray] = field(default_factory=dict)

    def keep(self, records: np.ndarray) -> "Prepared":
        """Return these records only, in this order."""
        return Prepared(
            self.x[records],
            self.y[records],
            None if self.train is None else self.train[records],
            self.columns,
            self.categories,
            {name: values[records] for name, values in self.extra.items()},
        )


def read(path: Path) -> Prepared:
    """Read a prepared file, or a user's own of the same form."""
    if not os.path.isfile(path):
        raise InputError(f"{path} is no file; give a .npz with {KEYS}")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path} may not be read; change its permissions or give another file")
    if not zipfile.is_zipfile(path):
        raise InputError(f"{path} is truncated or no .npz; give a whole .npz with {KEYS}")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return _collect(path, archive)
    except InputError:
        raise
    except _DAMAGE as error:
        raise InputError(
            f"cannot read {path}: {reason(error)}; give a whole .npz of plain arrays with {KEYS}"
        ) from error


def _collect(path: Path, archive: np.lib.npyio.NpzFile) -> Prepared:
    held = set(archive.files)
    if {"x_train", "y_train"} <= held:
        splits = ["train", "test"] if {"x_test", "y_test"} <= held else ["train"]
        x, y = ([array(archive, f"{key}_{split}") for split in splits] for key in "xy")
        ranks = [array(archive, f"rank_{s}") for s in splits if f"rank_{s}" in held]
    elif {"x", "y"} <= held:
        splits, x, y, ranks = ["all"], [array(archive, "x")], [array(archive, "y")], []
    else:
        raise InputError(f"{path} holds {', '.join(sorted(held)) or 'nothing'}; give {KEYS}")
    for split, records, labels in zip(splits, x, y, strict=True):
        _check_split(path, split, records, labels, x[0].shape[1:], x[0].dtype)
    train = np.repeat([True, False], [len(x[0]), len(x[1])]) if len(splits) == 2 else None
    columns = _words(path, archive, "columns") if "columns" in held else ()
    if columns and len(columns) != x[0][0].size:
        raise InputError(
            f"{path}: columns names {len(columns)} features and a record has {x[0][0].size}; name "
            "each once, or leave columns out"
        )
    return Prepared(
        np.concatenate(x),
        np.concatenate(y).astype(np.int64),
        train,
        columns,
        {c: _words(path, archive, f"names_{c}") for c in columns if f"names_{c}" in held},
        {"rank": np.concatenate(ranks)} if len(ranks) == len(splits) else {},
    )


def array(archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    """Read one array, but only if what its header declares is there and fits into memory.

    Raises
    ------
    ValueError
        The member is encrypted, packed in an unusual way, no array, or not as large as it says.
    """
    info = archive.zip.getinfo(f"{name}.npy" if f"{name}.npy" in archive.zip.namelist() else name)
    if info.flag_bits & 1:
        raise ValueError(f"{name} is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is packed in a way that NumPy does not write")
    with archive.zip.open(info) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"{name} is of an unknown version of NumPy's format")
        shape, _, dtype = _HEADERS[version](file)
        size = math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and file.tell() + size != info.file_size:
            raise ValueError(f"{name} declares {size:,} bytes of data, which are not there")
    if info.file_size > _MOST_PACKED * (info.compress_size + 1):
        raise ValueError(f"{name} declares {size:,} bytes, more than its packed form can hold")
    if size > memory.available():
        raise ValueError(f"{name} takes {size:,} bytes, more memory than is free")
    return archive[name]


def _words(path: Path, archive: np.lib.npyio.NpzFile, name: str) -> tuple[str, ...]:
    words = array(archive, name)
    if words.ndim != 1 or words.dtype.kind != "U":
        raise InputError(
            f"{path}: {name} has shape {words.shape} and type {words.dtype}; give a list of words"
        )
    return tuple(map(str, words))


def _check_split(
    path: Path,
    split: str,
    x: np.ndarray,
    y: np.ndarray,
    record_shape: tuple[int, ...],
    dtype: np.dtype,
) -> None:
    where = "" if split == "all" else f"_{split}"
    if x.ndim < 2 or x.dtype.kind not in "buif" or 0 in x.shape[1:]:
        raise InputError(
            f"{path}: x{where} has shape {x.shape} and type {x.dtype}; "
            "give numbers of shape (records, features) or images"
        )
    if x.shape[1:] != record_shape:
        raise InputError(
            f"{path}: records of x_train have shape {record_shape} and of x{where} "
            f"{x.shape[1:]}; give one shape"
        )
    if x.ndim > 2 and x.dtype != dtype:
        raise InputError(
            f"{path}: images of x_train are {dtype} and of x{where} {x.dtype}, which are scaled "
            "unlike; give both as bytes (uint8) or both as floats"
        )
    if y.shape != (len(x),) or y.dtype.kind not in "bui":
        raise InputError(
            f"{path}: y{where} has shape {y.shape} and type {y.dtype}; "
            f"give one integer label for each of the {len(x)} records of x{where}"
        )


def reason(error: Exception) -> str:
    """Return the first line of an error's message, which other libraries may spread over many."""
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(":")


def write(path: Path, prepared: Prepared) -> None:
    """Write a prepared file, whole or not at all.

    Raises
    ------
    InputError
        The folder cannot be written to, or the disk is full.
    """
    if prepared.train is None:
        arrays: dict[str, Any] = {"x": prepared.x, "y": prepared.y}
    else:
        train, test = prepared.keep(prepared.train), prepared.keep(~prepared.train)
        arrays = {"x_train": train.x, "y_train": train.y, "x_test": test.x, "y_test": test.y}
    if prepared.columns:
        arrays["columns"] = np.array(prepared.columns)
    for column, meanings in prepared.categories.items():
        arrays[f"names_{column}"] = np.array(meanings)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    paths.atomic_write(path, buffer.getvalue())
