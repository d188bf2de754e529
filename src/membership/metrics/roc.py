"""Statistics of the whole ranking: ROC curve, AUC, TPR at a fixed FPR, average precision, bands."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy

from membership.arrays import BoolArray, FloatArray, as_float64, as_scored, check_rate
from membership.errors import InputError


def roc_curve(score: Any, member: Any) -> tuple[FloatArray, FloatArray]:
    """Receiver operating characteristic, one point a distinct score.

    Parameters
    ----------
    score : array of shape (records,)
        Higher means member. Infinite scores are allowed, NaN is not.
    member : bool array of shape (records,)
        The truth; at least one member and one non-member.

    Returns
    -------
    fpr, tpr : ndarray of shape (distinct scores + 1,)
        Rates in [0, 1], both rising from 0 to 1. Tied records enter together, and nothing is
        interpolated: a point between two others is not an attack anybody can carry out without
        a coin.

    Raises
    ------
    InputError
        Shapes differ, a score is NaN, or one class is missing.
    """
    score, member = as_scored(score, member)
    hits, alarms = (np.r_[0, count] for count in _above(score, member))
    return alarms / alarms[-1], hits / hits[-1]


def auc(score: Any, member: Any) -> float:
    """Area under the ROC curve: P(member's score > non-member's) + P(equal) / 2, in [0, 1].

    Parameters and errors are those of `roc_curve`.
    """
    score, member = as_scored(score, member)
    n_member = int(member.sum())
    # The Mann-Whitney statistic: average ranks count a tied pair as one half.
    wins = scipy.stats.rankdata(score)[member].sum() - n_member * (n_member + 1) / 2
    return float(wins / (n_member * (member.size - n_member)))


def tpr_at_fpr(score: Any, member: Any, fpr: float) -> float:
    """True-positive rate at a false-positive rate of at most `fpr`.

    Ties are resolved against the attacker: a threshold counts only if every non-member that
    reaches it, tied ones included, still fits within `fpr`.

    Parameters
    ----------
    score, member
        As in `roc_curve`.
    fpr : float
        The rate allowed, in (0, 1). Below 1 / (number of non-members) none may be accepted.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        As `roc_curve`, or `fpr` lies outside (0, 1).
    """
    check_rate(fpr)
    return float(tpr_on(score, member, np.array([fpr]))[0])


def average_precision(score: Any, member: Any, positive: str = "member") -> float:
    """Average precision of finding one class by the score, in (0, 1].

    The mean over that class of the precision at each of its records, tied records entering
    together (`sklearn.metrics.average_precision_score`). Sablayrolles et al. 2019, Section 6.1,
    report it as mAP_train (positive="member") and mAP_test (positive="non-member").

    Parameters
    ----------
    score, member
        As in `roc_curve`.
    positive : {"member", "non-member"}
        The class to find. Non-members are ranked by the negated score.

    Raises
    ------
    InputError
        As `roc_curve`, or another `positive`.
    """
    score, member = as_scored(score, member)
    if positive == "member":
        return _average_precision(score, member)
    if positive == "non-member":
        return _average_precision(-score, ~member)
    raise InputError(f'positive is {positive!r}; give "member" or "non-member"')


def _above(score: FloatArray, positive: BoolArray) -> tuple[np.ndarray, np.ndarray]:
    """How many of either class score at least so high, by distinct scores from the highest."""
    values, level = np.unique(score, return_inverse=True)
    counts = (np.bincount(level[side], minlength=values.size) for side in (positive, ~positive))
    hits, alarms = (np.cumsum(count[::-1]) for count in counts)
    return hits, alarms


def _average_precision(score: FloatArray, positive: BoolArray) -> float:
    hits, alarms = _above(score, positive)
    recall, precision = np.r_[0, hits] / hits[-1], hits / (hits + alarms)
    # From the lowest score on, as scikit-learn sums.
    return float(np.sum((np.diff(recall) * precision)[::-1]))


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
    score, member = as_scored(score, member)
    rates = as_float64("rates", rates, 1)
    if rates.min() < 0 or rates.max() > 1:
        raise InputError(f"rates go from {rates.min():g} to {rates.max():g}; give some in [0, 1]")
    members, others = np.sort(score[member]), np.sort(score[~member])
    accused = allowed(rates, others.size)
    missed = np.searchsorted(members, others[-1 - accused % others.size], side="right")
    return np.where(accused == others.size, 1.0, (members.size - missed) / members.size)


def flagged(score: FloatArray, member: np.ndarray, fpr: float) -> np.ndarray:
    """The records above the lowest threshold that lets at most this rate of non-members pass."""
    others = np.sort(score[~member])
    accused = int(allowed(fpr, others.size))
    return np.ones(score.shape, bool) if accused == others.size else score > others[-1 - accused]


def allowed(rates: Any, total: Any) -> Any:
    """How many of so many records a rate is at most: the one rule for a threshold at a rate.

    A product such as .3 * 10, or (1 - .9) * 10, may fall short of the whole number that it is.
    """
    return np.floor((np.asarray(rates) + 1e-12) * total + 1e-9).astype(int)


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
    mean, error = curves.mean(axis=0), scipy.stats.sem(curves, axis=0)
    half = scipy.stats.t.ppf(0.975, len(curves) - 1) * error
    return {
        "fpr": rates,
        "tpr": mean,
        "low": np.clip(mean - half, 0, 1),
        "high": np.clip(mean + half, 0, 1),
        "standard_error": error,
        "n_repeats": len(curves),
    }
