"""Statistics of the whole ranking: ROC curve, AUC, TPR at a fixed FPR, average precision."""

from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn import metrics as sklearn_metrics

from membership.arrays import FloatArray, as_scored
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
    fpr, tpr, _ = sklearn_metrics.roc_curve(member, _levels(score), drop_intermediate=False)
    return fpr, tpr


def auc(score: Any, member: Any) -> float:
    """Area under the ROC curve: P(member's score > non-member's) + P(equal) / 2, in [0, 1].

    Parameters and errors are those of `roc_curve`.
    """
    score, member = as_scored(score, member)
    n_member = int(member.sum())
    # The Mann-Whitney statistic: average ranks count a tied pair as one half.
    wins = rankdata(score)[member].sum() - n_member * (n_member + 1) / 2
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
    if not 0.0 < fpr < 1.0:
        raise InputError(f"fpr is {fpr}; give a rate between 0 and 1, both excluded")
    reached, detected = roc_curve(score, member)
    return float(detected[reached <= fpr].max())


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
        return float(sklearn_metrics.average_precision_score(member, _levels(score)))
    if positive == "non-member":
        return float(sklearn_metrics.average_precision_score(~member, -_levels(score)))
    raise InputError(f'positive is {positive!r}; give "member" or "non-member"')


def _levels(score: FloatArray) -> np.ndarray:
    """Number the distinct scores from the lowest: scikit-learn refuses infinite ones."""
    return np.unique(score, return_inverse=True)[1]
