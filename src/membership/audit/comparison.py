"""Every registered attack that a file of evidence allows, compared on its targets."""

from typing import Any

import numpy as np
import xarray as xr

from membership import attacks, metrics, privacy
from membership import evidence as files
from membership.attacks import ScoreTable
from membership.attacks.adversary import complements_of
from membership.audit.provenance import made_from
from membership.audit.report import CARRIED, DELTA, NO_PROOF_OF_SAFETY, RATES, bounds
from membership.errors import InputError
from membership.privacy.lower_bounds import LEAST_RECORDS, n_thresholds


def compare(
    *evidence: xr.Dataset, level: float = 0.95, delta: float = DELTA, seed: int = 0
) -> dict:
    """Attack the targets of evidence in every way that it allows.

    Parameters
    ----------
    *evidence : xarray.Dataset
        From `membership.evidence.load`: kinds that go together, see `attacks.scores`.
    level : float
        Confidence of every interval, and of the two bounds, in (0, 1).
    delta : float
        Of (epsilon, delta)-differential privacy, as in `audit`.
    seed : int
        Of the resampling.

    Returns
    -------
    dict
        Plain JSON values: ``attacks``, a list sorted by AUC, each with ``name``, ``display``,
        ``knowledge``, ``references``, ``paper``, ``auc`` and ``tpr_at_fpr`` as in `audit`, and
        ``behind_best``, the paired difference of the AUC to the first; ``left_out``, what each
        other attack lacks; ``epsilon_lower_bound`` and ``mu_lower_bound`` as in `audit`, the
        largest over attacks and targets at a level that holds for all of them at once, or None
        where memberships were not drawn (leave-one-out models) or too few records were asked;
        ``targets``, ``records``, ``level``, ``meaning`` and ``warnings``; ``provenance`` as in
        `audit`, with the seed and each input's digest, that of `membership.evidence.digest`.

    Raises
    ------
    InputError
        The evidence names no targets, or allows no attack; `level` or `delta` is out of range.
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"level is {level}; give a confidence between 0 and 1, both excluded")
    if not 0.0 <= delta < 1.0:
        raise InputError(f"delta is {delta}; give a number of at least 0 and below 1")
    table = attacks.score_table(*evidence)
    known = attacks.registry()
    first = attacks.scores(*evidence, target=table.targets[0])
    if not table.score:
        name, lacks = next(iter(first.lacking.items()))
        raise InputError(f"the evidence allows no registered attack; {name} lacks {lacks}")
    units = _units(evidence, table.targets)
    inputs = {
        f"{i} {one.attrs.get('set', '')}": files.digest(one) for i, one in enumerate(evidence)
    }
    how = {"units": units, "level": level, "seed": seed}
    areas = {
        name: metrics.resampled("auc", score, table.member, seed=seed)
        for name, score in table.score.items()
    }
    found = {name: area.interval(level, units) for name, area in areas.items()}
    order = sorted(found, key=lambda name: -found[name].difference)
    return {
        "provenance": made_from(inputs, seed=seed),
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
                "auc": _ends(found[name].difference, found[name]),
                "tpr_at_fpr": _rates(table, name, how),
                "behind_best": None
                if name == order[0]
                else _behind(areas[order[0]], areas[name], level, units),
            }
            for name in order
        ],
        **_bounds(table, level, delta),
        "left_out": [
            {"name": name, "display": known[name].display, "lacks": lacks}
            for name, lacks in first.lacking.items()
        ],
        "meaning": [_MEANING, NO_PROOF_OF_SAFETY],
        "warnings": _warnings(evidence, len(set(units))),
    }


_MEANING = (
    "Who knows what a row says under knowledge, and sees of the released model what its attack "
    "saw, tells members from others as well as the row's interval says."
)


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
    best: metrics.Resampled, other: metrics.Resampled, level: float, units: list[int]
) -> dict[str, float]:
    found = (other + best * -1.0).interval(level, units)
    return _ends(found.difference, found)


def _bounds(table: ScoreTable, level: float, delta: float) -> dict[str, Any]:
    """What the strongest attack on any target proves, paid for by Bonferroni's correction."""
    asked = [
        (row[~np.isnan(row)], truth[~np.isnan(row)])
        for score in table.score.values()
        for row, truth in zip(score, table.member, strict=True)
    ]
    twice = np.unique(table.record).size < table.record.size
    if twice or any(np.bincount(truth, minlength=2).min() < LEAST_RECORDS for _, truth in asked):
        return {"epsilon_lower_bound": None, "mu_lower_bound": None}
    shared = 1 - (1 - level) / len(asked)
    epsilon = max(privacy.epsilon_lower_bound(*one, delta=delta, level=shared) for one in asked)
    mu = max(privacy.mu_lower_bound(*one, level=shared) for one in asked)
    return bounds(epsilon, mu, level, delta, sum(n_thresholds(truth) for _, truth in asked))


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
