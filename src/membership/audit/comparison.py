"""Every registered attack that a file of evidence allows, compared on its targets."""

from typing import Any

import numpy as np
import xarray as xr

from membership import attacks, metrics, privacy
from membership import evidence as files
from membership.attacks import ScoreTable
from membership.attacks.adversary import complements_of, observe
from membership.audit import page
from membership.audit.provenance import made_from
from membership.audit.reading import Scored
from membership.audit.report import CARRIED, DELTA, NO_PROOF_OF_SAFETY, RATES, audit, bounds
from membership.errors import InputError
from membership.privacy.lower_bounds import LEAST_RECORDS, n_thresholds

MOST_MODELS = 64
"""Models whose scores say how often a record looks like a member without being one."""
OF_SCORES = ("auc", "tpr_at_fpr", "positive_predictive_value", "groups", "group_level")
"""What the strongest attack is told of as in `audit`, beside its most exposed members."""


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
        ``behind_best``, the paired difference of the AUC to the first, whose intervals hold for
        all pairs of attacks at once, at ``pair_level`` each; ``strongest``, what `audit` says of
        the first attack on the first target, or None where that target was asked too few records:
        ``attack``, ``display``, ``target``, ``records``, ``level`` of each interval, so that
        whichever attack is first they hold at the level of the report, ``auc``, ``tpr_at_fpr``,
        ``positive_predictive_value``, ``groups`` (by the records' label), ``group_level``,
        ``roc`` [{fpr, tpr, low, high}] and ``most_exposed``, each with ``models_without``, the
        number of models trained without the record (at most 64 models are asked, 0 where the
        evidence is not of outputs alone), and ``as_high``, in how many of them it scores as high;
        ``left_out``, what each other attack lacks; ``epsilon_lower_bound`` and
        ``mu_lower_bound`` as in `audit`, the largest over attacks and targets at a level that holds
        for all of them at once, or None where memberships were not drawn (leave-one-out models)
        or too few records were asked;
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
    pair_level = 1 - (1 - level) / max(len(order) * (len(order) - 1) // 2, 1)
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
                else _behind(areas[order[0]], areas[name], pair_level, units),
            }
            for name in order
        ],
        "pair_level": pair_level,
        "strongest": _strongest(evidence, table, order[0], level),
        **_bounds(table, level, delta),
        "left_out": [
            {"name": name, "display": known[name].display, "lacks": lacks}
            for name, lacks in first.lacking.items()
        ],
        "meaning": [_MEANING, CHOSEN, NO_PROOF_OF_SAFETY],
        "warnings": _warnings(evidence, len(set(units))),
    }


_MEANING = (
    "Who knows what a row says under knowledge, and sees of the released model what its attack "
    "saw, tells members from others as well as the row's interval says."
)
CHOSEN = (
    "The first attack was chosen on the records that it is judged on. The lower bounds, the "
    "differences to it and what is said of it alone hold for all attacks at once, so that the "
    "choice is paid for; a row's own AUC and rates hold for an attack chosen beforehand."
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


def _strongest(
    evidence: tuple[xr.Dataset, ...], table: ScoreTable, name: str, level: float
) -> dict[str, Any] | None:
    """The first attack on the first target as `audit` has it, paid for by the attacks' number."""
    score, target = table.score[name][0], table.targets[0]
    asked = ~np.isnan(score)
    record, member = table.record[asked], table.member[0, asked]
    if np.unique(record).size < record.size:
        return None
    try:
        group = _labels(evidence, record)
        scored = Scored(score[asked], member, group=group, record=record)
        found = audit(scored, level=1 - (1 - level) / len(table.score))
    except InputError:  # Too few records, or one score for all of them.
        return None
    exposed = [int(one["record"]) for one in found["most_exposed"]]
    counts = _without(evidence, name, target, np.array(exposed), scored)
    return {
        "attack": name,
        "display": attacks.registry()[name].display,
        "target": int(target),
        "records": found["records"],
        "level": found["level"],
        **{key: found[key] for key in OF_SCORES},
        "roc": page.curve(scored, found["level"]).to_dict("records"),
        "most_exposed": [
            one | {"models_without": without, "as_high": high}
            for one, (without, high) in zip(found["most_exposed"], counts, strict=True)
        ],
    }


def _labels(evidence: tuple[xr.Dataset, ...], record: np.ndarray) -> np.ndarray | None:
    """The records' labels, which are the groups that evidence knows of."""
    for one in evidence:
        if "label" in one and "record" in one.coords and one["label"].dims == ("record",):
            return one["label"].sel(record=record).values
    return None


def _without(
    evidence: tuple[xr.Dataset, ...], name: str, target: int, record: np.ndarray, scored: Scored
) -> list[tuple[int, int]]:
    """Of models trained without each record: how many, and in how many it scores as high."""
    counts = np.zeros((len(record), 2), dtype=int)
    if [one.attrs.get("kind") for one in evidence] != ["outputs"]:
        return [(0, 0)] * len(record)
    assert scored.record is not None
    of_target = dict(zip(scored.record, scored.score, strict=True))
    high = np.array([of_target[str(one)] for one in record])
    models = evidence[0].coords.get("model", np.arange(evidence[0].sizes["model"]))
    for model in [int(one) for one in np.asarray(models) if one != target][:MOST_MODELS]:
        seen = observe(*evidence, target=model)
        try:
            score = attacks.registry()[name].score(seen)
        except InputError:  # This model's references do not do.
            continue
        order = np.argsort(seen.record)
        at = order[np.searchsorted(seen.record, record, sorter=order)]
        out = ~seen.member[at]
        counts += np.c_[out, out & (score[at] >= high)]
    return [(int(without), int(as_high)) for without, as_high in counts]


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
