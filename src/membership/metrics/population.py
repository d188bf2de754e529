"""Intervals for records like these: of the AUC, and of the TPR at a false-positive rate.

`interval` takes a threshold as given; here the records that set the threshold are a sample too.
"""

from typing import Any

import numpy as np
from scipy import special, stats

from membership.arrays import BoolArray, FloatArray, as_scored
from membership.errors import InputError


def auc_interval(score: Any, member: Any, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the AUC over records drawn from the same two populations.

    Parameters
    ----------
    score, member
        As in `roc_curve`; at least two of each class.
    level : float
        Confidence, in (0, 1).

    Returns
    -------
    low, high : float
        In [0, 1]: DeLong's interval on the scale of log-odds. Where one class lies wholly above
        the other there is no variance to go by: then the exact interval of as many independent
        pairs as the smaller class has records.

    Raises
    ------
    InputError
        As `roc_curve`; fewer than two records of a class, or a level outside (0, 1).
    """
    score, member = _checked(score, member, level)
    n_in, n_out = int(member.sum()), int((~member).sum())
    ranks = stats.rankdata(score)
    above_out = (ranks[member] - stats.rankdata(score[member])) / n_out
    below_in = 1 - (ranks[~member] - stats.rankdata(score[~member])) / n_in
    area = float(above_out.mean())
    if area in (0.0, 1.0):
        pairs = min(n_in, n_out)
        found = stats.binomtest(round(area * pairs), pairs).proportion_ci(level, method="exact")
        return float(found.low), float(found.high)
    error = np.sqrt(above_out.var(ddof=1) / n_in + below_in.var(ddof=1) / n_out)
    half = stats.norm.ppf((1 + level) / 2) * error / (area * (1 - area))
    low, high = special.expit(special.logit(area) + np.array([-half, half]))
    return float(low), float(high)


def tpr_interval(score: Any, member: Any, fpr: float, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the TPR where the *true* false-positive rate is `fpr`.

    Half of the error goes to the threshold, whose true rate follows a beta law whatever the
    scores' law, and half to the members counted above it (Clopper and Pearson), so that the
    interval holds for any number of records; with few non-members it is wide.

    Parameters
    ----------
    score, member
        As in `roc_curve`.
    fpr : float
        In (0, 1).
    level : float
        Confidence, in (0, 1).

    Returns
    -------
    low, high : float
        In [0, 1]. Ties count against the attacker below and for it above.

    Raises
    ------
    InputError
        As `roc_curve`; fewer than two records of a class, or a rate or level out of range.
    """
    score, member = _checked(score, member, level)
    if not 0.0 < fpr < 1.0:
        raise InputError(f"fpr is {fpr}; give a rate between 0 and 1, both excluded")
    error = (1 - level) / 4  # two sides, each of a threshold and of a count
    members, others = score[member], np.sort(score[~member])[::-1]
    # The true rate above the k-th highest of N non-members: Beta(k, N - k + 1).
    order = np.arange(1, others.size + 1)
    below = stats.beta.cdf(fpr, order, others.size - order + 1)
    strict, lenient = np.flatnonzero(below >= 1 - error), np.flatnonzero(below <= error)
    sure = int((members > others[strict[-1]]).sum()) if strict.size else 0
    possible = int((members >= others[lenient[0]]).sum()) if lenient.size else members.size
    low = stats.beta.ppf(error, sure, members.size - sure + 1) if sure else 0.0
    missed = members.size - possible
    high = stats.beta.isf(error, possible + 1, missed) if missed else 1.0
    return float(low), float(high)


def _checked(score: Any, member: Any, level: float) -> tuple[FloatArray, BoolArray]:
    score, member = as_scored(score, member)
    if min(int(member.sum()), int((~member).sum())) < 2:
        raise InputError("member holds a single record of a class; give at least two of each")
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}; give a confidence between 0 and 1, both excluded")
    return score, member
