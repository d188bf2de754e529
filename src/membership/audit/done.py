"""What was done to gather evidence, as a report says it: models, records, memberships, attacks."""

from typing import Any

import numpy as np
import xarray as xr

from membership.attacks import Attack
from membership.audit import drawing, sequences
from membership.audit.design import COINS
from membership.errors import InputError

Evidence = tuple[xr.Dataset, ...]

_DRAWN = {
    drawing.COINS: "Drawn by this audit: a fair coin for each {one} and target, by seed {seed}.",
    drawing.HALVES: "Drawn by this audit: exactly half of the {one}s for each target, without "
    "replacement, by seed {seed}.",
    drawing.BY_OTHERS: "Stated by whoever ordered this audit, of a model that was trained before. "
    "How its members were chosen is not known here.",
}
_SEQUENCE = {
    sequences.ANY: "Each training ends in {models} models, such as checkpoints, which were audited "
    "together. A member is a record that the training was given, whichever of them saw it first.",
    sequences.ADDED: "Each training ends in {models} models, before and after an update, which "
    "were audited together. A member is a record that the update added. Who was in the training of "
    "the first model is not asked.",
}
_SEEN = "Attacks that know several models compare them; every other attack sees the last one alone."
_LABELS = (
    "Models were asked for classes alone, as a service answers that shows no probabilities: each "
    "record {each} times, once as it is and {others} times {how}. In the place of a loss, attacks "
    "are given the share of these answers that are the record's label. Who sees probabilities, or "
    "asks otherwise, may find more."
)
_UNKNOWN = "The evidence does not say how memberships were drawn, or by whom."
_FIXED = (
    "No setting of an attack was tuned on these records: each is fixed beforehand, as its paper or "
    "its line in the table of attacks has it."
)
_PERTURBED = " How records are perturbed was chosen by whoever ordered this audit."
_FITTED = " What is fitted for an attack (QMIA's regression) is fitted to the held records alone."


def drawn(evidence: Evidence) -> dict[str, Any]:
    """How memberships were drawn and by whom, where the evidence says so."""
    found = [dataset.attrs["drawn"] for dataset in evidence if "drawn" in dataset.attrs]
    return found[0] if found else {}


def require_fits(evidence: Evidence, asked: str) -> None:
    """Raise an InputError where the evidence says that memberships were not drawn as asked."""
    told = drawn(evidence).get("design")
    if asked == COINS and told == drawing.HALVES:
        raise InputError(
            "design = 'coins': the gathering drew exactly half of the records, which is not a coin "
            "for each; leave it out, or gather with draw='coins'"
        )


def by_whom(evidence: Evidence) -> str:
    """The sentence on how memberships were drawn."""
    told = drawn(evidence)
    sentence = _DRAWN.get(told.get("design", told.get("by")), _UNKNOWN)
    return sentence.format(one=told.get("one", "record"), seed=told.get("seed"))


def sequence(evidence: Evidence) -> dict[str, Any]:
    """How many models each training ends with and what is asked of them, where it is several."""
    found = [dataset.attrs["sequence"] for dataset in evidence if "sequence" in dataset.attrs]
    return found[0] if found else {}


def asked(evidence: Evidence) -> list[str]:
    """What was asked, in sentences that stand before all findings; none where it is the usual."""
    told, labels = sequence(evidence), queries(evidence)
    of_sequence = [_SEQUENCE[told["question"]].format(**told), _SEEN] if told else []
    return of_sequence + ([_LABELS.format(**labels, others=labels["each"] - 1)] if labels else [])


def queries(evidence: Evidence) -> dict[str, Any]:
    """How often and how each record was asked about, of models that answer classes alone."""
    found = [dataset.attrs["queries"] for dataset in evidence if "queries" in dataset.attrs]
    return found[0] if found else {}


def by_audit(evidence: Evidence) -> bool:
    """Whether the audit itself drew the memberships."""
    return drawn(evidence).get("by") == drawing.BY_AUDIT


def setup(evidence: Evidence, targets: tuple[int, ...]) -> dict[str, Any]:
    """What a report says was done, as plain values."""
    first = evidence[0]
    sizes = {name: size for dataset in evidence for name, size in dataset.sizes.items()}
    recipe = {k: v for dataset in evidence for k, v in dataset.attrs.get("recipe", {}).items()}
    perturbed = _PERTURBED * bool(queries(evidence))
    fitted = any("regressed_mean" in dataset for dataset in evidence)
    return {
        "task": str(first.attrs.get("task", "classification")),
        "records": int(sizes.get("record", sizes.get("query", 0))),
        "held": int(sizes.get("held", 0)),
        "targets": len(targets),
        "references": _references(evidence, targets),
        "queries": int(queries(evidence).get("each", 1)),
        "sequence": int(sequence(evidence).get("models", 1)),
        "recipe": {str(name): str(value) for name, value in recipe.items()},
        "memberships": by_whom(evidence),
        "drawn": drawn(evidence),
        "accuracy": _accuracy(evidence, targets),
        "tuning": _FIXED + perturbed + _FITTED * fitted,
    }


def _references(evidence: Evidence, targets: tuple[int, ...]) -> int:
    """Models that are no targets; of a gathering of targets alone those that attack each other."""
    for dataset in evidence:
        if "references" in dataset.attrs:
            return len(dataset.attrs["references"])
        if dataset.attrs["kind"] == "outputs":
            others = dataset.sizes["model"] - len(targets)
            return others or dataset.sizes["model"] - 1
        if "reference" in dataset.sizes:
            return dataset.sizes["reference"]
    return 0


def _accuracy(evidence: Evidence, targets: tuple[int, ...]) -> list[dict[str, Any]]:
    """The share of members and of others that each target is right about."""
    found: list[dict[str, Any]] = []
    for dataset in evidence:
        if "correct" not in dataset or "model" not in dataset["correct"].dims or found:
            continue
        models = np.asarray(dataset.coords.get("model", np.arange(dataset.sizes["model"])))
        for target in targets:
            row = np.flatnonzero(models == target)
            if not row.size:
                continue
            right, member = (dataset[name].values[row[0]] == 1 for name in ("correct", "member"))
            if member.any() and not member.all():
                share = {"members": right[member].mean(), "others": right[~member].mean()}
                found.append({"target": int(target), **{k: float(v) for k, v in share.items()}})
    return found


def given(attack: Attack, done: dict[str, Any]) -> str:
    """What an attack was given of the models and records of a gathering."""
    names = " ".join(attack.needs)
    parts = []
    if attack.single_reference:
        parts.append("1 reference model trained without the record")
    elif attack.references != "none":
        parts.append(f"{done['references']} models, of which those trained on {attack.references}")
    if "held." in names or attack.reads_regression:
        parts.append(f"{done['held']} held records")
    return "; ".join([*parts, attack.equation])
