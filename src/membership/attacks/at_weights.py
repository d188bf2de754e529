"""IHA and the residual test at many final parameters and one record, from arrays.

What `iha` and `residual` do for one model and many records, for games in which one record is played
for many times: the parameters vary, and the record does not.
"""

import numpy as np

from membership.arrays import FloatArray
from membership.attacks.iha import iha_terms


def iha_at(
    w: FloatArray,
    loss: FloatArray,
    gradient: FloatArray,
    others: FloatArray,
    hessian: FloatArray,
    n_train: int,
    recipe: tuple[float, float, float],
    stationarity: str = "published",
    damping: float = 0.0,
) -> FloatArray:
    """The score of `iha_terms` at each w of shape (draws, p), with that w's loss and gradients."""
    decay = recipe[2] if stationarity == "regularised" else 0.0
    one = np.eye(hessian.shape[-1])
    inverse = np.linalg.inv(hessian + (decay + damping) * one)
    between = np.linalg.inv(hessian + damping * one)
    u, u0 = _solved(inverse, gradient), _solved(inverse, others + decay * w)
    products = [np.sum(a * b, axis=1) for b in (u, _solved(between, u)) for a in (u, u0)]
    return iha_terms(*products, loss, n_train, *recipe, stationarity).score


def residual_at(
    w: FloatArray, gradient: FloatArray, others: FloatArray, n_train: int, weight_decay: float
) -> FloatArray:
    """The norm statistic of `residual` at each w; arrays as for `iha_at`."""
    rest = others + weight_decay * w
    return -np.sum((2.0 * rest + gradient / n_train) * gradient, axis=1) / n_train


def _solved(inverse: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.matmul(inverse, vectors[..., None])[..., 0]
