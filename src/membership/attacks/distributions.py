"""Distributions that a signal is compared with, where a library has none or loses digits.

The hinge score s = f_y - max over the other classes of f under Gaussian logits f, and Student's t
beyond where its survival function rounds to 0.
"""

from typing import Any

import numpy as np
from scipy import special, stats

from membership.arrays import FloatArray, as_float64, whole
from membership.errors import InputError

# Numbers drawn at once.
CHUNK = 2**24
# Below this the survival function loses digits, and soon is 0.
SMALLEST = 1e-280


def runner_up(mean_logits: Any, label: Any) -> np.ndarray:
    """The class other than the label with the largest mean logit.

    Parameters
    ----------
    mean_logits : array of shape (records, classes)
    label : array of int, shape (records,)

    Returns
    -------
    ndarray of int64, shape (records,)

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, or labels do not fit the classes.
    """
    mean = as_float64("mean_logits", mean_logits, 2)
    return _runner_up(mean, _labels(label, mean))


def sampled_hinge(
    mean_logits: Any, covariance_logits: Any, label: Any, n_samples: int, seed: int = 0
) -> FloatArray:
    """Draw the hinge under Gaussian logits, each record by itself.

    Parameters
    ----------
    mean_logits : array of shape (records, classes)
    covariance_logits : array of shape (records, classes, classes)
    label : array of int, shape (records,)
    n_samples : int
        2 or more.
    seed : int
        0 or more.

    Returns
    -------
    ndarray of shape (n_samples, records)

    Raises
    ------
    InputError
        As `bmia`.
    """
    whole("n_samples", n_samples, least=2)
    mean = as_float64("mean_logits", mean_logits, 2)
    label = _labels(label, mean)
    covariance = _covariance(covariance_logits, mean)
    rng = np.random.default_rng(seed)
    result = np.empty((n_samples, len(mean)))
    step = max(1, CHUNK // (n_samples * mean.shape[1]))
    for first in range(0, len(mean), step):
        rows = slice(first, first + step)
        draws = rng.standard_normal((len(mean[rows]), n_samples, mean.shape[1]))
        logits = mean[rows, None] + draws @ _root(covariance[rows]).transpose(0, 2, 1)
        index = label[rows, None, None]
        own = np.take_along_axis(logits, index, axis=2)[..., 0]
        np.put_along_axis(logits, index, -np.inf, axis=2)
        result[:, rows] = (own - logits.max(axis=2)).T
    return result


def frozen_moments(
    mean_logits: Any, covariance_logits: Any, label: Any
) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of the hinge with the runner-up frozen.

    With :math:`j = \arg\max_{c \ne y} \mu_c` the hinge is taken for :math:`f_y - f_j`, of mean
    :math:`\mu_y - \mu_j` and variance :math:`V_{yy} + V_{jj} - 2 V_{yj}`. Where another class may
    overtake j, the true hinge has a lower mean, another variance and is not Gaussian.
    """
    mean = as_float64("mean_logits", mean_logits, 2)
    label = _labels(label, mean)
    other, rows = _runner_up(mean, label), np.arange(len(mean))
    if np.ndim(covariance_logits) == 1:
        variance = as_float64("covariance_logits", covariance_logits, 1)
        if variance.shape != rows.shape:
            raise InputError(
                f"covariance_logits has shape {variance.shape}; give one variance for each of "
                f"{rows.size} records"
            )
    else:
        v = _covariance(covariance_logits, mean)
        variance = v[rows, label, label] + v[rows, other, other] - 2 * v[rows, label, other]
    if not (variance > 0).all():
        raise InputError(
            f"covariance_logits: the hinge of record {variance.argmin()} has variance "
            f"{variance.min():.3g}; expected a positive one"
        )
    return mean[rows, label] - mean[rows, other], variance


def student_log_survival(t: FloatArray, dof: float | FloatArray) -> FloatArray:
    r"""The log survival function of Student's law, of one dof or one an entry, without underflow.

    In the far tail :math:`1 - F(t) = \tfrac12 I_x(\nu/2, 1/2)` with :math:`x = \nu / (\nu +
    t^2)`, and the incomplete beta function is :math:`I_x(a, b) = x^a (1 - x)^b
    {}_2F_1(a + b, 1; a + 1; x) / (a B(a, b))` (DLMF 8.17.8).
    """
    survival = stats.t.sf(t, dof)
    far = survival < SMALLEST
    result = np.log(np.where(far, 1.0, survival))
    # Far below zero the survival function rounds to 1; its logarithm does not.
    result = np.where(t < 0, np.log1p(-stats.t.cdf(np.minimum(t, 0), dof)), result)
    dof = np.broadcast_to(dof, t.shape)[far]
    a, x = dof / 2, dof / (dof + t[far] ** 2)
    series = special.hyp2f1(a + 0.5, 1.0, a + 1.0, x)
    beta = a * np.log(x) + 0.5 * np.log1p(-x) + np.log(series) - np.log(a)
    result[far] = np.log(0.5) + beta - special.betaln(a, 0.5)
    return result


def _labels(label: Any, mean: FloatArray) -> np.ndarray:
    given = as_float64("label", label, 1)
    if given.shape != mean.shape[:1] or (given != np.floor(given)).any():
        raise InputError(
            f"label has shape {given.shape}; give one class for each of {len(mean)} records"
        )
    if given.min() < 0 or given.max() >= mean.shape[1] or mean.shape[1] < 2:
        raise InputError(
            f"label: classes {given.min():.10g} to {given.max():.10g} do not fit mean_logits of "
            f"{mean.shape[1]} classes; was the reference trained on the target's classes?"
        )
    return given.astype(np.int64)


def _covariance(covariance: Any, mean: FloatArray) -> FloatArray:
    covariance = as_float64("covariance_logits", covariance, 3)
    expected = (*mean.shape, mean.shape[1])
    if covariance.shape != expected:
        raise InputError(f"covariance_logits has shape {covariance.shape}; give {expected}")
    return covariance


def _runner_up(mean: FloatArray, label: np.ndarray) -> np.ndarray:
    others = mean.copy()
    others[np.arange(len(mean)), label] = -np.inf
    return others.argmax(axis=1)


def _root(covariance: FloatArray) -> FloatArray:
    """R with R R' = V, record by record; V may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    least = values[:, 0]
    if (least < -1e-8 * values[:, -1]).any():
        raise InputError(
            f"covariance_logits has an eigenvalue of {least.min():.3g}; give positive semidefinite "
            "matrices"
        )
    return vectors * np.sqrt(values.clip(min=0))[:, None, :]
