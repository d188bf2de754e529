"""Integer-coded columns made into what a network can read."""

from dataclasses import replace

import numpy as np

from membership.arrays import deviation
from membership.data.dataset import Dataset
from membership.data.digest import record_digest
from membership.errors import InputError


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
    return replace(
        dataset,
        x=x,
        digest=record_digest(x, dataset.y, dataset.official_train),
        verified=False,
        columns=tuple(names),
        categories={},
    )


def _indicators(name: str, column: str, values: np.ndarray, n_codes: int) -> np.ndarray:
    codes = values.astype(np.int64)
    if (codes != values).any() or codes.min() < 0 or codes.max() >= n_codes:
        raise InputError(
            f"one_hot: column {column!r} of dataset {name!r} holds values from {values.min():g} "
            f"to {values.max():g}; give whole codes from 0 to {n_codes - 1}"
        )
    return np.eye(n_codes)[codes]
