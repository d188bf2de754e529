"""ROC curves of scores on finitely many outcomes with known probabilities: sums, no sampling."""

import numpy as np

from membership.arrays import FloatArray

# Log-likelihood ratios that differ by less are one: rounding makes no threshold.
_DIGITS = 10


def rates(
    score: FloatArray, member: FloatArray, other: FloatArray, fpr: float = 0.01
) -> tuple[float, float]:
    """AUC, ties counted half, and the TPR at an FPR, on the randomised ROC curve.

    Parameters
    ----------
    score, member, other : arrays of one shape
        Of each outcome: the score, and its probability with the record and without; either sums
        to 1, but for what was left out.
    fpr : float
    """
    kept = np.isfinite(score) | (member + other > 0)
    value, index = np.unique(np.round(score[kept], _DIGITS), return_inverse=True)
    index = index.ravel()
    inside, outside = (
        np.bincount(index, weights=mass[kept], minlength=value.size)[::-1] / mass.sum()
        for mass in (member, other)
    )
    tpr, alarms = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in (inside, outside))
    area = float(np.sum(np.diff(alarms) * (tpr[1:] + tpr[:-1]) / 2))
    return area, float(np.interp(fpr, alarms, tpr))


def best_rates(member: FloatArray, other: FloatArray, fpr: float = 0.01) -> tuple[float, float]:
    """`rates` of the likelihood ratio itself."""
    return rates(log_ratio(member, other), member, other, fpr)


def log_ratio(member: FloatArray, other: FloatArray) -> FloatArray:
    """The log-likelihood ratio of each outcome; infinite where one world rules it out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(member) - np.log(other)
    return np.where(member + other > 0, found, 0.0)
