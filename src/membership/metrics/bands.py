"""ROC curves on a grid of false-positive rates, of one score and of repeats."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import stats

from membership.arrays import FloatArray, as_float64
from membership.metrics.ranking import roc_curve


def tpr_on(score: Any, member: Any, rates: FloatArray) -> FloatArray:
    """True-positive rates at false-positive rates of at most `rates`.

    Parameters
    ----------
    score, member
        As in `roc_curve`.
    rates : ndarray of shape (rates,)
        In [0, 1].

    Returns
    -------
    ndarray of shape (rates,)
        The most the attacker has without exceeding each rate.
    """
    fpr, tpr = roc_curve(score, member)
    rates = as_float64("rates", rates, 1)
    return tpr[np.searchsorted(fpr, rates + 1e-12, side="right") - 1]


def roc_band(pairs: Iterable[tuple[Any, Any]], rates: FloatArray) -> dict[str, Any]:
    """The mean ROC curve of repeats with Student's 95% interval at each rate.

    Parameters
    ----------
    pairs : iterable of (score, member)
        One a repeat, as in `roc_curve`; the repeats are independent, two or more of them.
    rates : ndarray of shape (rates,)
        In [0, 1].

    Returns
    -------
    dict
        fpr, tpr, low, high and standard_error of shape (rates,), and n_repeats. The interval, and
        not the standard error, is cut to [0, 1].
    """
    return curve_band(np.stack([tpr_on(score, member, rates) for score, member in pairs]), rates)


def curve_band(curves: FloatArray, rates: FloatArray) -> dict[str, Any]:
    """As `roc_band`, of the repeats' curves at these rates.

    Parameters
    ----------
    curves : ndarray of shape (repeats, rates)
        True-positive rates, in [0, 1], of two independent repeats or more.
    rates : ndarray of shape (rates,)
        In [0, 1].

    Returns
    -------
    dict
        As `roc_band`.
    """
    curves, rates = as_float64("curves", curves, 2), as_float64("rates", rates, 1)
    mean, error = curves.mean(axis=0), stats.sem(curves, axis=0)
    half = stats.t.ppf(0.975, len(curves) - 1) * error
    return {
        "fpr": rates,
        "tpr": mean,
        "low": np.clip(mean - half, 0, 1),
        "high": np.clip(mean + half, 0, 1),
        "standard_error": error,
        "n_repeats": len(curves),
    }
