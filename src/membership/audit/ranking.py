"""Attacks on the same targets and records: ranked, compared in pairs, and what they prove."""

from itertools import combinations
from typing import Any

import numpy as np
import scipy
from tqdm import tqdm

from membership import metrics
from membership.attacks import ScoreTable
from membership.audit import design as designs
from membership.audit import named, report
from membership.audit import promises as made
from membership.audit.asked import Asked
from membership.audit.reading import Scored
from membership.audit.report import CARRIED, RATES, area, rate
from membership.errors import InputError
from membership.privacy.lower_bounds import LEAST_RECORDS

Statistics = dict[str | float, metrics.Resampled]
RESAMPLES, LEAST_RESAMPLES, WORK = 1_000, 200, 20_000_000
OF_SCORES = (
    *("records", "level", "auc", "tpr_at_fpr", "positive_predictive_value"),
    *("groups", "group_level", "most_exposed", "named"),
)
"""What is said of the strongest attack as in `audit`."""
DESIGNS = {
    "one target": "One model was asked, and each of its {one}s is a trial.",
    "pooled": (
        "No {one} was asked of two targets, so the {one}s of all targets are trials together, "
        "with thresholds that all targets share."
    ),
    "per target": (
        "Targets were asked the same {one}s, whose trials are not independent, so they are not "
        "pooled: each target has its own bounds, and the confidence pays for their number."
    ),
}


