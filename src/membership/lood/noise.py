"""The noise that the labels ask for: the leave-one-out likelihood, from one decomposition."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar

from membership import memory
from membership.arrays import FloatArray, as_float64
from membership.errors import InputError
from membership.lood.all_records import log_density
from membership.lood.kernels import matrix_of
from membership.lood.process import outputs

# Beside the kernel's mean diagonal.
_NOISES = np.geomspace(1e-6, 1e2, 33, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NoiseChoice:
    """A noise, and how well each predicts the records that it has not seen.

    Attributes
    ----------
    noise : float
        The best variance. At an end of `noises` the labels ask for less still, or more.
    noises : array of shape (asked,)
    log_likelihood : array of shape (asked,)
        Log density of each label under the model without its record, summed over records.
    """

    noise: float
    noises: FloatArray
    log_likelihood: FloatArray


def choose_noise(kernel: Any, x: Any = None, y: Any = None, noises: Any = None) -> NoiseChoice:
    """Choose the noise under which all others predict each label best.

    With A = (K + noise I)^-1, the label of record i has precision A_ii and residual
    (A y)_i / A_ii without it (Rasmussen and Williams 2006, Section 5.4.2). One eigendecomposition
    of K serves every noise. The best of `noises` is refined between its neighbours.

    Parameters
    ----------
    kernel, x, y
        As `posterior`; a matrix goes without `x`.
    noises : array of shape (asked,), optional
        Above 0, rising. By default 33 from 1e-6 to 100 times the kernel's mean diagonal.

    Returns
    -------
    NoiseChoice

    Raises
    ------
    InputError
        As `leave_one_out`, or a noise is not above 0, or they do not rise.

    Examples
    --------
    >>> import numpy as np
    >>> from membership import lood, nngp
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, size=(200, 1))
    >>> y = np.sin(x[:, 0]) + rng.normal(0, 0.3, size=200)
    >>> round(lood.choose_noise(nngp.rbf(0.5), x, y).noise, 2)
    0.1
    """
    matrix = matrix_of(kernel, x)
    y, n = outputs("y", y, len(matrix)), len(matrix)
    memory.require(16 * n * n, f"the eigenvectors of {n:,} records", "give fewer records")
    values, vectors = eigh(matrix)
    if values[0] < -1e-12 * n * values[-1] or not values[-1] > 0:
        raise InputError(f"kernel_matrix has the eigenvalue {values[0]:.3g}: give a covariance")
    size = float(np.diagonal(matrix).mean())
    noises = as_float64("noises", size * _NOISES if noises is None else noises, 1)
    if not ((noises > 0).all() and (np.diff(noises) > 0).all()):
        raise InputError("noises: give variances above 0 that rise")
    values, squared, along = np.maximum(values, 0), np.square(vectors), vectors.T @ y

    def likelihood(noise: float) -> float:
        inverse = 1 / (values + noise)
        precision = squared @ inverse
        residual = vectors @ (inverse[:, None] * along) / precision[:, None]
        return float(log_density(precision, residual).sum())

    found = np.array([likelihood(noise) for noise in noises])
    best = int(found.argmax())
    noise = float(noises[best])
    if 0 < best < len(noises) - 1:
        ends = np.log(noises[[best - 1, best + 1]])
        refined = minimize_scalar(lambda at: -likelihood(np.exp(at)), bounds=ends, method="bounded")
        noise = float(np.exp(refined.x)) if -refined.fun >= found[best] else noise
    return NoiseChoice(noise, noises, found)
