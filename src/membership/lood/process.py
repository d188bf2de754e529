"""Gaussian-process regression: the posterior of the latent function, from one Cholesky factor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri  # pyrefly: ignore[missing-module-attribute]

from membership import memory
from membership.arrays import FloatArray
from membership.errors import InputError
from membership.lood import checks
from membership.nngp.checks import records
from membership.nngp.kernels import Kernel

# A negative eigenvalue that rounding in the kernel may cause, relative to records x largest entry.
_ROUNDING = 1e-12
# Directions of a joint query with a smaller share of the largest variance repeat other queries.
_REPEATED = 1e-10


def inverse_factor(matrix: FloatArray, noise: float) -> FloatArray:
    """Return the lower triangular W with W' W = (matrix + noise I)^-1."""
    n = len(matrix)
    what = f"the inverse of the kernel matrix of {n:,} records"
    memory.require(8 * n * n, what, "give fewer records")
    tolerance = _ROUNDING * n * float(np.abs(np.diagonal(matrix)).max())
    if tolerance < noise:
        _factor(matrix, tolerance)
    return dtrtri(_factor(matrix, noise), overwrite_c=1)[0].T


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
    x : array of shape (n, ...)
    y : array of shape (n, outputs)
    noise : float
        Variance of the labels' noise.
    factor : array of shape (n, n)
        W, lower triangular, with W' W = (K + noise I)^-1.
    weights : array of shape (n, outputs)
        (K + noise I)^-1 y.
    """

    kernel: Kernel
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
        query, _ = checks.queries(query, self.x)
        cross = self.kernel(query, self.x)
        mean, variance, _ = moments(self.kernel.diagonal(query), cross, self.factor, self.weights)
        return mean, variance

    def joint(self, query: Any) -> tuple[FloatArray, FloatArray]:
        """Mean (q, outputs) and covariance (q, q) of the queries together."""
        query, _ = checks.queries(query, self.x)
        cross = self.kernel(query, self.x)
        reduced = cross @ self.factor.T
        return cross @ self.weights, self.kernel(query) - reduced @ reduced.T


def posterior(kernel: Kernel, x: Any, y: Any, noise: float) -> Posterior:
    """Condition a Gaussian process on noisy labels.

    Parameters
    ----------
    kernel : Kernel
        From `membership.nngp`.
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
    noise = checks.noise_variance(noise)
    x = records("x", x)
    y = checks.outputs("y", y, len(x))
    factor = inverse_factor(kernel(x), noise)
    return Posterior(kernel, x, y, noise, factor, factor.T @ (factor @ y))
