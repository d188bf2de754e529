"""A user's own .npz: every check that a registry's digest would have made unnecessary."""

from pathlib import Path

import numpy as np

from membership.data import npz
from membership.data.dataset import Dataset
from membership.data.digest import record_digest
from membership.data.prepare import as_float
from membership.errors import InputError


def load_own(path: Path) -> Dataset:
    """Load a user's own data set."""
    arrays = npz.read(path)
    if len(arrays.x) == 0:
        raise InputError(f"{path} holds no records; give at least one for each of two classes")
    _check_finite(path, arrays.x)
    n_classes = _count_classes(path, arrays.y)
    is_image = arrays.x.ndim > 2
    scale = 255.0 if is_image and arrays.x.dtype == np.uint8 else 1.0
    return Dataset(
        x=as_float(arrays.x, scale, str(path)),
        y=arrays.y,
        name=path.stem,
        n_classes=n_classes,
        source=f"The reader's own file {path.name}, {len(arrays.y):,} records.",
        digest=record_digest(arrays.x, arrays.y, arrays.train),
        official_train=arrays.train,
        columns=arrays.columns,
        categories=arrays.categories,
    )


def _check_finite(path: Path, x: np.ndarray) -> None:
    if x.dtype.kind != "f":
        return
    with np.errstate(over="ignore"):  # a number beyond float32 becomes infinity, and is named
        bad = ~np.isfinite(x.astype(np.float32)).reshape(len(x), -1).all(axis=1)
    if bad.any():
        raise InputError(
            f"{path}: {bad.sum():,} records of x hold NaN, infinity or a number beyond float32, "
            f"the first is record {np.argmax(bad)}; give finite numbers"
        )


def _count_classes(path: Path, y: np.ndarray) -> int:
    found = np.unique(y)
    if len(found) < 2:
        raise InputError(f"{path}: every label is {found[0]}; give at least two classes")
    if found[0] != 0 or found[-1] != len(found) - 1:
        shown = ", ".join(map(str, found[:6])) + (", ..." if len(found) > 6 else "")
        raise InputError(
            f"{path}: the labels are {shown} (up to {found[-1]}); number the {len(found)} classes "
            f"0 to {len(found) - 1} without gaps"
        )
    return len(found)
