"""Yes-or-no decisions: thresholds, accuracies, and what the best threshold owes to chance."""

from typing import Any

import numpy as np
import scipy

from membership.arrays import as_scored, whole
from membership.errors import InputError
from membership.metrics.roc import roc_curve

NULL_DRAWS = 2_000
# Beyond so many records a draw takes seconds, and there are 2,000 of them.
_MOST_DRAWN = 10_000_000


def best_threshold(score: Any, member: Any) -> float:
    """The threshold with the highest balanced accuracy, when "member" means score >= threshold.

    Parameters
    ----------
    score : array of shape (records,)
        Higher means member; finite.
    member : bool array of shape (records,)
        The truth; at least one of each class.

    Returns
    -------
    float
        Halfway between the lowest score accepted and the highest refused, so that it can be
        applied to other records. Among equally good thresholds the highest, which accepts the
        fewest; infinity, which accepts nobody, where none does better than a coin.

    Raises
    ------
    InputError
        Shapes differ, a score is not finite, or one class is missing.
    """
    score, member = as_scored(score, member, finite=True)
    fpr, tpr = roc_curve(score, member)
    n_member, n_non_member = int(member.sum()), int((~member).sum())
    # In whole records: differences of rates would tell equally good thresholds apart by rounding.
    gain = np.rint(tpr * n_member) * n_non_member - np.rint(fpr * n_non_member) * n_member
    accepted = int(np.argmax(gain))
    if accepted == 0:
        return float("inf")
    levels = np.unique(score)
    lowest_accepted, highest_refused = levels[-accepted], levels[-accepted - 1]
    middle = lowest_accepted / 2 + highest_refused / 2
    # Neighbouring floats have no middle.
    return float(middle if highest_refused < middle <= lowest_accepted else lowest_accepted)


def accuracy(score: Any, member: Any, threshold: float) -> float:
    """Share of records decided rightly by score >= threshold, in [0, 1].

    The threshold is to come from elsewhere, theory or other records (`best_threshold`): on the
    records it was chosen on, accuracy flatters the attack (`peak_accuracy_null`).

    Raises
    ------
    InputError
        Shapes differ, a score or the threshold is NaN, or one class is missing.
    """
    score, member = as_scored(score, member)
    _check_threshold(threshold)
    return float(np.mean((score >= threshold) == member))


def balanced_accuracy(score: Any, member: Any, threshold: float | None = None) -> float:
    """Mean of true-positive and true-negative rate by score >= threshold, in [0, 1].

    Parameters
    ----------
    score, member
        As in `best_threshold`.
    threshold : float, optional
        None takes the best threshold on these very records: the "peak accuracy" of
        Sablayrolles et al. 2019, Table 1. Random scores then exceed 1/2; `peak_accuracy_null`
        says by how much.

    Raises
    ------
    InputError
        As `accuracy`; without a threshold, as `best_threshold`.
    """
    score, member = as_scored(score, member)
    if threshold is None:
        threshold = best_threshold(score, member)
    _check_threshold(threshold)
    decided = score >= threshold
    return float((np.mean(decided[member]) + np.mean(~decided[~member])) / 2)


def peak_accuracy_null(n_member: int, n_non_member: int, seed: int = 0) -> float:
    """Expected balanced accuracy that random scores reach with the best threshold.

    The peak is 1/2 + D/2, D the one-sided two-sample Kolmogorov-Smirnov statistic of the
    members' against the non-members' scores. For n of each, counting lattice paths by reflection
    gives P(D >= k/n) = C(2n, n+k) / C(2n, n) (Gnedenko and Korolyuk 1951), whose sum over k is
    the closed form below; it grows like 1/2 + 0.443 / sqrt(n).

    Parameters
    ----------
    n_member, n_non_member : int
        Numbers of records, at least 1 each.
    seed : int
        Used where the numbers differ: the mean over 2,000 random orders, with a standard error
        of about 0.0037 sqrt(1 / n_member + 1 / n_non_member).

    Returns
    -------
    float
        A fraction in (1/2, 1), e.g. 0.530 for 200 and 200.

    Raises
    ------
    InputError
        A number is no whole number of at least 1, or they differ and are too many to draw.
    """
    whole("n_member", n_member)
    whole("n_non_member", n_non_member)
    if n_member == n_non_member:
        return float(
            0.5 + (1.0 / scipy.stats.binom.pmf(n_member, 2 * n_member, 0.5) - 1.0) / (4 * n_member)
        )
    if n_member + n_non_member > _MOST_DRAWN:
        raise InputError(
            f"n_member = {n_member} and n_non_member = {n_non_member}: give the same, or "
            f"{_MOST_DRAWN:,} of both at most"
        )
    return 0.5 + float(_random_ks(n_member, n_non_member, seed).mean()) / 2


def _random_ks(n_member: int, n_non_member: int, seed: int) -> np.ndarray:
    """One-sided Kolmogorov-Smirnov statistics of `NULL_DRAWS` random orders."""
    rng = np.random.default_rng(seed)
    steps = np.r_[np.full(n_member, 1.0 / n_member), np.full(n_non_member, -1.0 / n_non_member)]
    peaks = [np.cumsum(rng.permutation(steps)).max() for _ in range(NULL_DRAWS)]
    # Accepting nobody is a threshold too.
    return np.maximum(peaks, 0.0)


def _check_threshold(threshold: float) -> None:
    if np.isnan(threshold):
        raise InputError("threshold is NaN; give a number")
