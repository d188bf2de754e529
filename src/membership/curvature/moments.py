"""Mean and covariance of gradients, and coordinates in which the covariance is the identity."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigh

from membership.arrays import FloatArray, as_float64, one_of
from membership.errors import InputError

SHRINKAGES = ("none", "ledoit-wolf")
# What a covariance may lack in symmetry or in eigenvalues of 0 or more, relative to its size.
_ROUNDING = 1e-8


class Moments(NamedTuple):
    """What the adversary knows of the gradients: mean (d,) and covariance (d, d)."""

    mean: FloatArray
    covariance: FloatArray


def gradient_moments(background: Any, shrinkage: str = "none") -> Moments:
    """Estimate the moments of the gradients from records of the same kind.

    Parameters
    ----------
    background : array of shape (records, d)
        Their gradients; none of them may be queried.
    shrinkage : {"none", "ledoit-wolf"}
        "ledoit-wolf" pulls the covariance towards a multiple of the identity, which makes it
        invertible for any number of records. It fills the null space too: leave out redundant
        entries, such as one class of a softmax layer, before.

    Returns
    -------
    Moments

    Raises
    ------
    InputError
        Fewer than two records, entries not finite, or too few records to tell the rank of the
        covariance without shrinkage.
    """
    x = as_float64("background", background, 2)
    n, d = x.shape
    one_of("shrinkage", shrinkage, SHRINKAGES)
    if n < 2:
        raise InputError(f"background has {n} record; give at least 2")
    mean = x.mean(axis=0)
    if shrinkage == "ledoit-wolf":
        from sklearn.covariance import ledoit_wolf  # slow to import

        return Moments(mean, ledoit_wolf(x)[0])
    centred = x - mean
    covariance = centred.T @ centred / (n - 1)
    # n records span n - 1 directions: a covariance that fills them may have more.
    if n <= d and whitening(covariance).shape[1] >= n - 1:
        raise InputError(
            f"background has {n} records, too few for the rank of a covariance of {d} entries; "
            f'give more than {d}, better several times as many, or shrinkage="ledoit-wolf"'
        )
    return Moments(mean, covariance)


def whitening(covariance: Any) -> FloatArray:
    """Return W of shape (d, rank) with W W' the pseudo-inverse of a covariance.

    The rank counts eigenvalues above the rounding error of the largest, d * 2.2e-16 of it.

    Raises
    ------
    InputError
        The covariance is not square, not symmetric, has a negative eigenvalue beyond rounding
        (1e-8 of the largest) or rank zero.
    """
    covariance = as_float64("covariance", covariance, 2)
    if covariance.shape[0] != covariance.shape[1]:
        raise InputError(f"covariance has shape {covariance.shape}; give a square matrix")
    scale = np.abs(covariance).max()
    if np.abs(covariance - covariance.T).max() > _ROUNDING * scale:
        raise InputError("covariance is not symmetric; give a covariance matrix")
    try:
        values, vectors = eigh(covariance, check_finite=False, driver="evd")
    except LinAlgError:
        raise InputError("covariance has no eigenvalues to working precision") from None
    if values[0] < -_ROUNDING * np.abs(values).max():
        raise InputError(
            f"covariance has the negative eigenvalue {values[0]:g}; give a covariance matrix, "
            "computed in float64"
        )
    kept = values > max(values[-1], 0.0) * len(values) * np.finfo(np.float64).eps
    if not kept.any():
        raise InputError("covariance has rank zero; give gradients that differ between records")
    return vectors[:, kept] / np.sqrt(values[kept])
