"""Every registered attack that a file of evidence allows, compared on its targets."""

from typing import Any

import numpy as np
import xarray as xr

import membership
from membership import attacks, metrics
from membership.attacks.kinds import complements_of
from membership.attacks.scores import ScoreTable
from membership.audit.report import CARRIED, RATES
from membership.errors import InputError


def compare(*evidence: xr.Dataset, level: float = 0.95, seed: int = 0) -> dict:
    """Attack the targets of evidence in every way that it allows.

    Parameters
    ----------
    *evidence : xarray.Dataset
        From `membership.evidence.load`: kinds that go together, see `attacks.scores`.
    level : float
        Confidence of every interval, in (0, 1).
    seed : int
        Of the resampling.

    Returns
    -------
    dict
        Plain JSON values: ``attacks``, a list sorted by AUC, each with ``name``, ``display``,
        ``knowledge``, ``references``, ``paper``, ``auc`` and ``tpr_at_fpr`` as in `audit`, and
        ``behind_best``, the paired difference of the AUC to the first; ``left_out``, what each
        other attack lacks; ``targets``, ``records``, ``level`` and ``warnings``.

    Raises
    ------
    InputError
        The evidence names no targets, or allows no attack.
    """
    table = attacks.score_table(*evidence)
    known = attacks.registry()
    first = attacks.scores(*evidence, target=table.targets[0])
    if not table.score:
        name, lacks = next(iter(first.lacking.items()))
        raise InputError(f"the evidence allows no registered attack; {name} lacks {lacks}")
    units = _units(evidence, table.targets)
    how = {"units": units, "level": level, "seed": seed}
    areas = {
        name: metrics.crossed_interval("auc", score, table.member, **how)
        for name, score in table.score.items()
    }
    order = sorted(areas, key=lambda name: -areas[name].value)
    best = table.score[order[0]]
    return {
        "version": membership.__version__,
        "set": str(evidence[0].attrs.get("set", "")),
        "level": level,
        "targets": len(table.targets),
        "independent_units": len(set(units)),
        "records": int(table.record.size),
        "attacks": [
            {
                "name": name,
                "display": known[name].display,
                "knowledge": list(known[name].knowledge),
                "references": known[name].references,
                "paper": known[name].paper,
                "auc": _ends(areas[name].value, areas[name]),
                "tpr_at_fpr": _rates(table, name, how),
                "behind_best": _behind(best, table.score[name], table.member, how),
            }
            for name in order
        ],
        "left_out": [
            {"name": name, "display": known[name].display, "lacks": lacks}
            for name, lacks in first.lacking.items()
        ],
        "warnings": _warnings(evidence, len(set(units))),
    }


def _units(evidence: tuple[xr.Dataset, ...], targets: tuple[int, ...]) -> list[int]:
    """One label for a target and its complement, which are no independent trials."""
    kin = {t: {t}.union(*(complements_of(one, t) for one in evidence)) for t in targets}
    return [min(kin[target]) for target in targets]


def _rates(table: ScoreTable, name: str, how: dict[str, Any]) -> list[dict[str, Any]]:
    score = table.score[name]
    fewest = int((~table.member & np.isfinite(score)).sum(axis=1).min())
    found = []
    for fpr in RATES:
        if fpr * fewest < CARRIED:
            continue
        rate = metrics.crossed_interval("tpr_at_fpr", score, table.member, fpr=fpr, **how)
        found.append({"fpr": fpr, **_ends(rate.value, rate)})
    return found


def _behind(
    best: np.ndarray, score: np.ndarray, member: np.ndarray, how: dict[str, Any]
) -> dict[str, float] | None:
    if score is best:
        return None
    found = metrics.paired_interval("auc", score, best, member, **how)
    return _ends(found.difference, found)


def _ends(value: float, interval: Any) -> dict[str, float]:
    return {"value": value, "low": interval.low, "high": interval.high}


def _warnings(evidence: tuple[xr.Dataset, ...], units: int) -> list[str]:
    said = [text for one in evidence for text in one.attrs.get("warnings", [])]
    if units > 1:
        return said
    return [
        *said,
        "One target: the intervals are of this model, and say nothing of another training.",
    ]
