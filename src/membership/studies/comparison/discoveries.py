"""Calling members by p-values under Benjamini and Hochberg: is the false discovery rate kept?"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from membership import metrics
from membership.arrays import BoolArray, FloatArray
from membership.exhibits.tidy import tidy
from membership.studies.comparison.power import typical
from membership.studies.comparison.read import Seen, origin
from membership.studies.comparison.thresholds import CHOSEN

LEVEL = 0.1
FALSE, FOUND = "false discoveries (%)", "members found (%)"


def false_discoveries(source: Any) -> pd.DataFrame:
    """The share of non-members among those called members at a level of 10%, by p-value."""
    some, rows = typical(source), []
    for name in P_VALUES:
        for one in some:
            found = [of_target(*pair) for pair in P_VALUES[name](one)]
            for metric in (FALSE, FOUND):
                unit = [pair[metric] for pair in found]
                number = metrics.summary(unit, lowest=0.0, highest=100.0)
                rows.append({**one.key, "p-values": name, "metric": metric, **number})
    return tidy(rows, origin(some))


def of_target(p: FloatArray, member: BoolArray) -> dict[str, float]:
    """What one target's p-values discover."""
    called = stats.false_discovery_control(p) <= LEVEL
    wrong = (called & ~member).sum() / max(1, called.sum())
    return {FALSE: 100 * float(wrong), FOUND: 100 * float((called & member).sum() / member.sum())}


def _of_normal(name: str) -> Any:
    """One-sided p-values of a score that claims to be standard normal for non-members."""

    def p_values(one: Seen) -> list[tuple[FloatArray, BoolArray]]:
        table = one.table
        return [(stats.norm.sf(s), m) for s, m in zip(table.score[name], table.member, strict=True)]

    return p_values


def _conformal(one: Seen) -> list[tuple[FloatArray, BoolArray]]:
    """Ranks of the offline LiRA score among what references' non-members score."""
    table, count = one.every_model(CHOSEN), len(one.targets)
    score, member = table.score["lira-offline"], table.member
    known = np.sort(score[count:][~member[count:]])
    above = known.size - np.searchsorted(known, score[:count], side="left")
    return list(zip((1 + above) / (1 + known.size), member[:count], strict=True))


P_VALUES = {
    "BMIA, closed form": _of_normal("bmia-closed"),
    "LiRA offline, normal law": _of_normal("lira-offline"),
    "LiRA offline, conformal by references": _conformal,
}
