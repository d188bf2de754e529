"""Every registered attack that a file of evidence allows, compared on its targets."""

import numpy as np
import xarray as xr

from membership import attacks
from membership import evidence as files
from membership.attacks import ScoreTable
from membership.attacks.adversary import complements_of, observe
from membership.audit import distinct, sentences
from membership.audit.promises import checked
from membership.audit.reading import Scored
from membership.audit.report import DELTA, FORMAT, check, made_from
from membership.audit.several import ranked, strongest
from membership.errors import InputError
from membership.evidence.schema import stored

MOST_MODELS = 64
"""Models whose scores say how often a record looks like a member without being one."""


def compare(
    *evidence: xr.Dataset,
    level: float = 0.95,
    delta: float = DELTA,
    seed: int = 0,
    promised: float | None = None,
    promised_mu: float | None = None,
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
    promised, promised_mu : float, optional
        As in `audit`.

    Returns
    -------
    dict
        Plain JSON values: ``attacks``, a list sorted by the true positive rate at the false
        positive rate ``ranked_at``, the least that the non-members carry, and by AUC where those
        are equal (``first_by_auc`` is the first by that), each with ``name``, ``display``,
        ``knowledge``, ``references``, ``paper``, ``auc`` and ``tpr_at_fpr`` as in `audit`, and
        ``behind_best`` and ``tpr_behind_best``, the paired differences to the first of the AUC
        and of the rate, whose intervals hold for all pairs of attacks at once, at ``pair_level``
        each, where attacks that rank all records alike, and are one of ``different_attacks``,
        count once, and ``roc`` [{fpr, tpr}], the mean
        over targets; ``pairs`` {first, second, auc, tpr_at_fpr}, every pair's paired differences
        at that level; ``by_target``, each target's own AUCs at ``target_level`` each where there
        are several, so that an attack's hold for all targets at once; ``strongest``, what `audit`
        says of the first attack on the first target, or None where that was asked too few records:
        ``attack``, ``display``, ``target``, ``records``, ``level`` of each interval, so that
        whichever attack is first they hold at the level of the report, ``auc``, ``tpr_at_fpr``,
        ``positive_predictive_value``, ``groups`` (by the records' label), ``group_level``,
        ``roc`` [{fpr, tpr, low, high}] and ``most_exposed``, each with ``models_without``, the
        number of models trained without the record (at most 64 models are asked, 0 where the
        evidence is not of outputs alone), and ``as_high``, in how many of them it scores as high;
        ``left_out``, what each other attack lacks; ``promises``, ``epsilon_lower_bound`` and
        ``mu_lower_bound`` as in `audit`, the largest over attacks and targets at a level that holds
        for all of them at once, or None where memberships were not drawn (leave-one-out models)
        or too few records were asked; where no record was asked of two targets, the records of
        all are trials together, and ``bounds_design`` {trials, reason} says so;
        ``targets``, ``independent_units``, ``records``, ``level``, ``meaning``, ``checklist`` and
        ``warnings``; ``format`` and ``provenance`` as in
        `audit`, with the seed and each input's digest, that of `membership.evidence.digest`.

    Raises
    ------
    InputError
        The evidence names no targets, or allows no attack; `level`, `delta` or a promise is out of
        range.
    """
    level, delta, seed = check(level, delta, seed)
    promises = checked(promised, promised_mu)
    evidence = tuple(map(stored, evidence))  # it may never have been in a file
    inputs = {
        f"{i} {dataset.attrs.get('set', '')}": files.digest(dataset)
        for i, dataset in enumerate(evidence)
    }
    evidence, repeated = distinct.once(tuple(map(_in_order, evidence)))
    table = attacks.score_table(*evidence)
    known = attacks.registry()
    display = {name: attack.display for name, attack in known.items()}
    first = attacks.scores(*evidence, target=table.targets[0])
    if not table.score:
        name, lacks = next(iter(first.lacking.items()))
        raise InputError(f"the evidence allows no registered attack; {name} lacks {lacks}")
    of_records, unit = table, distinct.units_of(evidence, table.record)
    table = table if unit is None else distinct.by_unit(table, unit)
    units = _units(evidence, table.targets)
    tasks = {dataset.attrs.get("task") for dataset in evidence}
    notes = [*_notes(evidence), *repeated]
    void = sentences.SHIFTED if sentences.shifts(notes) else None
    ranking = ranked(table, [*table.targets], units, level, delta, seed, promises, void)
    best, target = ranking["attacks"][0]["name"], table.targets[0]
    group = _labels(evidence, of_records.record)
    if unit is not None and group is not None:
        group = distinct.groups_by_unit(group, unit, table.record)
    scored = _first_target(table, best, group)
    close = strongest(scored, best, target, ranking, level)
    if close is not None and scored is not None and unit is None:
        exposed = np.array([int(record["record"]) for record in close["most_exposed"]])
        counts = _without(evidence, best, target, exposed, scored)
        close["most_exposed"] = [
            record | {"models_without": without, "as_high": high}
            for record, (without, high) in zip(close["most_exposed"], counts, strict=True)
        ]
    if close is not None:
        close["display"] = known[best].display
    return {
        "format": FORMAT,
        "provenance": made_from(inputs, seed=seed),
        "set": str(evidence[0].attrs.get("set", "")),
        **({} if unit is None else {"units": {"records": unit.size, "units": table.record.size}}),
        **ranking,
        "attacks": [
            {
                **attack,
                "display": known[attack["name"]].display,
                "knowledge": list(known[attack["name"]].knowledge),
                "references": known[attack["name"]].references,
                "paper": known[attack["name"]].paper,
            }
            for attack in ranking["attacks"]
        ],
        "strongest": close,
        "left_out": [_left_out(name, lacks, tasks) for name, lacks in first.lacking.items()],
        "meaning": sentences.meaning_of_several(close, ranking, display, notes),
        "checklist": sentences.checklist_of_evidence(
            looked_at=all("warnings" in dataset.attrs for dataset in evidence),
            grouped=bool(close and close["groups"]),
            units=len(set(units)),
            whole=unit is not None,
        ),
        "warnings": [
            *notes,
            *([sentences.ONE_TARGET] if len(set(units)) == 1 else []),
            *sentences.alike(ranking, display),
        ],
    }


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
            score = attacks.registry()[name].score(seen)
        except InputError:  # The model's references do not do, or it was not asked everything.
            continue
        order = np.argsort(seen.record)
        at = order[np.searchsorted(seen.record, record, sorter=order)]
        out = ~seen.member[at]
        counts += np.c_[out, out & (score[at] >= high)]
    return [(int(without), int(as_high)) for without, as_high in counts]


_TAKES = {
    "form.": "a torch module's weights and its training records",
    "reference_log_odds": "weights of target and reference",
    "leave_one_out.": "models trained without a single record, two for each record",
    "steps.": "the gradient of each training step",
    "posterior.kron.": "draws from a reference's posterior, which BMIA, closed form, does without; "
    "that is gathered of modules with a linear layer at their end",
    "posterior.closed form.": "arrays of records, and references that are torch modules with a "
    "plain linear layer at their end, which answers what its weight and bias say",
    "posterior.qmia.": "arrays of records, and held ones that no model has seen",
    "held.": "held records that no model has seen",
    "shokri": "all logits of the references",
    "references.": "reference models, that is, a function that trains one",
}
"""What it would take to have what evidence lacks, by the beginning of its name."""
_BY_HAND = {
    "form.": "`attacks.sif`, `attacks.iha` and `attacks.residual` give scores",
    "reference_log_odds": "`attacks.matt` gives scores",
    "steps.": "`attacks.glir` gives scores",
    "shokri": "`attacks.shadow` gives scores",
}
"""Which functions of the package make scores of it, that `audit` takes."""
_NO_CLASS = {"regression": "a regression answers no classes",
             "multi-label": "a record of several labels has no single class"}  # fmt: skip


def _left_out(name: str, lacks: str, tasks: set[str | None]) -> dict[str, str]:
    """An attack with what the evidence lacks, and with what it would take in a reader's words."""
    names = [name for need in lacks.split(", ") for name in need.split("|")]
    display = attacks.registry()[name].display
    if {"hinge", "correct", "halved_log_odds", "shokri"} & set(names):
        for task in tasks & _NO_CLASS.keys():
            takes = _NO_CLASS[task]
            return {"name": name, "display": display, "lacks": f"{lacks}: {takes}", "takes": takes}
    start = next((start for start in _TAKES if any(name.startswith(start) for name in names)), "")
    takes = _TAKES.get(start, lacks)
    sentence = f"{lacks}: {takes}" if start else lacks
    if start in _BY_HAND:
        sentence += f". {_BY_HAND[start]} from these, and `audit` judges scores"
    return {"name": name, "display": display, "lacks": sentence, "takes": takes}


def _notes(evidence: tuple[xr.Dataset, ...]) -> list[str]:
    return [text for dataset in evidence for text in dataset.attrs.get("warnings", [])]
