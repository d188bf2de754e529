"""Records that differ: the best attack on all of them together.

Definition 4.1: beta(alpha) = min { E_x f_x(a(x)) : E_x a(x) = alpha }. At the minimum every slope
f_x'(a(x)) is the same, that is, the attacker uses one threshold on the likelihood ratio. An attack
that uses one threshold on p-values has a(x) = alpha for every record, which is worse.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError
from membership.privacy import checks
from membership.privacy.numerical import MOST_NUMERICAL_MU, Pair, Parts, compose
from membership.privacy.tradeoff import gaussian_tradeoff

_POINTS = 4000
_EVERY = 8  # of the losses of a composition, how many apart thresholds are tried
_FEW = 20  # rates for which only the thresholds next to them are tried


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
    alpha, mu = checks.rates("alpha", alpha), _levels_above_0(mu)
    ends = 40 * mu.max() * np.array([-1, 1]) + mu.max() ** 2 * np.array([-1, 1])
    # Where the thresholds of single records lie, and beyond, evenly in sinh for both scales.
    width = np.arcsinh(ends / mu.min())
    thresholds = mu.min() * np.sinh(np.linspace(width[1], width[0], _POINTS))
    few = _reached_by(alpha, thresholds, mu) if alpha.size <= _FEW else np.arange(_POINTS)
    scaled = thresholds[few, None] / mu
    fpr = ndtr(-scaled - mu / 2).mean(axis=1)
    fnr = ndtr(scaled - mu / 2).mean(axis=1)
    fpr, fnr = np.r_[0.0, fpr, 1.0], np.r_[1.0, fnr, 0.0]
    return np.interp(alpha, fpr, fnr)


def _reached_by(alpha: FloatArray, thresholds: FloatArray, mu: FloatArray) -> np.ndarray:
    """The thresholds on either side of each false positive rate, found by halving."""
    places = []
    for rate in alpha.flat:
        low, high = -1, len(thresholds)
        while high - low > 1:
            middle = (low + high) // 2
            if ndtr(-thresholds[middle] / mu - mu / 2).mean() <= rate:
                low = middle
            else:
                high = middle
        places += [low, high]
    places = np.unique(places)
    return places[(places >= 0) & (places < len(thresholds))]


def constant_rate_tradeoff(alpha: Any, mu: Any) -> FloatArray:
    """Return the FNR of an attacker who gives every record the same FPR; as the best one's."""
    alpha, mu = checks.rates("alpha", alpha), _levels_above_0(mu)
    return np.mean([gaussian_tradeoff(alpha, level) for level in mu], axis=0)


def composed_mixture_tradeoff(
    alpha: Any, mu_step: Any, batch_size: float, n_records: float, steps: int, *, grid: int = 12
) -> FloatArray:
    """Return the FNR at FPR `alpha` of the best attack on different records after many steps.

    Every record's steps are composed numerically, as in `membership.privacy.numerical_tradeoff`,
    and one threshold on the likelihood ratio of all steps decides on all records.

    Parameters
    ----------
    alpha : array of float
        False positive rates in [0, 1].
    mu_step : array of shape (records,)
        Each record's level of one step whose batch holds it, above 0 and at most 15; all equally
        likely.
    batch_size, n_records, steps, grid
        As in `membership.privacy.numerical_tradeoff`.

    Returns
    -------
    ndarray of float64
        In the shape of `alpha`; a guarantee up to linear interpolation between thresholds.

    Raises
    ------
    InputError
        A value is out of range.
    """
    alpha, mu = checks.rates("alpha", alpha), _levels_above_0(mu_step)
    if mu.max() > MOST_NUMERICAL_MU:
        raise InputError(f"mu_step is as high as {mu.max()}; give at most 15")
    n = checks.number("batch_size", batch_size)
    p, steps = n / checks.records(n_records, n), int(checks.number("steps", steps))
    return 1 - mixture_tpr(alpha, [[(Pair("joined", level, p), steps)] for level in mu], grid)


def mixture_tpr(alpha: FloatArray, records: Sequence[Parts], grid: int = 12) -> FloatArray:
    """The TPR of the best attack on records whose steps differ, all equally likely."""
    if any(pair.mu > MOST_NUMERICAL_MU for parts in records for pair, _ in parts):
        return np.ones_like(alpha)
    composed = [compose(parts, grid) for parts in records]
    thresholds = np.unique(np.concatenate([losses.values[::_EVERY] for losses in composed]))
    fpr, power = np.zeros(len(thresholds)), np.zeros(len(thresholds))
    for losses in composed:
        place = np.searchsorted(losses.values, thresholds)
        null = losses.mass * np.exp(-np.maximum(losses.values, -700.0))
        fpr += _above(null)[place]
        power += losses.infinite + _above(losses.mass)[place]
    fpr, power = (np.minimum(one / len(records), 1.0)[::-1] for one in (fpr, power))
    return np.interp(alpha, np.r_[0.0, fpr, 1.0], np.r_[0.0, power, 1.0])


def _above(mass: FloatArray) -> FloatArray:
    """The mass at and above each place, and 0 beyond the last."""
    return np.r_[np.cumsum(mass[::-1])[::-1], 0.0]


def _levels_above_0(mu: Any) -> FloatArray:
    mu = as_float64("mu", mu, 1)
    if mu.min() < checks.SMALLEST:
        raise InputError(f"mu is as low as {mu.min()}; give levels above 0, 1e-15 or more")
    return mu
