r"""How SGD spreads where epochs are shuffled, and where batches are drawn anew.

On a quadratic the weights along an eigenvector of the Hessian move by themselves:
:math:`h_t = \mu h_{t-1} + k (w_{t-1} - w_*) + \eta_t`, :math:`w_t = w_{t-1} - \lambda h_t`, with k
the curvature (weight decay in it) and :math:`\eta_t` the noise of a batch's mean gradient. Batches
drawn anew have independent noise, of variance :math:`G / S` for batches of S records and a variance
G between records. The n records of a shuffled epoch are dealt out without replacement instead:

.. math:: \operatorname{cov}(\eta_i, \eta_j) = G\,\Bigl(\frac{\delta_{ij}}{S_i} - \frac1n\Bigr),

so that what one batch adds the others of its epoch take away again. Where the curvature is small an
epoch's noise is nearly gone at its end.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError


def epochs_variance(
    curvature: Any,
    noise: Any,
    momentum: float,
    rates: Sequence[float],
    sizes: Sequence[int],
    *,
    shuffled: bool = True,
) -> FloatArray:
    r"""The variance of the weights along each direction after some epochs of SGD, exactly.

    All runs begin at one place, with no velocity. For a constant rate, many epochs and no momentum
    the ratio of shuffled epochs to batches drawn anew tends to :math:`1 - \tanh(a) / a` at
    :math:`a = \lambda k m / 2` for m small steps an epoch: :math:`a^2 / 3` in flat directions, 1 in
    steep ones.

    Parameters
    ----------
    curvature : array of shape (p,)
        Eigenvalues of the regularised loss's Hessian.
    noise : array of shape (p,)
        Variance between records of their gradients along the eigenvectors, not negative.
    momentum : float
        :math:`\mu` in [0, 1); the velocity is ``h <- momentum * h + gradient`` (as in torch).
    rates : sequence of float, shape (epochs,)
        The learning rate of each epoch, not negative.
    sizes : sequence of int, shape (steps,)
        Records in each batch of an epoch, in order.
    shuffled : bool, default True
        Whether every record is in one batch of each epoch; else each batch is drawn anew.

    Returns
    -------
    numpy.ndarray of float64, shape (p,)

    Raises
    ------
    InputError
        Shapes disagree, or a number is outside its range.

    Notes
    -----
    Kuehn and Rosenow (2023), *Anti-Correlated Noise in Epoch-Based Stochastic Gradient Descent*,
    arXiv 2306.05300, has the autocorrelation and closed forms for steep and for flat directions.

    Examples
    --------
    >>> from membership import curvature
    >>> recipe = dict(momentum=0.0, rates=[0.01] * 2000, sizes=[10] * 20)
    >>> dealt = curvature.epochs_variance([0.1, 10.0], [1.0, 1.0], **recipe)
    >>> anew = curvature.epochs_variance([0.1, 10.0], [1.0, 1.0], **recipe, shuffled=False)
    >>> (dealt / anew).round(4).tolist()
    [0.0, 0.256]
    """
    curvature, noise = as_float64("curvature", curvature, 1), as_float64("noise", noise, 1)
    rate, size = as_float64("rates", rates, 1), as_float64("sizes", sizes, 1)
    if noise.shape != curvature.shape or not (noise >= 0).all():
        raise InputError(
            f"noise has shape {noise.shape}; give a variance of 0 or more for each of the "
            f"{len(curvature)} eigenvalues of curvature"
        )
    if not 0 <= momentum < 1:
        raise InputError(f"momentum = {momentum!r}: expected a number in [0, 1)")
    if not (rate >= 0).all() or not len(size) or not (size >= 1).all():
        raise InputError(
            "rates and sizes: give rates of 0 or more, and batches of 1 record or more"
        )
    spread = np.zeros((len(curvature), 2, 2))
    once = {value: _of_epoch(curvature, momentum, value, size, shuffled) for value in {*rate}}
    for value in rate:
        move, entered = once[value]
        spread = move @ spread @ move.swapaxes(1, 2) + noise[:, None, None] * entered
    return spread[:, 0, 0]


def _of_epoch(
    curvature: FloatArray, momentum: float, rate: float, sizes: FloatArray, shuffled: bool
) -> tuple[FloatArray, FloatArray]:
    """What an epoch makes of (w - w_*, h), and the covariance that unit noise leaves, (p, 2, 2)."""
    count = len(curvature)
    step = np.empty((count, 2, 2))
    step[:, 0, 0], step[:, 0, 1] = 1 - rate * curvature, -rate * momentum
    step[:, 1, 0], step[:, 1, 1] = curvature, momentum
    left = np.tile([-rate, 1.0], (count, 1))[:, :, None]
    total, entered = np.zeros((count, 2, 1)), np.zeros((count, 2, 2))
    for size in sizes[::-1]:
        total += left
        entered += left @ left.swapaxes(1, 2) / size
        left = step @ left
    if shuffled:
        entered -= total @ total.swapaxes(1, 2) / sizes.sum()
    return np.linalg.matrix_power(step, len(sizes)), entered
