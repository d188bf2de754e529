"""Gaussian-process regression: the posterior of the latent function."""

from dataclasses import dataclass
from typing import Any

from membership.arrays import FloatArray
from membership.lood import checks
from membership.lood.linear import inverse_factor, moments
from membership.nngp.checks import records
from membership.nngp.kernels import Kernel


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
