"""Attacks on records that differ: how to spend one false positive rate on all of them.

Definition 4.1: beta(alpha) = min { E_x f_x(a(x)) : E_x a(x) = alpha }. At the minimum every slope
f_x'(a(x)) is the same, that is, the attacker uses one threshold on the likelihood ratio. An
attack that uses one threshold on p-values has a(x) = alpha for every record, which is worse.
"""

from typing import Any

import numpy as np
from scipy.special import ndtr

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.tradeoff import gaussian_tradeoff

_POINTS = 4000


def gaussian_mixture_tradeoff(alpha: Any, mu: Any) -> FloatArray:
    """Return the FNR at FPR `alpha` of the best attack on records of different levels.

    With one threshold t on the log-likelihood ratio, FPR = mean of Phi(-t/mu - mu/2) and
    TPR = mean of Phi(-t/mu + mu/2) over the records' levels.

    Parameters
    ----------
    alpha : array of float
        False positive rates in [0, 1].
    mu : array of shape (records,)
        Each record's level, above 0; all equally likely.

    Returns
    -------
    ndarray of float64
        In the shape of `alpha`; read off a fine curve of thresholds by linear interpolation,
        which errs against the attacker, by less than 1e-5.

    Raises
    ------
    InputError
        A rate or level is out of range.
    """
    alpha, mu = checks.rates("alpha", alpha), _levels(mu)
    ends = 40 * mu.max() * np.array([-1, 1]) + mu.max() ** 2 * np.array([-1, 1])
    # Where the thresholds of single records lie, and beyond, evenly in sinh for both scales.
    width = np.arcsinh(ends / mu.min())
    thresholds = mu.min() * np.sinh(np.linspace(width[1], width[0], _POINTS))
    scaled = thresholds[:, None] / mu
    fpr = ndtr(-scaled - mu / 2).mean(axis=1)
    fnr = ndtr(scaled - mu / 2).mean(axis=1)
    fpr, fnr = np.r_[0.0, fpr, 1.0], np.r_[1.0, fnr, 0.0]
    return np.interp(alpha, fpr, fnr)


def constant_rate_tradeoff(alpha: Any, mu: Any) -> FloatArray:
    """Return the FNR of an attacker who gives every record the same FPR; as the best one's."""
    alpha, mu = checks.rates("alpha", alpha), _levels(mu)
    return np.mean([gaussian_tradeoff(alpha, level) for level in mu], axis=0)


def stochastic_composition(alpha: Any, curves: Any) -> tuple[FloatArray, FloatArray]:
    """Return the optimal composition of any trade-off functions, given at common points.

    Between its points a curve is taken as linear. Spending the FPR where it buys the most means
    walking along all segments of all curves in order of their slopes.

    Parameters
    ----------
    alpha : array of shape (points,)
        False positive rates, increasing from 0 to 1.
    curves : array of shape (records, points)
        Each record's FNR there: convex, falling to 0; all records equally likely.

    Returns
    -------
    fpr, fnr : ndarray of float64
        The composed trade-off function, from (0, mean of the FNR at 0) to (1, 0).

    Raises
    ------
    InputError
        The rates do not increase from 0 to 1, a curve leaves [0, 1], or is not convex.
    """
    alpha, curves = as_float64("alpha", alpha, 1), as_float64("curves", curves, 2)
    checks.rates("curves", curves)
    if (
        len(alpha) != curves.shape[1]
        or alpha[0]
        or alpha[-1] != 1
        or not (np.diff(alpha) > 0).all()
    ):
        raise InputError(
            f"alpha has {len(alpha)} rates for curves of {curves.shape[1]}; give rates that "
            "increase from 0 to 1, one a point"
        )
    width, fall = np.diff(alpha), np.diff(curves, axis=1)
    slope = fall / width
    if (np.diff(slope, axis=1) < -1e-9 * np.abs(slope).max()).any():
        raise InputError("curves holds one that is not convex; give trade-off functions")
    order = np.argsort(slope, axis=None, kind="stable")
    width = np.broadcast_to(width, slope.shape)
    fpr = np.r_[0.0, np.cumsum(width.ravel()[order]) / len(curves)]
    fnr = curves[:, 0].mean() + np.r_[0.0, np.cumsum(fall.ravel()[order]) / len(curves)]
    return np.clip(fpr, 0, 1), np.clip(fnr, 0, 1)


def _levels(mu: Any) -> FloatArray:
    mu = as_float64("mu", mu, 1)
    if not (mu > 0).all():
        raise InputError(f"mu is as low as {mu.min()}; give levels above 0")
    return mu
