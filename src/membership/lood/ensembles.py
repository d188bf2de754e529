"""Wide networks trained by gradient descent, with a record and without it: their law at it."""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.lood import checks
from membership.lood.contrast import Contrast


def trained_ensembles(prior: Any, tangent: Any, y: Any, records: Any, ridge: float) -> Contrast:
    """What trained networks show of each of some records at that record itself.

    A wide network f_0 ~ N(0, K) that is trained to the end by squared error, with a ridge at its
    start, becomes f_0 + Theta (Theta + ridge I)^-1 (y - f_0) (Lee et al. 2019, Equations 13 to 15;
    with their ridge of 0 it meets every label). Over random starts that is a normal law, and no
    posterior: a record may raise its variance.

    Parameters
    ----------
    prior, tangent : array of shape (n, n)
        K, the covariance of the network's output at the start, and Theta, its tangent kernel; of
        all records.
    y : array of shape (n,) or (n, outputs)
    records : array of int, shape (asked,)
        The records that D lacks, one at a time.
    ridge : float
        Above 0.

    Returns
    -------
    Contrast
        Its arrays begin with the axis (asked,).

    Raises
    ------
    InputError
        A matrix is not symmetric or not positive semi-definite, a shape does not match, or the
        ridge is not above 0.
    """
    ridge = checks.noise_variance(ridge)
    prior, tangent = checks.kernel_matrix(prior), checks.kernel_matrix(tangent)
    if prior.shape != tangent.shape:
        raise InputError(f"prior has shape {prior.shape} and tangent {tangent.shape}; give one")
    y = checks.outputs("y", y, len(prior))
    every, parts = np.arange(len(prior)), []
    for record in np.asarray(records):
        (mean, variance), (mean_s, variance_s) = (
            _moments(prior, tangent, y, rows, record, ridge)
            for rows in (np.delete(every, record), every)
        )
        move = float(np.square(mean - mean_s).sum())
        parts.append((variance / variance_s - 1, move / variance_s, move / 2))
    excess, shift, distance = np.array(parts).T
    return Contrast(excess[:, None], shift[:, None], distance, y.shape[1])


def _moments(
    prior: FloatArray, tangent: FloatArray, y: FloatArray, rows: np.ndarray, at: int, ridge: float
) -> tuple[FloatArray, float]:
    """Mean (outputs,) and variance at a record of networks that were trained on some rows."""
    matrix = tangent[np.ix_(rows, rows)] + ridge * np.eye(len(rows))
    try:
        weights = cho_solve(cho_factor(matrix), tangent[rows, at])
    except LinAlgError:
        raise InputError("tangent is not positive semi-definite: give a tangent kernel") from None
    # Of f_0(at) - weights f_0(rows).
    mixed = -2 * weights @ prior[rows, at] + weights @ prior[np.ix_(rows, rows)] @ weights
    return weights @ y[rows], float(prior[at, at] + mixed)
