"""Numbers of attacks averaged over cells, with intervals that respect what cells share.

Cells of one data set have the same records and memberships: their attacks are averaged target by
target. Data sets share nothing, and each has the same weight however many cells it has.
"""

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from membership import metrics
from membership.arrays import FloatArray
from membership.studies.comparison.read import Seen, Table

CARRIED = 10
"""False positives that a rate must let one expect on each target."""


def carries(seen: Seen, fpr: float) -> bool:
    """Whether every target has non-members enough for a rate."""
    return fpr * int((~seen.table.member).sum(axis=1).min()) >= CARRIED


def contrast(
    tables: Sequence[tuple[str, Table]],
    weights: Mapping[str, float],
    statistic: str,
    settings: Any,
    *,
    scale: float = 1.0,
    **arguments: Any,
) -> dict[str, float]:
    """A weighted sum of attacks' statistics, averaged over data sets, as columns of a tidy row.

    Parameters
    ----------
    tables : sequence of (str, Table)
        The data set and the scores of each cell, with all of the attacks.
    weights : mapping of str to float
        By the attack's name: one attack, or 1 and -1 for a difference.
    statistic : {"auc", "tpr_at_fpr"}
    settings : Settings
        Uses ``resamples`` and ``seed``.
    scale : float
        100 for percent.
    **arguments
        Of the statistic.
    """
    by_set: dict[str, list[Table]] = {}
    for name, table in tables:
        by_set.setdefault(name, []).append(table)
    parts = []
    for group in by_set.values():
        each = [
            table.resampled(name, statistic, settings, **arguments)
            * (weight / len(group) / len(by_set))
            for table in group
            for name, weight in weights.items()
        ]
        parts.append(functools.reduce(operator.add, each).interval())
    return _sum(parts, scale)


def over_sets(some: Sequence[Seen], values: Sequence[float]) -> float:
    """The mean of one number a cell, each data set with the same weight."""
    by_set: dict[str, list[float]] = {}
    for one, value in zip(some, values, strict=True):
        by_set.setdefault(one.set, []).append(value)
    return float(np.mean([np.mean(group) for group in by_set.values()]))


def plain(some: Sequence[Seen]) -> list[tuple[str, Table]]:
    """The scores of cells, canaries left out."""
    return [(one.set, one.table) for one in some]


def mislabelled(some: Sequence[Seen]) -> list[tuple[str, Table]]:
    """The scores of the canaries alone, of targets that saw two of them and did not see two."""
    found = [(one.set, one.everyone.on(one.canary).told_apart()) for one in some]
    return [(name, table) for name, table in found if len(table.member)]


def each(statistic: Callable[..., float], score: Any, member: Any, **arguments: Any) -> FloatArray:
    """A statistic of each target."""
    return np.array(
        [
            statistic(s[~np.isnan(s)], m[~np.isnan(s)], **arguments)
            for s, m in zip(score, member, strict=True)
        ]
    )


def _sum(parts: Sequence[metrics.PairedInterval], scale: float) -> dict[str, float]:
    """Independent intervals added, by Welch and Satterthwaite."""
    value = sum(one.difference for one in parts)
    squares = np.array([one.standard_error**2 for one in parts])
    spent = sum(v**2 / one.degrees_of_freedom for v, one in zip(squares, parts, strict=True))
    degrees = float(squares.sum() ** 2 / spent) if spent > 0 else math.inf
    error = float(np.sqrt(squares.sum()))
    half = float(stats.t.ppf(0.975, degrees)) * error
    return {
        "value": scale * value,
        "low": scale * (value - half),
        "high": scale * (value + half),
        "standard_error": scale * error,
        "degrees_of_freedom": degrees,
        "n_repeats": parts[0].units,
    }
