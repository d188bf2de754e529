"""Every record left out in turn, from one inverse."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.arrays import FloatArray
from membership.lood import checks
from membership.lood.contrast import Contrast
from membership.lood.process import inverse_factor


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
    """

    kl: FloatArray
    kl_reverse: FloatArray
    mean_distance: FloatArray
    auc: FloatArray
    variance: FloatArray
    residual: FloatArray


def leave_one_out(kernel_matrix: Any, y: Any, noise: float) -> LeaveOneOut:
    """Leave each record out of a Gaussian process in turn and query the record itself.

    With A = (K + noise I)^-1, leaving record i out gives the variance v_i = 1/A_ii - noise at it
    and the residual (A y)_i / A_ii (Rasmussen and Williams 2006, Section 5.4.2). At the record,
    the variance ratio is 1 + v/noise and the mean moves by v/(v + noise) of the residual.
    No other query tells more: the record's own is the maximum of every f-divergence. Beside the
    kernel matrix, a second one of its size is held: together 1.6 GB for 10,000 records.

    Parameters
    ----------
    kernel_matrix : array of shape (n, n)
        Of all records.
    y : array of shape (n,) or (n, outputs)
    noise : float
        Variance of the labels' noise, above 0.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    InputError
        The matrix is not symmetric or not positive semi-definite, a shape does not match, the
        noise is not above 0, or a second matrix of this size does not fit into memory.
    """
    noise = checks.noise_variance(noise)
    matrix = checks.kernel_matrix(kernel_matrix)
    y = checks.outputs("y", y, len(matrix))
    factor = inverse_factor(matrix, noise)
    diagonal = np.einsum("ij,ij->j", factor, factor)
    residual = factor.T @ (factor @ y) / diagonal[:, None]
    # Rounding may take a variance of nearly zero below it.
    variance = np.maximum(1 / diagonal - noise, 0.0)
    share = variance / (variance + noise)
    move = np.square(residual).sum(axis=1) * share**2
    # The variance with the record is noise * share.
    shift = np.square(residual).sum(axis=1) * share / noise
    contrast = Contrast((variance / noise)[:, None], shift[:, None], move / 2, y.shape[1])
    return LeaveOneOut(
        contrast.kl(), contrast.kl_reverse(), move / 2, contrast.auc(), variance, residual
    )
