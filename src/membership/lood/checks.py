"""What the room refuses, and how it says so."""

from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError
from membership.nngp.checks import positive, records


def noise_variance(value: Any) -> float:
    """Return the variance of the labels' noise, above 0."""
    return positive("noise", value)


def outputs(name: str, y: Any, n: int) -> FloatArray:
    """Return labels as float64 of shape (records, outputs)."""
    y = as_float64(name, y, 1 if np.ndim(y) <= 1 else 2)
    if len(y) != n:
        raise InputError(f"{name} has {len(y)} labels for {n} records; give one each")
    return y.reshape(n, -1)


def differing_records(
    differing: Any, x: FloatArray, y: FloatArray, allow_repeated: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the differing records (m, ...) and their labels (m, outputs).

    One record may come without its first axis.

    Raises
    ------
    InputError
        Not a pair, shapes do not match the training set's, or a record is in it already.
    """
    if not isinstance(differing, (tuple, list)) or len(differing) != 2:
        raise InputError("differing must be a pair (x_s, y_s): one record or a group, and labels")
    x_s, y_s = differing
    single = np.ndim(x_s) == x.ndim - 1
    x_s = records("differing", np.asarray(x_s)[None] if single else x_s, like=x)
    y_s = outputs("differing label", np.asarray(y_s)[None] if single else y_s, len(x_s))
    if y_s.shape[1] != y.shape[1]:
        raise InputError(f"differing label has {y_s.shape[1]} outputs; y has {y.shape[1]}")
    if not allow_repeated:
        for i, record in enumerate(x_s):
            rows = np.flatnonzero((x == record).reshape(len(x), -1).all(axis=1))
            if rows.size:
                raise InputError(
                    f"differing record {i} is row {rows[0]} of x already; take it out of x"
                )
    return x_s, y_s


def queries(query: Any, x: FloatArray) -> tuple[FloatArray, bool]:
    """Return queries (q, ...) and whether one came without its first axis."""
    single = np.ndim(query) == x.ndim - 1
    return records("query", np.asarray(query)[None] if single else query, like=x), single


def kernel_matrix(matrix: Any) -> FloatArray:
    """Return a square, symmetric, finite kernel matrix.

    Raises
    ------
    InputError
        It is something else; the message names an entry.
    """
    matrix = as_float64("kernel_matrix", matrix, 2)
    n = len(matrix)
    if matrix.shape != (n, n):
        raise InputError(f"kernel_matrix has shape {matrix.shape}; give a square matrix")
    size = float(np.abs(np.diagonal(matrix)).max())
    for i in range(0, n, 512):
        apart = np.abs(matrix[i : i + 512] - matrix[:, i : i + 512].T)
        if apart.max() > 1e-10 * size:
            row, column = np.unravel_index(apart.argmax(), apart.shape)
            raise InputError(
                f"kernel_matrix is not symmetric: entries ({row + i}, {column}) and its mirror "
                f"differ by {apart.max():.2g}"
            )
    return matrix
