"""How far a statistic may be off: bootstrap, Clopper-Pearson and t intervals."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from membership.arrays import as_scored
from membership.errors import InputError
from membership.metrics.decisions import accuracy, balanced_accuracy
from membership.metrics.ranking import auc, average_precision, tpr_at_fpr

Statistic = Callable[..., float]

RESAMPLES = 1_000
STATISTICS: dict[str, Statistic] = {
    "accuracy": accuracy,
    "auc": auc,
    "average_precision": average_precision,
    "balanced_accuracy": balanced_accuracy,
    "tpr_at_fpr": tpr_at_fpr,
}


def interval(
    statistic: str | Statistic,
    score: Any,
    member: Any,
    level: float = 0.95,
    method: str = "bootstrap",
    seed: int = 0,
    **arguments: Any,
) -> tuple[float, float]:
    """Confidence interval of a statistic over the records queried.

    It covers the choice of records, given the model attacked; for the spread over models repeat
    the experiment and take `mean_interval`.

    Parameters
    ----------
    statistic : str or callable
        A metric's name ("auc", "tpr_at_fpr", "average_precision", "balanced_accuracy",
        "accuracy"), or a function of (score, member) and `arguments`.
    score, member
        As in `roc_curve`.
    level : float
        Confidence, in (0, 1).
    method : {"bootstrap", "clopper-pearson"}
        "bootstrap": percentiles of 1,000 resamples, members and non-members drawn apart, so that
        their numbers stay. Of no use at the ends of the range: a perfect score gives (1, 1).
        "clopper-pearson": exact for a binomial count, so for "tpr_at_fpr" (among members, the
        threshold taken as given) and "accuracy" (among all records) only.
    seed : int
        Of the resampling.
    **arguments
        Passed on to the statistic, e.g. ``fpr=0.01`` or ``threshold=0.5``.

    Returns
    -------
    low, high : float

    Raises
    ------
    InputError
        As `roc_curve`; an unknown name or method; a level outside (0, 1); Clopper-Pearson for a
        statistic that is no proportion; the bootstrap with fewer than two records of a class.
    """
    score, member = as_scored(score, member)
    _check_level(level)
    if isinstance(statistic, str):
        if statistic not in STATISTICS:
            raise InputError(f"statistic is {statistic!r}; give one of {', '.join(STATISTICS)}")
        statistic = STATISTICS[statistic]
    if method == "bootstrap":
        return _bootstrap(statistic, score, member, level, seed, arguments)
    if method == "clopper-pearson":
        return _clopper_pearson(statistic, score, member, level, arguments)
    raise InputError(f'method is {method!r}; give "bootstrap" or "clopper-pearson"')


def _bootstrap(
    statistic: Statistic,
    score: np.ndarray,
    member: np.ndarray,
    level: float,
    seed: int,
    arguments: dict[str, Any],
) -> tuple[float, float]:
    members, non_members = score[member], score[~member]
    if min(members.size, non_members.size) < 2:
        raise InputError("the bootstrap needs at least two members and two non-members")
    truth = np.r_[np.ones(members.size, bool), np.zeros(non_members.size, bool)]
    result = stats.bootstrap(
        (members, non_members),
        lambda x, y: statistic(np.r_[x, y], truth, **arguments),
        n_resamples=RESAMPLES,
        batch=1,
        vectorized=False,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    low, high = result.confidence_interval
    return float(low), float(high)


def _clopper_pearson(
    statistic: Statistic,
    score: np.ndarray,
    member: np.ndarray,
    level: float,
    arguments: dict[str, Any],
) -> tuple[float, float]:
    trials = {tpr_at_fpr: int(member.sum()), accuracy: member.size}.get(statistic)
    if trials is None:
        raise InputError('"clopper-pearson" takes "tpr_at_fpr" or "accuracy"; else "bootstrap"')
    successes = round(statistic(score, member, **arguments) * trials)
    low, high = stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    return float(low), float(high)


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}; give a confidence between 0 and 1, both excluded")
