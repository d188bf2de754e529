"""Every registered attack that a file of evidence allows, compared on its targets."""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from membership import attacks
from membership import evidence as files
from membership.attacks import ScoreTable
from membership.attacks.adversary import complements_of, observe
from membership.audit import design as designs
from membership.audit import distinct, done, sentences
from membership.audit.asked import DELTA, Asked
from membership.audit.left_out import left_out
from membership.audit.named import FDR, RATE
from membership.audit.ranking import ranked, strongest
from membership.audit.reading import Scored
from membership.audit.report import FORMAT, made_from
from membership.errors import InputError
from membership.evidence.schema import stored

MOST_MODELS = 64
"""Models whose scores say how often a record looks like a member without being one."""


def compare(
    *evidence: xr.Dataset,
    level: float = 0.95,
    delta: float = DELTA,
    seed: int = 0,
    design: str = designs.TRIALS,
    promised: float | None = None,
    promised_mu: float | None = None,
    fdr: float = FDR,
) -> dict:
    """Attack the targets of evidence in every way that it allows.

    Parameters
    ----------
    *evidence : xarray.Dataset
        From `membership.evidence.load`: kinds that go together, see `attacks.scores`.
    level : float
        Confidence of every interval, and of the two bounds, in (0, 1).
    delta, seed, design, promised, promised_mu, fdr
        As in `audit`. Where `gather` tossed the coins of its targets, "coins" rests on them alone.

    Returns
    -------
    dict
        Plain JSON values, whose form `audit.schema.json` has. ``attacks`` is sorted by the true
        positive rate at ``ranked_at``, the least false positive rate that the non-members carry,
        and by AUC where those are equal (``first_by_auc`` is the first by that): each has what the
        registry says of it, its AUC, rates and mean ``roc``, and ``behind_best`` and
        ``tpr_behind_best``, paired differences to the first. Those of all ``pairs`` hold at once,
        at ``pair_level`` each, where attacks that rank all records alike are one of
        ``different_attacks``. ``by_target`` has each target's AUCs. ``strongest`` is what `audit`
        says of the first attack on the first target, at a ``level`` that pays for the choice, or
        None where that was asked too few records; each of its ``most_exposed`` has
        ``models_without``, the models trained without the record (at most 64 are asked, 0 where
        the evidence is not of outputs alone), and ``as_high``, in how many of them it scores as
        high. ``left_out`` says what each other attack lacks. The bounds are the largest over
        attacks and targets at a level that holds for all of them at once, or None where
        memberships were not drawn (leave-one-out models) or too few records were asked; where no
        record was asked of two targets, the records of all are trials together, and
        ``bounds_design`` {trials, reason} says so. ``setup`` says what was done: records, models,
        accuracy, recipe, how memberships were drawn and by whom, and whether settings were tuned.
        The rest is as in `audit`, with the digest of `membership.evidence.digest` of each input.

    Raises
    ------
    InputError
        The evidence names no targets, or allows no attack; a parameter is out of range, or
        `design` is "coins" and no fair coin gives so many members of a target.
    """
    evidence = tuple(map(stored, evidence))  # it may never have been in a file
    done.require_fits(evidence, design)
    drawn = done.by_whom(evidence) if done.by_audit(evidence) else None
    asked = Asked.checked(level, delta, seed, design, promised, promised_mu, fdr)
    asked = replace(asked, tossed=drawn)
    inputs = _digests(evidence)
    evidence, repeated = distinct.once(tuple(map(_in_order, evidence)))
    of_records, lacking = _attacked(evidence)
    unit = distinct.units_of(evidence, of_records.record)
    table = of_records if unit is None else distinct.by_unit(of_records, unit)
    kin = _units(evidence, table.targets)
    notes = [text for dataset in evidence for text in dataset.attrs.get("warnings", [])] + repeated
    void = sentences.SHIFTED if sentences.shifts(notes) else None
    whole = unit is not None
    ranking = ranked(table, [*table.targets], kin, asked, void, whole)
    group = _groups(evidence, of_records.record, unit, table)
    close = _closely(evidence, table, group, ranking, asked, whole)
    known = attacks.registry()
    knowledge = {one["name"]: known[one["name"]].knowledge for one in ranking["attacks"]}
    display = {name: attack.display for name, attack in known.items()}
    single = [sentences.ONE_TARGET] if len(set(kin)) == 1 else []
    setup = done.setup(evidence, table.targets)
    return {
        "format": FORMAT,
        "provenance": made_from(inputs, seed=asked.seed),
        "set": str(evidence[0].attrs.get("set", "")),
        **({} if unit is None else {"units": {"records": unit.size, "units": table.record.size}}),
        **ranking,
        "setup": setup,
        "attacks": [attack | _known(known[attack["name"]], setup) for attack in ranking["attacks"]],
        "strongest": close,
        "left_out": lacking,
        "meaning": sentences.meaning_of_several(
            close, ranking, display, notes, whole, done.asked(evidence), knowledge
        ),
        "checklist": sentences.checklist_of_evidence(
            looked_at=all("warnings" in dataset.attrs for dataset in evidence),
            grouped=bool(close and close["groups"]),
            units=len(set(kin)),
            whole=whole,
            coins=asked.design == designs.COINS,
            drawn=drawn,
            sequence=done.sequence(evidence),
            perturbed=bool(done.queries(evidence)),
        ),
        "warnings": [*notes, *single, *sentences.alike(ranking, display)],
    }


