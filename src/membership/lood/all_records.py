"""Every record queried at itself, with and without it: a Gaussian process, and trained networks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.lood.contrast import Contrast, told
from membership.lood.kernels import matrix_of, symmetric_matrix
from membership.lood.process import inverse_factor, outputs
from membership.nngp.checks import positive


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What the model shows of each record at that record itself; all arrays are (records,).

    Attributes
    ----------
    kl : KL(f_D || f_D') in nats, D' being all records and D all but one.
    kl_reverse : the other direction.
    mean_distance : half the squared distance of the means.
    auc : of the best test between f_D and f_D', in [1/2, 1).
    variance : the posterior variance at the record without it.
    residual : of shape (records, outputs), label less prediction without the record.
    log_density : of the record's label, noise included, under the model without it; in nats.
    """

    kl: FloatArray
    kl_reverse: FloatArray
    mean_distance: FloatArray
    auc: FloatArray
    variance: FloatArray
    residual: FloatArray
    log_density: FloatArray


def leave_one_out(
    kernel: Any = None,
    x: Any = None,
    y: Any = None,
    noise: Any = None,
    *,
    kernel_matrix: Any = None,
) -> LeaveOneOut:
    """Leave each record out of a Gaussian process in turn and query the record itself.

    With A = (K + noise I)^-1, leaving record i out gives the variance v_i = (K A)_ii / A_ii at it,
    which is 1/A_ii - noise, and the residual (A y)_i / A_ii (Rasmussen and Williams 2006, Section
    5.4.2). At the record, the variance ratio is 1 + v/noise and the mean moves by v/(v + noise) of
    the residual. No other query tells more: the record's own is the maximum of every f-divergence.
    Beside the kernel matrix, a second one of its size is held: together 1.6 GB for 10,000 records.

    Parameters
    ----------
    kernel, x
        As `posterior`. A matrix may go without `x`: ``leave_one_out(kernel_matrix, y, noise)``.
    y : array of shape (n,) or (n, outputs)
    noise : float
        Variance of the labels' noise, above 0.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    InputError
        The matrix is not symmetric, not positive semi-definite or 0, a shape does not match, the
        noise is not above 0 or so small that float64 cannot tell, or a second matrix of this size
        does not fit into memory.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import Matern
    >>> from membership import lood
    >>> x, y = [[0.0], [0.1], [2.0]], [0.0, 1.0, 0.0]
    >>> lood.leave_one_out(Matern(nu=2.5), x, y, 0.1).auc.round(2)
    array([0.88, 0.9 , 0.81])
    """
    if noise is None:
        x, y, noise = None, x, y
    elif y is None:
        x, y = None, x
    matrix = matrix_of(kernel if kernel_matrix is None else kernel_matrix, x)
    noise = positive("noise", noise)
    y = outputs("y", y, len(matrix))
    factor = inverse_factor(matrix, noise)
    diagonal = np.einsum("ij,ij->j", factor, factor)
    residual = factor.T @ (factor @ y) / diagonal[:, None]
    variance = _explained(matrix, factor, diagonal, noise) / diagonal
    return told_of(diagonal, variance, residual, noise)


def told_of(
    precision: FloatArray, variance: FloatArray, residual: FloatArray, noise: float
) -> LeaveOneOut:
    """Tell both models apart, from the moments of each record without it."""
    share, squared = variance / (variance + noise), np.square(residual).sum(axis=1)
    with np.errstate(over="ignore"):
        move = squared * share**2
        # The variance with the record is noise * share.
        shift, excess = squared * share / noise, variance / noise
    contrast = told(excess[:, None], shift[:, None], move / 2, residual.shape[1])
    both = contrast.kl(), contrast.kl_reverse()
    density = log_density(precision, residual)
    return LeaveOneOut(*both, move / 2, contrast.auc(), variance, residual, density)


def log_density(precision: FloatArray, residual: FloatArray) -> FloatArray:
    """Log density of residuals (n, outputs) of such a precision (n,), summed over outputs."""
    squared = np.square(residual).sum(axis=1)
    return 0.5 * (residual.shape[1] * np.log(precision / (2 * np.pi)) - precision * squared)


# Where this share or less is explained, 1 - noise A_ii has lost the digits of (K A)_ii.
_CANCELLED = 1e-6
_COLUMNS = 256


def _explained(
    matrix: FloatArray, factor: FloatArray, diagonal: FloatArray, noise: float
) -> FloatArray:
    """(K A)_ii = 1 - noise A_ii, the share of each label that the fit explains."""
    share = 1 - noise * diagonal
    lost = np.flatnonzero(share < _CANCELLED)
    for i in range(0, len(lost), _COLUMNS):
        columns = lost[i : i + _COLUMNS]
        inverse = factor.T @ factor[:, columns]
        share[columns] = np.einsum("ij,ij->j", matrix[:, columns], inverse)
    # Rounding may take a share of nearly zero below it.
    return np.maximum(share, 0.0)


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
    ridge = positive("ridge", ridge)
    prior, tangent = symmetric_matrix(prior), symmetric_matrix(tangent)
    if prior.shape != tangent.shape:
        raise InputError(f"prior has shape {prior.shape} and tangent {tangent.shape}; give one")
    y = outputs("y", y, len(prior))
    every, parts = np.arange(len(prior)), []
    for record in np.asarray(records):
        (mean, variance), (mean_s, variance_s) = (
            _moments(prior, tangent, y, rows, record, ridge)
            for rows in (np.delete(every, record), every)
        )
        move = float(np.square(mean - mean_s).sum())
        parts.append((variance / variance_s - 1, move / variance_s, move / 2))
    excess, shift, distance = np.array(parts).T
    return told(excess[:, None], shift[:, None], distance, y.shape[1])


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
