"""What every record, or group, changes at any queries, from one inverse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from membership import memory
from membership.arrays import FloatArray
from membership.errors import InputError
from membership.lood.comparison import left_variance
from membership.lood.contrast import Contrast, told
from membership.lood.kernels import blocks, matrix_of, points, read, row_numbers
from membership.lood.process import inverse_factor, outputs, priors, queries
from membership.nngp.checks import positive

# Where this share or less is explained, 1 - noise A has lost the digits of K A.
_CANCELLED = 1e-6
_BLOCK = 512


@dataclass(frozen=True, eq=False)
class Influence:
    """What changes at each query as each record, or group, joins all others.

    Attributes
    ----------
    mean : array of shape (records, queries, outputs)
        Prediction with it, less that without.
    variance : array of shape (records, queries)
        By how much the posterior variance falls, 0 or more.
    contrast : Contrast
        Its arrays begin with the axes (records, queries): `Contrast.kl`, `Contrast.auc`.
    """

    mean: FloatArray
    variance: FloatArray
    contrast: Contrast


def influence(
    kernel: Any,
    x: Any = None,
    y: Any = None,
    query: Any = None,
    noise: Any = None,
    *,
    groups: Sequence[Any] | None = None,
) -> Influence:
    """Measure what each record changes at each query, without a refit.

    With A = (K + noise I)^-1 over all records, a query gives the records the weights
    w = k(q, x) A. Leaving out the group G moves its prediction by w_G A_GG^-1 (A y)_G and raises
    its variance by w_G A_GG^-1 w_G (Rasmussen and Williams 2006, Section 5.4.2, for one record).

    Parameters
    ----------
    kernel, x, y, noise
        As `posterior`, all records among them. A triple (K_DD, K_QD, K_QQ) goes without `x` and
        `query`; of K_QQ the diagonal will do.
    query : array of shape (queries, ...) or of one record's shape
    groups : sequence of arrays of int, optional
        The rows of each group, which may overlap (`twins`); by default each record alone.

    Returns
    -------
    Influence

    Raises
    ------
    InputError
        As `posterior` and `compare`, a group names no rows or one twice, or what comes out does
        not fit into memory.

    Examples
    --------
    >>> from membership import lood, nngp
    >>> x, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 0.0]
    >>> lood.influence(nngp.rbf(), x, y, [[0.9], [2.9]], 0.1).mean[..., 0].round(2)
    array([[-0.04,  0.  ],
           [ 0.86,  0.01],
           [ 0.  , -0.02]])
    """
    noise = positive("noise", noise)
    matrix, cross, prior = _matrices(kernel, x, query)
    y, groups = outputs("y", y, len(matrix)), _checked(groups, len(matrix))
    cells = len(groups) * len(cross)
    what = f"the influence of {len(groups):,} groups on {len(cross):,} queries"
    memory.require(8 * cells * (y.shape[1] + 5), what, "give fewer queries at a time")
    factor = inverse_factor(matrix, noise)
    weights, reduced = factor.T @ (factor @ y), cross @ factor.T
    asked = (reduced @ factor).T
    mean, fall = (
        np.empty((*(len(groups), len(cross)), y.shape[1])),
        np.empty((len(groups), len(cross))),
    )
    for i, rows in enumerate(groups):
        root = cholesky(factor[:, rows].T @ factor[:, rows], lower=True)
        u = solve_triangular(root, asked[rows], lower=True)
        mean[i] = u.T @ solve_triangular(root, weights[rows], lower=True)
        fall[i] = np.square(u).sum(axis=0)
    left = left_variance(prior - np.square(reduced).sum(axis=1), prior)
    move = np.square(mean).sum(axis=2)
    contrast = told((fall / left)[..., None], (move / left)[..., None], move / 2, y.shape[1])
    return Influence(mean, fall, contrast)


def leave_groups_out(
    kernel: Any, x: Any = None, y: Any = None, groups: Any = None, noise: Any = None
) -> Contrast:
    """Leave each group of records out in turn and query its own records, jointly.

    No queries tell more of the group. From the block A_GG of the one inverse: the group's labels
    have the covariance A_GG^-1 under the model without it, noise included.

    Parameters
    ----------
    kernel, x, y, noise, groups
        As `influence`; a matrix goes without `x`.

    Returns
    -------
    Contrast
        Its arrays begin with the axis (groups,); a group has as many directions as records.

    Raises
    ------
    InputError
        As `influence`.

    Examples
    --------
    >>> from membership import lood, nngp
    >>> x, y = [[0.0], [1e-3], [3.0]], [1.0, 1.0, 0.0]
    >>> groups = lood.twins(nngp.rbf(), x)
    >>> lood.leave_groups_out(nngp.rbf(), x, y, groups, 0.1).auc().round(2)
    array([0.91, 0.91, 0.81])
    """
    noise, matrix = positive("noise", noise), matrix_of(kernel, x)
    y, groups = outputs("y", y, len(matrix)), _checked(groups, len(matrix))
    factor = inverse_factor(matrix, noise)
    weights = factor.T @ (factor @ y)
    excess, shift = np.zeros((2, len(groups), max(map(len, groups))))
    mean = np.empty(len(groups))
    for i, rows in enumerate(groups):
        block = factor[:, rows].T @ factor[:, rows]
        share = np.eye(len(rows)) - noise * block
        if np.abs(share).max() < _CANCELLED:
            share = matrix[rows] @ (factor.T @ factor[:, rows])
        precision, vectors = eigh(block)
        part = np.maximum(np.einsum("ij,ij->j", vectors, share @ vectors), 0.0)
        squared = np.square(vectors.T @ weights[rows]).sum(axis=1) / precision**2
        excess[i, : len(rows)] = part / (noise * precision)
        shift[i, : len(rows)] = part * squared / noise
        mean[i] = (part**2 * squared).sum() / 2
    return told(excess, shift, mean, y.shape[1])


def twins(kernel: Any, x: Any = None, least: float = 0.99) -> list[np.ndarray]:
    """Group each record with those that the kernel hardly tells from it.

    Parameters
    ----------
    kernel, x
        As `posterior`; a matrix goes without `x`.
    least : float
        Correlation k(x, x') / sqrt(k(x, x) k(x', x')) from which on two are twins, in (0, 1].

    Returns
    -------
    list of ndarray of int
        Rows of each record's group, itself among them.

    Raises
    ------
    InputError
        As `posterior`, or `least` is outside its range.

    Examples
    --------
    >>> from membership import lood, nngp
    >>> lood.twins(nngp.rbf(), [[0.0], [1e-3], [3.0]])
    [array([0, 1]), array([0, 1]), array([2])]
    """
    if positive("least", least) > 1:
        raise InputError(f"least = {least}: give a correlation above 0, at most 1")
    matrix, found = matrix_of(kernel, x), []
    size = np.sqrt(np.diagonal(matrix))
    for i in range(0, len(matrix), _BLOCK):
        near = matrix[i : i + _BLOCK] >= least * size[i : i + _BLOCK, None] * size
        np.fill_diagonal(near[:, i:], True)
        found += [np.flatnonzero(row) for row in near]
    return found


def _matrices(kernel: Any, x: Any, query: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """K_DD, K_QD and the diagonal of K_QQ."""
    if isinstance(kernel, (tuple, list)) and len(kernel) == 3 and x is None and query is None:
        matrix, cross, qq = blocks(*kernel)
        return matrix, cross, qq if qq.ndim == 1 else np.diagonal(qq)
    kernel = read(kernel)
    if x is None or query is None:
        raise InputError("x or query is missing: only (K_DD, K_QD, K_QQ) goes without")
    x = points(kernel, "x", x)
    query, _ = queries(query, x)
    return kernel(x), kernel(query, x), priors(kernel, query)


def _checked(groups: Any, n: int) -> list[np.ndarray]:
    if groups is None:
        return list(np.arange(n)[:, None])
    if not isinstance(groups, Sequence | np.ndarray) or isinstance(groups, str):
        raise InputError(f"groups = {groups!r}: give a sequence of groups, the rows of each")
    groups = [row_numbers(f"groups[{i}]", rows, n) for i, rows in enumerate(groups)]
    twice = [i for i, rows in enumerate(groups) if len(np.unique(rows)) < len(rows)]
    if twice or not groups:
        where = f"groups[{twice[0]}] names a row twice" if twice else "groups is empty"
        raise InputError(f"{where}; give the rows of each group once")
    return groups
