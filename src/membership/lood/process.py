"""Gaussian-process regression: what it takes, and the posterior of the latent function."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri  # pyrefly: ignore[missing-module-attribute]

from membership import memory
from membership.arrays import LARGEST, FloatArray, as_float64
from membership.errors import InputError
from membership.lood.kernels import points, read, row_numbers
from membership.nngp.checks import positive, records


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
    x_s, single = _alike("differing", x_s, x)
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
    return _alike("query", query, x)


def _alike(name: str, values: Any, x: FloatArray) -> tuple[FloatArray, bool]:
    """Records as those of x, or row numbers where x is, and whether it was a single one."""
    single = np.ndim(values) == x.ndim - 1
    values = np.asarray(values)[None] if single else values
    if x.ndim == 1:
        return row_numbers(name, values), single
    return records(name, values, like=x), single


def require_gradients(kernel: Any) -> None:
    """Raise an InputError unless a kernel is a JAX function too."""
    if not hasattr(kernel, "traceable"):
        raise InputError(
            f"kernel = {kernel!r}: queries by gradient take one of membership.nngp, or an "
            "nngp.Kernel of your own with evaluate(x1, x2, xp) and evaluate_diagonal(x, xp)"
        )


# A negative eigenvalue that rounding in the kernel may cause, relative to records x largest entry.
_ROUNDING = 1e-12
# From here on a precision beside the kernel's size is all rounding.
_NO_DIGIT = 0.5 / np.finfo(np.float64).eps
# Directions of a joint query with a smaller share of the largest variance repeat other queries.
_REPEATED = 1e-10


def inverse_factor(matrix: FloatArray, noise: float) -> FloatArray:
    """Return the lower triangular W with W' W = (matrix + noise I)^-1."""
    n = len(matrix)
    what = f"the inverse of the kernel matrix of {n:,} records"
    memory.require(8 * n * n, what, "give fewer records")
    size = float(np.abs(np.diagonal(matrix)).max())
    if size < np.finfo(np.float64).tiny:
        raise InputError(
            "the kernel has vanished: its entries are 0 at all records; give fewer layers, larger "
            "deviations or larger records"
        )
    if size > LARGEST:
        raise InputError(f"the kernel has entries up to {size:.3g}; give at most {LARGEST:g}")
    tolerance = _ROUNDING * n * size
    if tolerance < noise:
        _factor(matrix, tolerance)
    factor = dtrtri(_factor(matrix, noise), overwrite_c=1)[0].T
    largest = float(np.einsum("ij,ij->j", factor, factor).max())
    if not largest * size < _NO_DIGIT:
        raise InputError(
            f"noise = {noise:g} is lost in the rounding of a kernel of size {size:.3g}: give more "
            "noise, or records that differ more"
        )
    return factor


def _factor(matrix: FloatArray, ridge: float) -> FloatArray:
    """Upper triangular R with R' R = matrix + ridge I."""
    # The transpose of a symmetric matrix is the same one in the order in which LAPACK stores.
    work = matrix.copy().T
    work[np.diag_indices_from(work)] += ridge
    return _cholesky(work, lower=False)


def lower_factor(matrix: FloatArray) -> FloatArray:
    """Cholesky's factor of a covariance, L with L L' = matrix."""
    return _cholesky(matrix.copy(), lower=True)


def _cholesky(matrix: FloatArray, lower: bool) -> FloatArray:
    try:
        return cholesky(matrix, lower=lower, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise InputError(
            "kernel_matrix is not positive semi-definite, or so large that rounding hides the "
            "noise; give the matrix of a covariance function, and noise on its scale"
        ) from None


def whitened(covariance: FloatArray, cross: FloatArray) -> FloatArray:
    """Return W cross with W' W the pseudo-inverse of a covariance of queries."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > max(_REPEATED * values[-1], 0.0)
    return (vectors[:, kept] / np.sqrt(values[kept])).T @ cross


def priors(kernel: Any, query: FloatArray) -> FloatArray:
    """k(q, q) of each query, refused where it is 0 by underflow: that of zeros may be 0."""
    prior = kernel.diagonal(query)
    faint = prior < np.finfo(np.float64).tiny
    if faint.any() and query.ndim > 1 and query[faint].any():
        raise InputError(
            "the kernel has vanished: it is 0 at a query that is not; give fewer layers, larger "
            "deviations or a larger query"
        )
    return prior


def moments(prior, cross, factor, weights):
    """Posterior mean (q, outputs), variance (q,) and W cross (q, n) at separate queries."""
    reduced = cross @ factor.T
    return cross @ weights, prior - (reduced * reduced).sum(axis=1), reduced


@dataclass(frozen=True, eq=False)
class Posterior:
    """The latent function given records and noisy labels; see `posterior`.

    Attributes
    ----------
    kernel : Kernel
        Or what stands for one: called with one set of records or two, and `diagonal`.
    x : array of shape (n, ...)
    y : array of shape (n, outputs)
    noise : float
        Variance of the labels' noise.
    factor : array of shape (n, n)
        W, lower triangular, with W' W = (K + noise I)^-1.
    weights : array of shape (n, outputs)
        (K + noise I)^-1 y.
    """

    kernel: Any
    x: FloatArray
    y: FloatArray
    noise: float
    factor: FloatArray
    weights: FloatArray

    def predict(self, query: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance at each query, without the labels' noise.

        Parameters
        ----------
        query : array of shape (q, ...) or of one record's shape

        Returns
        -------
        mean : ndarray of shape (q, outputs)
        variance : ndarray of shape (q,)
            Of each output.
        """
        query, _ = queries(query, self.x)
        cross = self.kernel(query, self.x)
        mean, variance, _ = moments(priors(self.kernel, query), cross, self.factor, self.weights)
        return mean, variance

    def joint(self, query: Any) -> tuple[FloatArray, FloatArray]:
        """Mean (q, outputs) and covariance (q, q) of the queries together."""
        query, _ = queries(query, self.x)
        cross = self.kernel(query, self.x)
        reduced = cross @ self.factor.T
        return cross @ self.weights, self.kernel(query) - reduced @ reduced.T


def posterior(kernel: Any, x: Any, y: Any, noise: float) -> Posterior:
    """Condition a Gaussian process on noisy labels.

    Parameters
    ----------
    kernel : Kernel, kernel of scikit-learn or GPyTorch, function, matrix or three
        A function makes the matrix of two sets of records. To a matrix, records are the numbers
        of its rows; to a triple (K_DD, K_QD, K_QQ), those of Q follow on those of D.
    x : array of shape (n, ...)
    y : array of shape (n,) or (n, outputs)
        Independent outputs with the same kernel.
    noise : float
        Variance of the labels' noise, above 0.

    Raises
    ------
    InputError
        A shape, the noise or the kernel is unusable, or the matrices do not fit into memory.
    """
    kernel, noise = read(kernel), positive("noise", noise)
    x = points(kernel, "x", x)
    y = outputs("y", y, len(x))
    factor = inverse_factor(kernel(x), noise)
    return Posterior(kernel, x, y, noise, factor, factor.T @ (factor @ y))
