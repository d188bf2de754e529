"""Attacks on the same targets and records: ranked, compared in pairs, and what they prove."""

from itertools import combinations
from typing import Any

import numpy as np

from membership import metrics
from membership.attacks import ScoreTable
from membership.audit import design as designs
from membership.audit import page
from membership.audit.reading import Scored
from membership.audit.report import CARRIED, RATES, area, audit, rate
from membership.errors import InputError
from membership.privacy.lower_bounds import LEAST_RECORDS

Measured = dict[str | float, metrics.Resampled]
RESAMPLES, LEAST_RESAMPLES, WORK = 1_000, 200, 20_000_000
OF_SCORES = ("auc", "tpr_at_fpr", "positive_predictive_value", "groups", "group_level")
"""What the strongest attack is told of as in `audit`, beside its most exposed members."""
DESIGNS = {
    "one target": "One model was asked, and each of its records is a trial.",
    "pooled": (
        "No record was asked of two targets, so the records of all targets are trials together, "
        "with thresholds that all targets share."
    ),
    "per target": (
        "Targets were asked the same records, whose trials are not independent, so they are not "
        "pooled: each target has its own bounds, and the confidence pays for their number."
    ),
}


def ranked(
    table: ScoreTable,
    names: list[Any],
    units: list[int],
    level: float,
    delta: float,
    seed: int,
    copied: str | None = None,
) -> dict[str, Any]:
    """The attacks of a table from the strongest, each pair's difference, targets and bounds.

    Parameters are those of `membership.audit.compare`; `names` are the targets' and `units` has
    one label a target; `copied` is that of `design.copies`. With one target, AUC and rates are as
    `audit` has them; with several, they are means whose intervals are over targets and records.
    """
    measured = metrics.resampled_rates(
        table.score, table.member, fprs=_carried(table), resamples=_resamples(table), seed=seed
    )
    mean = {name: float(one["auc"].value.mean()) for name, one in measured.items()}
    order = sorted(mean, key=lambda name: -mean[name])
    found = {name: _alone(_asked(table, name), measured[name], level, units) for name in order}
    pair_level = 1 - (1 - level) / max(len(order) * (len(order) - 1) // 2, 1)
    pairs = [
        {"first": a, "second": b, **_pair(measured[a], measured[b], pair_level, units)}
        for a, b in combinations(order, 2)
    ]
    behind = {one["second"]: _turned(one["auc"]) for one in pairs if one["first"] == order[0]}
    target_level = 1 - (1 - level) / len(names)
    return {
        "level": level,
        "targets": len(names),
        "independent_units": len(set(units)),
        "records": int(table.record.size),
        "attacks": [
            {"name": name, **found[name], "behind_best": behind.get(name)} for name in order
        ],
        "pair_level": pair_level,
        "pairs": pairs,
        "target_level": target_level,
        "by_target": _by_target(table, names, order, target_level) if len(names) > 1 else [],
        **_bounds(table, level, delta, copied),
    }


def strongest(
    scored: Scored | None, name: str, target: str | int, n_attacks: int, level: float
) -> dict[str, Any] | None:
    """The first attack on a target as `audit` has it, paid for by the attacks' number."""
    if scored is None:
        return None
    try:
        found = audit(scored, level=1 - (1 - level) / n_attacks)
    except InputError:  # Too few records.
        return None
    return {
        "attack": name,
        "target": target,
        "records": found["records"],
        "level": found["level"],
        **{key: found[key] for key in OF_SCORES},
        "roc": page.curve(scored, found["level"]).to_dict("records"),
        "most_exposed": found["most_exposed"],
    }


def _carried(table: ScoreTable) -> list[float]:
    """The rates at which the non-members of each target let one expect enough false positives."""
    fewest = min(
        int((~table.member & np.isfinite(score)).sum(axis=1).min())
        for score in table.score.values()
    )
    return [fpr for fpr in RATES if fpr * fewest >= CARRIED]


def _resamples(table: ScoreTable) -> int:
    """As many as small tables have, and fewer of large ones, whose rates vary little anyway."""
    return int(np.clip(WORK // table.record.size, LEAST_RESAMPLES, RESAMPLES))


def _alone(
    asked: list[tuple[np.ndarray, np.ndarray]],
    measured: Measured,
    level: float,
    units: list[int],
) -> dict[str, Any]:
    """One attack's AUC, rates and ROC curve, from scores and truth of each target."""
    fewest = min(int((~member).sum()) for _, member in asked)
    if len(asked) == 1:
        score, member = asked[0]
        areas = area(score, member, level)
        rates = [rate(score, member, fpr, level) for fpr in RATES]
    else:
        areas, *ends = [_ends(one.interval(level, units)) for one in measured.values()]
        rates = [
            {"fpr": fpr, **one, "expected_false_positives": fpr * fewest, "measured": True}
            for fpr, one in zip(list(measured)[1:], ends, strict=True)
        ]
    shown = page.grid(fewest)
    tpr = np.mean([metrics.tpr_on(score, member, shown) for score, member in asked], axis=0)
    points = zip(shown.tolist(), tpr.tolist(), strict=True)
    roc = [{"fpr": fpr, "tpr": at} for fpr, at in points]
    return {"auc": areas, "tpr_at_fpr": rates, "roc": roc}


def _pair(first: Measured, second: Measured, level: float, units: list[int]) -> dict[str, Any]:
    """What the first has more than the second of each statistic, on the same resamples."""
    more = {key: _ends((first[key] + second[key] * -1.0).interval(level, units)) for key in first}
    area_more = more.pop("auc")
    return {"auc": area_more, "tpr_at_fpr": [{"fpr": fpr, **one} for fpr, one in more.items()]}


def _by_target(
    table: ScoreTable, names: list[Any], order: list[str], level: float
) -> list[dict[str, Any]]:
    """Each target's own AUCs, whose intervals hold for all targets of an attack at once."""
    found = []
    for row, target in enumerate(names):
        own = {name: _row(table, name, row) for name in order}
        _, member = own[order[0]]
        counts = {"members": int(member.sum()), "non_members": int((~member).sum())}
        areas = {name: area(*one, level) for name, one in own.items()}
        found.append({"target": target, **counts, "auc": areas})
    return found


def _bounds(table: ScoreTable, level: float, delta: float, copied: str | None) -> dict[str, Any]:
    """What the strongest attack proves, paid for by Bonferroni's correction."""
    design = bounds_design(table)
    asked = [one for name in table.score for one in _asked(table, name)]
    if design == "pooled":
        each = [_asked(table, name) for name in table.score]
        asked = [tuple(np.concatenate(part) for part in zip(*one, strict=True)) for one in each]
    few = any(np.bincount(truth, minlength=2).min() < LEAST_RECORDS for _, truth in asked)
    twice = np.unique(table.record).size < table.record.size
    if twice or few:
        return {"bounds_design": None, "epsilon_lower_bound": None, "mu_lower_bound": None}
    return {
        "bounds_design": {"trials": design, "reason": DESIGNS[design]},
        **designs.trials(asked, level, delta, copied),
    }


def bounds_design(table: ScoreTable) -> str:
    """Whether the bounds are of one target, of all targets' records together, or of each target."""
    if len(table.targets) == 1:
        return "one target"
    asked = ~np.isnan(next(iter(table.score.values())))
    return "pooled" if asked.sum(axis=0).max() == 1 else "per target"


def _asked(table: ScoreTable, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores and truth of each target, without records that it was not asked."""
    return [_row(table, name, row) for row in range(len(table.targets))]


def _row(table: ScoreTable, name: str, row: int) -> tuple[np.ndarray, np.ndarray]:
    asked = ~np.isnan(table.score[name][row])
    return table.score[name][row, asked], table.member[row, asked]


def _ends(found: metrics.PairedInterval) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}


def _turned(ends: dict[str, float]) -> dict[str, float]:
    return {"value": -ends["value"], "low": -ends["high"], "high": -ends["low"]}