def _digests(evidence: tuple[xr.Dataset, ...]) -> dict[str, str]:
    return {
        f"{i} {dataset.attrs.get('set', '')}": files.digest(dataset)
        for i, dataset in enumerate(evidence)
    }


def _attacked(evidence: tuple[xr.Dataset, ...]) -> tuple[ScoreTable, list[dict[str, str]]]:
    """The scores of every attack that is allowed, and what each other one lacks."""
    table = attacks.score_table(*evidence)
    lacking = attacks.scores(*evidence, target=table.targets[0]).lacking
    if not table.score:
        name, lacks = next(iter(lacking.items()))
        raise InputError(f"the evidence allows no registered attack; {name} lacks {lacks}")
    tasks = {dataset.attrs.get("task") for dataset in evidence}
    tasks |= {"labels"} if done.queries(evidence) else set()
    return table, [left_out(name, lacks, tasks) for name, lacks in lacking.items()]


def _known(attack: attacks.Attack, setup: dict[str, Any]) -> dict[str, Any]:
    """What the registry says of an attack, and what it was given."""
    return {
        "display": attack.display,
        "knowledge": [_as_asked(word, setup) for word in attack.knowledge],
        "references": attack.references,
        "paper": attack.paper,
        "given": done.given(attack, setup),
    }


def _as_asked(word: str, setup: dict[str, Any]) -> str:
    return "classes of perturbed records" if word == "losses" and setup["queries"] > 1 else word


def _closely(
    evidence: tuple[xr.Dataset, ...],
    table: ScoreTable,
    group: np.ndarray | None,
    ranking: dict[str, Any],
    asked: Asked,
    whole: bool,
) -> dict[str, Any] | None:
    """The first attack on the first target; of records, and no units, their own false positives."""
    best, target = ranking["attacks"][0]["name"], table.targets[0]
    scored = _first_target(table, best, group)
    close = strongest(scored, best, target, ranking, asked)
    if close is None or scored is None:
        return None
    if not whole:
        listed = [*close["most_exposed"], *close["named"]["records"]]
        names = np.array([int(record["record"]) for record in listed])
        counts = _without(evidence, best, target, names, scored)
        for record, (without, high) in zip(listed, counts, strict=True):
            record |= {"models_without": without, "as_high": high}
        if any(without for without, _ in counts):
            close["named"]["own_rate"] = RATE
    return close | {"display": attacks.registry()[best].display}


def _groups(
    evidence: tuple[xr.Dataset, ...],
    record: np.ndarray,
    unit: np.ndarray | None,
    table: ScoreTable,
) -> np.ndarray | None:
    """The group of each record, or of each unit."""
    group = _labels(evidence, record)
    if unit is None or group is None:
        return group
    return distinct.groups_by_unit(group, unit, table.record)


def _in_order(dataset: xr.Dataset) -> xr.Dataset:
    """Records by their labels, so that no attack's sum is rounded by the order of the file."""
    is_labelled = "record" in dataset.coords and dataset.indexes["record"].is_unique
    return dataset.sortby("record") if is_labelled else dataset


def _units(evidence: tuple[xr.Dataset, ...], targets: tuple[int, ...]) -> list[int]:
    """One label for a target and its complement, which are no independent trials."""
    kin = {t: {t}.union(*(complements_of(dataset, t) for dataset in evidence)) for t in targets}
    return [min(kin[target]) for target in targets]


def _first_target(table: ScoreTable, name: str, group: np.ndarray | None) -> Scored | None:
    """An attack's scores of the first target, where an audit of scores takes them."""
    score = table.score[name][0]
    is_asked = ~np.isnan(score)
    record, member = table.record[is_asked], table.member[0, is_asked]
    if np.unique(record).size < record.size:
        return None
    asked_group = None if group is None else group[is_asked]
    try:
        return Scored(score[is_asked], member, group=asked_group, record=record)
    except InputError:  # Too few records, or one score for all of them.
        return None


def _labels(evidence: tuple[xr.Dataset, ...], record: np.ndarray) -> np.ndarray | None:
    """The records' labels, which are the groups that evidence knows of."""
    for dataset in evidence:
        if (
            "label" in dataset
            and "record" in dataset.coords
            and dataset["label"].dims == ("record",)
        ):
            label = dataset["label"].sel(record=record).values
            names = dataset.attrs.get("classes", [])
            return np.array(names)[label] if label.max() < len(names) else label
    return None


def _without(
    evidence: tuple[xr.Dataset, ...], name: str, target: int, record: np.ndarray, scored: Scored
) -> list[tuple[int, int]]:
    """Of models trained without each record: how many, and in how many it scores as high."""
    counts = np.zeros((len(record), 2), dtype=int)
    if [dataset.attrs.get("kind") for dataset in evidence] != ["outputs"]:
        return [(0, 0)] * len(record)
    assert scored.record is not None
    of_target = dict(zip(scored.record, scored.score, strict=True))
    high = np.array([of_target[str(number)] for number in record])
    models = evidence[0].coords.get("model", np.arange(evidence[0].sizes["model"]))
    for model in [int(model) for model in np.asarray(models) if model != target][:MOST_MODELS]:
        try:
            seen = observe(*evidence, target=model)
            score = attacks.registry()[name].of(seen)
        except InputError:  # The model's references do not do, or it was not asked everything.
            continue
        order = np.argsort(seen.record)
        at = order[np.searchsorted(seen.record, record, sorter=order)]
        out = ~seen.member[at]
        counts += np.c_[out, out & (score[at] >= high)]
    return [(int(without), int(as_high)) for without, as_high in counts]
