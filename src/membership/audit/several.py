"""Attacks on the same targets and records: ranked, compared in pairs, and what they prove."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata
from tqdm import tqdm

from membership import memory, metrics
from membership.arrays import BoolArray, FloatArray, one_of
from membership.attacks import ScoreTable
from membership.audit import design as designs
from membership.audit import promises as made
from membership.audit import report, sentences
from membership.audit.columns import notes_of_columns
from membership.audit.reading import Scored, Several, read_scores
from membership.audit.report import CARRIED, DELTA, FORMAT, RATES, area, made_from, rate
from membership.errors import InputError
from membership.privacy.lower_bounds import LEAST_RECORDS
from membership.settings import brief


def audit(
    scored: Any,
    *,
    level: float = 0.95,
    delta: float = DELTA,
    seed: int = 0,
    design: str = designs.TRIALS,
    attacks: Sequence[str] = (),
    promised: float | None = None,
    promised_mu: float | None = None,
) -> dict:
    """Say what attacks' scores prove of a model, or of several.

    Parameters
    ----------
    scored : Scored, Several, data frame or mapping
        From `read_scores`, made of arrays, or what `read_scores` takes of Python.
    level : float
        Confidence of every interval and bound, in (0, 1).
    delta : float
        Of (epsilon, delta)-differential privacy, in [0, 1): the chance that its promise fails
        altogether, to be chosen well below one in the number of training records.
    seed : int
        Of the resampling that compares several attacks or targets; one attack's audit draws
        nothing.
    design : {"trials", "coins"}
        What the bounds suppose of one attack's records: independent trials, or that each record was
        included by its own fair coin in this one training run. Say "coins" only where you know it:
        `membership.privacy.one_run_epsilon` and `one_run_mu` then make the bounds.
    attacks : sequence of str
        The columns that are scores, as `read_scores` has it.
    promised : float, optional
        An epsilon that the training promised at `delta`, to be refuted or not.
    promised_mu : float, optional
        A mu of Gaussian privacy that it promised. With both, each bound has half of the error.

    Returns
    -------
    dict
        Plain JSON values, the same for the same scores in any order but for the date, for the
        numbers of rows where records have no names, and for a note on a column that orders the
        rows: ``provenance`` {version, date, command, inputs [{name, sha256}], columns}, where
        ``columns`` were taken for attacks, and arrays are the float64 scores and then the
        memberships, a byte each. Rates are fractions in [0, 1].

        Of one attack on one target: ``auc`` {value, low, high};
        ``tpr_at_fpr`` [{fpr, value, low, high, expected_false_positives, measured}];
        ``positive_predictive_value`` [{fpr, prior, value, low, high}];
        ``epsilon_lower_bound`` {value, level, delta, tried, provable, reason} and
        ``mu_lower_bound`` {the same, epsilon}, where tried counts the thresholds that share the
        error, provable is the bound of an attack that is never wrong, epsilon is what mu means at
        delta for Gaussian privacy, None at a delta of 0, and reason says why a bound of 0 proves
        nothing, None where it is above 0; ``groups``, a list
        whose intervals hold at ``group_level`` each, so that a column holds for all groups at once
        at `level`; ``most_exposed``, a list; ``meaning`` and ``warnings``, lists of str;
        ``design`` {name, guesses, fair_coin_p, assumed, reason}, of "coins" alone, where reason
        says why a bound on epsilon of 0 proves nothing; ``units`` {records, units}, where records
        have units, which then are what everything else counts; ``promises``, where one was given,
        [{notion, promised, delta, verdict, sentence}], with the verdict "refuted", "not refuted" or
        "not tested", which is that of records by which no attack could refute it;
        ``checklist``, what was assumed, tested and not tested [{status, text}].
        `audit.schema.json`, published with the book, has the whole form, and ``format`` names it.

        Of several: what `compare` returns of evidence, without ``set``, ``left_out`` empty, and
        without what the registry and evidence tell of an attack and of an exposed record.

    Raises
    ------
    InputError
        `level`, `delta` or a promise is out of range, there are too few records, or `design` is
        "coins" and there are several attacks or targets, or no fair coin gives so many members.
    """
    level, delta, seed = report.check(level, delta, seed)
    promises = made.checked(promised, promised_mu)
    if not isinstance(scored, Scored | Several):
        scored = read_scores(scored, attacks)
    elif attacks:
        raise InputError(f"attacks = {brief(attacks)}: they are columns of a table; leave out")
    if isinstance(scored, Scored):
        return report.audit(scored, level=level, delta=delta, drawn=design, promised=promises)
    one_of("design", design, designs.DESIGNS)
    if design == designs.COINS:
        raise InputError(
            "design = 'coins': its bounds are of one attack on one target; choose one beforehand"
        )
    table = _table(scored)
    ranking = ranked(table, scored.targets, _units(table), level, delta, seed, promises)
    best, first = ranking["attacks"][0]["name"], scored.targets[0]
    close = strongest(_scored(scored, best, first), best, first, ranking, level)
    digest = hashlib.sha256(b"".join([*map(bytes, scored.score.values()), bytes(scored.member)]))
    left = sentences.not_read(scored.not_read)
    noted = _warnings(scored, ranking["attacks"])
    known = sentences.known(scored, noted=bool(noted))
    single = [sentences.ONE_TARGET] * (len(scored.targets) == 1)
    return {
        "format": FORMAT,
        "provenance": made_from({"arrays": digest.hexdigest()}, seed=seed, columns=[*scored.score]),
        **report.of_units(scored),
        **ranking,
        "strongest": close,
        "left_out": [],
        "meaning": sentences.meaning_of_several(close, ranking, {}),
        "checklist": sentences.checklist_of_scores(
            **known, attacks=len(scored.score), targets=ranking["independent_units"]
        ),
        "warnings": [*left, *noted, *single, *sentences.alike(ranking, {})],
    }


def _table(scored: Several) -> ScoreTable:
    """Targets crossed with records, in an order that is not that of the rows."""
    names, targets = list(scored.score), scored.targets
    if len(targets) == 1:
        order = np.lexsort((*scored.score.values(), scored.member))
        score = {name: scored.score[name][order][None] for name in names}
        return ScoreTable(np.arange(order.size), scored.member[order][None], score, (0,))
    record, column = np.unique(scored.record, return_inverse=True)
    row = np.searchsorted(targets, scored.target)
    shape = (len(targets), record.size)
    memory.require(
        4.0 * 8 * shape[0] * shape[1] * (len(names) + 1),
        f"the table of {shape[0]} targets and {shape[1]} records",
        "give fewer targets at once",
    )

    def placed(values: FloatArray | BoolArray, empty: Any) -> np.ndarray:
        whole = np.full(shape, empty)
        whole[row, column] = values
        return whole

    score = {name: placed(scored.score[name], np.nan) for name in names}
    member = placed(scored.member, False)
    return ScoreTable(np.arange(record.size), member, score, tuple(range(len(targets))))


def _units(table: ScoreTable) -> list[int]:
    """One label for a target and its complement, which are no independent trials."""
    asked = ~np.isnan(next(iter(table.score.values())))
    of_design: dict[bytes, int] = {}
    units = []
    for target, (use, member) in enumerate(zip(asked, table.member, strict=True)):
        opposite = of_design.get(bytes(use) + bytes(use & ~member), target)
        of_design.setdefault(bytes(use) + bytes(member), opposite)
        units.append(opposite)
    return units


def _scored(scored: Several, attack: str, target: str) -> Scored | None:
    try:
        return scored.of(attack, target)
    except InputError:  # Too few records for an audit, or one score for all of them.
        return None


def _warnings(scored: Several, ranking: list[dict[str, Any]]) -> list[str]:
    notes = notes_of_columns(scored.score, scored.member)
    notes += [
        f"{attack['name']}: {text}"
        for attack in ranking
        for text in sentences.notes_of_attack(scored.score[attack["name"]], attack["auc"]["high"])
    ]
    return [*notes, *scored.noted, *sentences.notes_of_rows(scored.member)]


Statistics = dict[str | float, metrics.Resampled]
RESAMPLES, LEAST_RESAMPLES, WORK = 1_000, 200, 20_000_000
OF_SCORES = (
    *("records", "level", "auc", "tpr_at_fpr", "positive_predictive_value"),
    *("groups", "group_level", "most_exposed"),
)
"""What is said of the strongest attack as in `audit`."""
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
    promised: Mapping[str, float],
    void: str | None = None,
) -> dict[str, Any]:
    """The attacks of a table from the strongest, each pair's difference, targets and bounds.

    Parameters are those of `membership.audit.compare`; `names` are the targets' and `units` has
    one label a target; `void` is that of `design.trials`. With one target, AUC and rates are as
    `audit` has them; with several, they are means whose intervals are over targets and records.
    """
    fprs, number = _carried(table) or [RATES[-1]], _resamples(table)
    # Seen where it takes long.
    with tqdm(total=number, desc="resampling", unit="resample", delay=3, leave=False) as bar:
        statistics = metrics.resampled_rates(
            table.score, table.member, fprs=fprs, resamples=number, seed=seed, done=bar.update
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
    bounds = _bounds(table, different, made.paid(level, promised), delta, void)
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
        **made.held(promised, bounds, delta, len(different)),
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
        ranks = [rankdata(score, "dense") for score, _ in _cases(table, name)]
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
    scored: Scored | None, name: str, target: str | int, ranking: dict[str, Any], level: float
) -> dict[str, Any] | None:
    """The first attack on a target as `audit` has it, paid for by the attacks' number."""
    if scored is None:
        return None
    try:
        single_report = report.audit(scored, level=1 - (1 - level) / ranking["different_attacks"])
    except InputError:  # Too few records.
        return None
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
    table: ScoreTable, different: list[str], level: float, delta: float, void: str | None
) -> dict[str, Any]:
    """What the strongest attack proves, paid for by Bonferroni's correction."""
    design = bounds_design(table)
    by_attack = [_cases(table, name) for name in different]
    if design == "pooled":
        cases = [tuple(map(np.concatenate, zip(*targets, strict=True))) for targets in by_attack]
    else:
        cases = [case for targets in by_attack for case in targets]
    too_few = any(np.bincount(truth, minlength=2).min() < LEAST_RECORDS for _, truth in cases)
    repeated = np.unique(table.record).size < table.record.size
    if repeated or too_few:
        return {"bounds_design": None, "epsilon_lower_bound": None, "mu_lower_bound": None}
    return {
        "bounds_design": {"trials": design, "reason": DESIGNS[design]},
        **designs.trials(cases, level, delta, void),
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