def ranked(
    table: ScoreTable,
    names: list[Any],
    units: list[int],
    asked: Asked,
    void: str | None = None,
    whole: bool = False,
) -> dict[str, Any]:
    """The attacks of a table from the strongest, each pair's difference, targets and bounds.

    `names` are the targets' and `units` has one label a target; `void` is that of
    `design.proved`, and `whole` says that records were taken together. With one target, AUC and
    rates are as `audit` has them; with several, they are means whose intervals are over targets and
    records.
    """
    level = asked.level
    fprs, number = _carried(table) or [RATES[-1]], _resamples(table)
    # Seen where it takes long.
    with tqdm(total=number, desc="resampling", unit="resample", delay=3, leave=False) as bar:
        statistics = metrics.resampled_rates(
            table.score, table.member, fprs=fprs, resamples=number, seed=asked.seed, done=bar.update
        )
    order, by_auc = _order(statistics, fprs[0])
    attacks = {name: _attack(_cases(table, name), statistics[name], level, units) for name in order}
    different = _different(table)
    pair_level = 1 - (1 - level) / max(len(different) * (len(different) - 1) // 2, 1)
    pairs = [
        {"first": a, "second": b, **_pair(statistics[a], statistics[b], pair_level, units)}
        for a, b in combinations(order, 2)
    ]
    behind = {pair["second"]: _behind(pair) for pair in pairs if pair["first"] == order[0]}
    target_level = 1 - (1 - level) / len(names)
    bounds = _bounds(table, different, asked, void, "unit" if whole else "record")
    return {
        "level": level,
        "targets": len(names),
        "independent_units": len(set(units)),
        "records": int(table.record.size),
        "ranked_at": fprs[0],
        "first_by_auc": by_auc,
        "different_attacks": len(different),
        "attacks": [
            {"name": name, **attacks[name], **behind.get(name, _BEHIND_NONE)} for name in order
        ],
        "pair_level": pair_level,
        "pairs": pairs,
        "target_level": target_level,
        "by_target": _by_target(table, names, order, target_level) if len(names) > 1 else [],
        **bounds,
        **made.held(asked.promised, bounds, asked.delta, len(different), whole),
    }


def _order(statistics: dict[str, Statistics], fpr: float) -> tuple[list[str], str]:
    """The attacks by what they find at a rate, ties by AUC; and the first by AUC."""
    found = {
        name: (float(of_attack[fpr].value.mean()), float(of_attack["auc"].value.mean()))
        for name, of_attack in statistics.items()
    }
    order = sorted(found, key=lambda name: found[name], reverse=True)
    return order, max(order, key=lambda name: found[name][1])


def _different(table: ScoreTable) -> list[str]:
    """Attacks of which none ranks all records as another does: two names of one score pay once."""
    first: dict[bytes, str] = {}
    for name in table.score:
        ranks = [scipy.stats.rankdata(score, "dense") for score, _ in _cases(table, name)]
        first.setdefault(np.concatenate(ranks).tobytes(), name)
    return [*first.values()]


_BEHIND_NONE = {"behind_best": None, "tpr_behind_best": None}


def _behind(pair: dict[str, Any]) -> dict[str, Any]:
    """What the second of a pair has less, of the AUC and at the rate that attacks are ranked by."""
    at = pair["tpr_at_fpr"][0]
    return {
        "behind_best": _negated(pair["auc"]),
        "tpr_behind_best": {"fpr": at["fpr"], **_negated(at)},
    }


def strongest(
    scored: Scored | None, name: str, target: str | int, ranking: dict[str, Any], asked: Asked
) -> dict[str, Any] | None:
    """The first attack on a target as `audit` has it, paid for by the attacks' number."""
    if scored is None:
        return None
    try:
        single_report = report.audit(scored, asked.of_first(ranking["different_attacks"]))
    except InputError:  # Too few records.
        return None
    named.shared(single_report["named"], asked.fdr, ranking["different_attacks"])
    return {
        "attack": name,
        "target": target,
        **{key: single_report[key] for key in OF_SCORES},
        "roc": report.curve(scored, single_report["level"]).to_dict("records"),
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


def _attack(
    cases: list[tuple[np.ndarray, np.ndarray]],
    statistics: Statistics,
    level: float,
    units: list[int],
) -> dict[str, Any]:
    """One attack's AUC, rates and ROC curve, from scores and truth of each target."""
    fewest = min(int((~member).sum()) for _, member in cases)
    if len(cases) == 1:
        score, member = cases[0]
        auc = area(score, member, level)
        rates = [rate(score, member, fpr, level) for fpr in RATES]
    else:
        auc, *intervals = [
            _ends(statistic.interval(level, units)) for statistic in statistics.values()
        ]
        rates = [
            {"fpr": fpr, **interval, **report.carried(fpr, fewest)}
            for fpr, interval in zip(list(statistics)[1:], intervals, strict=True)
        ]
    fprs = report.grid(fewest)
    mean_tpr = np.mean([metrics.tpr_on(score, member, fprs) for score, member in cases], axis=0)
    points = zip(fprs.tolist(), mean_tpr.tolist(), strict=True)
    roc = [{"fpr": fpr, "tpr": tpr} for fpr, tpr in points]
    return {"auc": auc, "tpr_at_fpr": rates, "roc": roc}


def _pair(first: Statistics, second: Statistics, level: float, units: list[int]) -> dict[str, Any]:
    """What the first has more than the second of each statistic, on the same resamples."""
    differences = {
        key: _ends((first[key] + second[key] * -1.0).interval(level, units)) for key in first
    }
    auc = differences.pop("auc")
    return {
        "auc": auc,
        "tpr_at_fpr": [{"fpr": fpr, **interval} for fpr, interval in differences.items()],
    }


def _by_target(
    table: ScoreTable, names: list[Any], order: list[str], level: float
) -> list[dict[str, Any]]:
    """Each target's own AUCs, whose intervals hold for all targets of an attack at once."""
    entries = []
    for row, target in enumerate(names):
        cases = {name: _case(table, name, row) for name in order}
        _, member = cases[order[0]]
        counts = {"members": int(member.sum()), "non_members": int((~member).sum())}
        auc = {name: area(*case, level) for name, case in cases.items()}
        entries.append({"target": target, **counts, "auc": auc})
    return entries


def _bounds(
    table: ScoreTable, different: list[str], asked: Asked, void: str | None, one: str
) -> dict[str, Any]:
    """What the strongest attack proves, paid for by Bonferroni's correction."""
    trials = bounds_design(table)
    by_attack = [_cases(table, name) for name in different]
    if trials == "pooled":
        cases = [tuple(map(np.concatenate, zip(*targets, strict=True))) for targets in by_attack]
    else:
        cases = [case for targets in by_attack for case in targets]
    too_few = any(np.bincount(truth, minlength=2).min() < LEAST_RECORDS for _, truth in cases)
    repeated = np.unique(table.record).size < table.record.size
    if repeated or too_few:
        return {"bounds_design": None, "epsilon_lower_bound": None, "mu_lower_bound": None}
    return {
        "bounds_design": {"trials": trials, "reason": DESIGNS[trials].format(one=one)},
        **designs.proved(
            cases, asked.paid, asked.delta, asked.design, tossed=asked.tossed, void=void, one=one
        ),
    }


def bounds_design(table: ScoreTable) -> str:
    """Whether the bounds are of one target, of all targets' records together, or of each target."""
    if len(table.targets) == 1:
        return "one target"
    is_trial = ~np.isnan(next(iter(table.score.values())))
    return "pooled" if is_trial.sum(axis=0).max() == 1 else "per target"


def _cases(table: ScoreTable, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores and truth of each target, without records that it was not asked."""
    return [_case(table, name, row) for row in range(len(table.targets))]


def _case(table: ScoreTable, name: str, row: int) -> tuple[np.ndarray, np.ndarray]:
    is_trial = ~np.isnan(table.score[name][row])
    return table.score[name][row, is_trial], table.member[row, is_trial]


def _ends(interval: metrics.PairedInterval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def _negated(ends: dict[str, float]) -> dict[str, float]:
    return {"value": -ends["value"], "low": -ends["high"], "high": -ends["low"]}
