"""A user's own data: every check that a registry's digest would have made unnecessary."""

import os
from pathlib import Path

import numpy as np

from membership import addresses
from membership.data import npz, own_images, own_table, registry
from membership.data.dataset import Dataset
from membership.data.digest import record_digest
from membership.data.npz import Prepared
from membership.data.prepare import as_float
from membership.data.registry import DIGITS, PURCHASE_LIKE
from membership.errors import InputError
from membership.settings import brief

ACCEPTED = (
    f"a .npz with {npz.KEYS}, a .csv or .parquet with a column of classes (`-p label COLUMN`), or "
    "a folder with one folder of images a class"
)


def load_own(path: Path, label: str = "") -> Dataset:
    """Load a user's own data set: a file, or a folder of images."""
    require_there(path)
    if path.is_dir():
        arrays, told = own_images.read(path), "folder"
    elif path.name.lower().endswith(addresses.TABLES):
        arrays, told = own_table.read(path, label), "file"
    else:
        arrays, told = npz.read(path), "file"
    source = f"The reader's own {told} {path.name}, {len(arrays.y):,} records."
    return own_dataset(arrays, _name(path.stem if told == "file" else path.name), source, str(path))


def own_dataset(arrays: Prepared, name: str, source: str, where: str) -> Dataset:
    """Check a user's own arrays and make a data set of them; `where` names them in messages."""
    if len(arrays.x) == 0:
        raise InputError(f"{where} holds no records; give at least one for each of two classes")
    _check_finite(where, arrays.x)
    n_classes = _count_classes(where, arrays.y)
    is_image = arrays.x.ndim > 2
    scale = 255.0 if is_image and arrays.x.dtype == np.uint8 else 1.0
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


def require_there(path: Path) -> None:
    """Refuse a path at which neither a file nor a folder lies."""
    if not os.path.exists(path):  # unlike the method it has no error of its own
        shown = brief(str(path), most=200)
        raise InputError(f"dataset={shown}: there is no such file; give {ACCEPTED}")


def _name(stem: str) -> str:
    """What to call it: never as a public data set, whose sizes and recipe a chapter would take."""
    public = stem in (*registry.names(), DIGITS) or stem.startswith(PURCHASE_LIKE)
    return f"own-{stem}" if public else stem


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
    found = np.unique(y)
    if len(found) < 2:
        raise InputError(f"{where}: every label is {found[0]}; give at least two classes")
    if found[0] != 0 or found[-1] != len(found) - 1:
        shown = ", ".join(map(str, found[:6])) + (", ..." if len(found) > 6 else "")
        raise InputError(
            f"{where}: the labels are {shown} (up to {found[-1]}); number the {len(found)} classes "
            f"0 to {len(found) - 1} without gaps"
        )
    return len(found)
