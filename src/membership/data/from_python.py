"""Arrays that a script holds, as a data set, and a data set as a file that chapters take."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from membership import paths
from membership.data import npz
from membership.data.dataset import Dataset
from membership.data.npz import Prepared
from membership.data.own import own_dataset
from membership.errors import InputError


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
    records, labels = _array(x), _array(y)
    if records.ndim < 2 or records.dtype.kind not in "buif":
        raise InputError(
            f"x has shape {records.shape} and type {records.dtype}; give numbers of shape "
            "(records, features) or images"
        )
    if labels.shape != records.shape[:1] or (labels.dtype.kind == "f" and (labels % 1).any()):
        raise InputError(
            f"y has shape {labels.shape} and type {labels.dtype}; give one label for each of the "
            f"{len(records)} records, in whole numbers or words"
        )
    classes, numbered = np.unique(labels, return_inverse=True)
    arrays = Prepared(records, numbered.astype(np.int64), None, columns=columns)
    told = ", ".join(map(str, classes[:10])) + (", ..." if len(classes) > 10 else "")
    source = f"Arrays of the reader's own, {len(records):,} records of the classes {told}."
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


def _array(values: Any) -> np.ndarray:
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)
