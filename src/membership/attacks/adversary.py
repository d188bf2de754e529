"""What an adversary who attacks one model sees: evidence as named arrays over the same records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError
from membership.signals import loss_of_log_odds

if TYPE_CHECKING:
    import xarray as xr

# Kinds that speak of the same models and records; each of the other two stands alone.
TOGETHER = ("outputs", "white_box", "posterior")
KINDS = (*TOGETHER, "pairs", "steps")
SIGNALS = ("log_odds", "halved_log_odds", "hinge", "correct", "shokri")

REGRESSED = "qmia"
"""The variant of posterior evidence that predicts the target's own signal, by regression."""
# Names of arrays that many attacks read.
REFERENCES = ("references.log_odds", "references.member")
LEFT_OUT = ("leave_one_out.log_odds", "leave_one_out.member")
HELD = ("held.log_odds", "held.references.log_odds")

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Observed:
    """What evidence says of one target; an array is missing where the evidence lacks it.

    Attributes
    ----------
    record : ndarray of shape (records,)
        Which records these are, by their row in the data set. Of leave-one-out models each occurs
        twice: trained on and not.
    member : bool ndarray of shape (records,)
        The truth. Attacks read it only where what they know says so.
    arrays : dict of str to ndarray
        By name: ``log_odds`` and the like of the target, (records,); ``references.log_odds``,
        (models, records), of models that are neither the target nor its complement;
        ``sequence.log_odds`` of several models of the target's training, (checkpoints, records);
        ``held.log_odds`` of records that no model has seen, (held,), and ``held.references``;
        ``form.published.own2`` and its kin; ``posterior.kron.mean``, (references, records);
        ``leave_one_out.log_odds``; ``steps.distance``, (steps, records).
    attributes : dict
        Of the evidence: recipe, batch size, rank.
    """

    record: np.ndarray
    member: BoolArray
    arrays: Arrays
    attributes: dict[str, Any]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise InputError(f"the evidence lacks {name}; gather it, or leave the attack out")
        return self.arrays[name]

    def lacking(self, needs: tuple[str, ...]) -> tuple[str, ...]:
        """Which of these names there is no array for; "a|b" is there where either is."""
        return tuple(
            need for need in needs if not any(array in self.arrays for array in need.split("|"))
        )

    def setting(self, name: str) -> Any:
        """A number of the training recipe, or of the evidence.

        Raises
        ------
        InputError
            Neither has it.
        """
        for place in (self.attributes.get("recipe", {}), self.attributes):
            if name in place:
                if not isinstance(place[name], Real) or isinstance(place[name], bool):
                    raise InputError(f"{name} = {place[name]!r}: the evidence needs a number")
                return place[name]
        raise InputError(f"the evidence's recipe does not say {name}; gather it again")

    def form(self, how: str) -> Mapping[str, FloatArray]:
        """Quadratic forms by term; `how` is one of `FORMS`."""
        start = f"form.{how}."
        return {k.removeprefix(start): v for k, v in self.arrays.items() if k.startswith(start)}


def observe(*evidence: "xr.Dataset", target: int = 0, references: int | None = None) -> Observed:
    """Look at evidence as an adversary who attacks one model.

    Parameters
    ----------
    *evidence : xarray.Dataset
        Of different kinds: "outputs", "white_box" and "posterior" together, over the records that
        all of them have; "pairs" and "steps" each alone.
    target : int
        Number of the model attacked, by the labels of the dimension model, or target; of "pairs"
        the replicate.
    references : int, optional
        Use the first so many reference models; None: all.

    Returns
    -------
    Observed

    Raises
    ------
    InputError
        The kinds do not go together, there is no such target, no record is common, or a number
        is not finite.
    """
    by_kind = {dataset.attrs.get("kind"): dataset for dataset in evidence}
    strange = [kind for kind in by_kind if kind not in KINDS]
    apart = len(by_kind) > 1 and not set(by_kind) <= set(TOGETHER)
    if strange or apart or not evidence or len(by_kind) < len(evidence):
        kinds = [dataset.attrs.get("kind") for dataset in evidence]
        raise InputError(
            f"evidence of kinds {kinds}: give pairs or steps alone, or one each of "
            f"{', '.join(TOGETHER)}"
        )
    if references is not None and references < 1:
        raise InputError(f"references is {references}; give 1 or more, or None for all")
    order = references_of(by_kind.get("outputs"), target)[:references]
    parts = [READERS[kind](dataset, target, order) for kind, dataset in by_kind.items()]
    record = parts[0][0]
    for records, _ in parts[1:]:
        record = record[np.isin(record, records)]
    if not record.size:
        raise InputError("the evidence has no record in common; gather it on the same records")
    arrays: Arrays = {}
    for own, own_arrays in parts:
        arrays |= {k: v for k, v in _on(record, own, own_arrays) if k not in arrays}
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise InputError(
                f"{name} holds numbers that are not finite, as where not every model was asked of "
                "every record; gather those that are missing"
            )
    member = arrays.pop("member", None)
    if member is None:
        raise InputError("the evidence does not say who is a member; give outputs with it")
    attributes = {k: v for dataset in reversed(evidence) for k, v in dataset.attrs.items()}
    return Observed(record, member.astype(bool), arrays, attributes)


def _on(record: np.ndarray, own: np.ndarray, arrays: Arrays) -> Iterator[tuple[str, np.ndarray]]:
    """Arrays over `own` records in the order of `record`; those of held records as they are."""
    if np.array_equal(record, own):
        yield from arrays.items()
        return
    order = np.argsort(own, kind="stable")
    rows = order[np.searchsorted(own, record, sorter=order)]
    for name, values in arrays.items():
        yield name, values if name.startswith("held.") else values[..., rows]


def loss_of(seen: Observed, place: str = "log_odds") -> FloatArray:
    if place == "log_odds" and "loss" in seen.arrays:
        return seen["loss"]
    recipe = seen.attributes.get("recipe", {})
    return loss_of_log_odds(seen[place], recipe.get("loss", "cross-entropy"))


def out_of(seen: Observed, signal: str) -> FloatArray:
    """The signal under models not trained on the record, as many for each record."""
    return _outside(seen[f"references.{signal}"], seen["references.member"].astype(bool))


def _outside(values: np.ndarray, inside: BoolArray) -> np.ndarray:
    """Values of the first models, down the rows, that were not trained on each record."""
    first = np.argsort(inside, axis=0, kind="stable")[: int((~inside).sum(axis=0).min())]
    return np.take_along_axis(values, first, axis=0)


def _labels(evidence: "xr.Dataset", dim: str) -> np.ndarray:
    return evidence[dim].values if dim in evidence.coords else np.arange(evidence.sizes[dim])


def _place(labels: np.ndarray, number: int, dim: str, name: str = "target") -> int:
    places = np.flatnonzero(labels == number)
    if not places.size:
        raise InputError(f"{name} = {number}: the evidence has {dim} {labels.tolist()}")
    return int(places[0])


def _numbers(evidence: "xr.Dataset", name: str) -> np.ndarray:
    return evidence[name].values.astype(np.float64)


def references_of(outputs: "xr.Dataset | None", target: int) -> list[int]:
    """Model numbers of the target's references: never itself, nor its complement.

    Where the evidence names its reference models, each target starts with another one, so that
    the spread over targets includes which reference was trained.
    """
    if outputs is None:
        return []
    targets, labels = list(outputs.attrs.get("targets", [])), _labels(outputs, "model")
    at = targets.index(target) if target in targets else 0
    named = list(outputs.attrs.get("references", []))
    order = [named[(at + k) % len(named)] for k in range(len(named))] or labels.tolist()
    own = {target, *complements_of(outputs, target)}
    return [int(model) for model in order if model not in own]


def complements_of(evidence: "xr.Dataset", target: int) -> set[int]:
    """The models trained on exactly the records that the target was not, named as such or not."""
    targets, named = evidence.attrs.get("targets", []), evidence.attrs.get("complements", [])
    labels = _labels(evidence, "model").tolist() if "model" in evidence.sizes else []
    # One for each target, or one for each model.
    of = labels if len(named) == len(labels) else targets
    if named and len(named) != len(of):
        raise InputError(
            f"complements: {len(named)} are named for {len(targets)} targets and {len(labels)} "
            "models; name one for each of either"
        )
    pairs = [(a, b) for a, b in zip(of, named, strict=False) if b is not None]
    complements = {b for a, b in pairs if a == target} | {a for a, b in pairs if b == target}
    if target in labels and "member" in evidence:
        member = evidence["member"].values
        opposite = (member != member[labels.index(target)]).all(axis=1)
        complements |= {
            model for model, is_opposite in zip(labels, opposite, strict=True) if is_opposite
        }
    return {int(model) for model in complements}


def _of_outputs(evidence: "xr.Dataset", target: int, order: list[int]) -> tuple[np.ndarray, Arrays]:
    labels = _labels(evidence, "model")
    at = _place(labels, target, "model")
    references = [_place(labels, number, "model", "references") for number in order]
    arrays: Arrays = {"member": evidence["member"].values[at]}
    for name in SIGNALS:
        if name in evidence:
            values = _numbers(evidence, name)
            arrays[name] = values[at]
            # Some signals are gathered of the targets alone.
            if references and not np.isnan(values[references]).all(axis=1).any():
                arrays[f"references.{name}"] = values[references]
        if f"held_{name}" in evidence:
            held = _numbers(evidence, f"held_{name}")
            arrays[f"held.{name}"] = held[at]
            if references:
                arrays[f"held.references.{name}"] = held[references]
    if "sequence_log_odds" in evidence:
        values = _numbers(evidence, "sequence_log_odds")
        arrays["sequence.log_odds"] = values[at]
        if references:
            arrays["references.sequence.log_odds"] = values[references]
    if references:
        arrays["references.member"] = evidence["member"].values[references]
    arrays |= _predicted(evidence, at, references)
    record = _labels(evidence, "record")
    if "asked" in evidence:
        is_asked = evidence["asked"].values[at]
        record = record[is_asked]
        arrays = {k: v if k.startswith("held.") else v[..., is_asked] for k, v in arrays.items()}
    return record, arrays


def _predicted(evidence: "xr.Dataset", at: int, references: list[int]) -> Arrays:
    """Moments of the target's hinge: regressed, and of references not trained on the record."""
    arrays: Arrays = {}
    for moment in ("mean", "sd"):
        if f"regressed_{moment}" in evidence:
            values = _numbers(evidence, f"regressed_{moment}")[[at]]
            if np.isfinite(values).all():
                arrays[f"posterior.{REGRESSED}.{moment}"] = values
        if f"posterior_{moment}" in evidence:
            values, inside = (
                evidence[name].values[references] for name in (f"posterior_{moment}", "member")
            )
            known = np.isfinite(values).all(axis=1)
            outside = _outside(values[known].astype(np.float64), inside[known])
            if len(outside):
                arrays[f"posterior.closed form.{moment}"] = outside
    return arrays


def _of_white_box(
    evidence: "xr.Dataset", target: int, order: list[int]
) -> tuple[np.ndarray, Arrays]:
    at = _place(_labels(evidence, "target"), target, "target")
    arrays: Arrays = {"member": evidence["member"].values[at]}
    for name in ("log_odds", "loss", "leverage", "reference_log_odds", "step_product"):
        if name in evidence:
            arrays[name] = _numbers(evidence, name)[at]
    if "form" in evidence:
        arrays |= _forms(evidence, _numbers(evidence, "form")[at])
    record = evidence["record"].values[at] if "record" in evidence else _labels(evidence, "query")
    return record, arrays


def _forms(evidence: "xr.Dataset", form: FloatArray) -> Arrays:
    """Forms (inverse, term, records) by name, the first inverse that fits each."""
    inverses, forms = evidence.attrs.get("inverses", []), {}
    if len(inverses) != len(form):
        raise InputError(f"inverses: {len(inverses)} are described; there are {len(form)}")
    for how, values in zip(inverses, form, strict=True):
        if "conditioning" not in how:
            raise InputError(f"inverses: {how} does not say its conditioning")
        kind = how["conditioning"]
        kind = how.get("stationarity", "published") if kind == "damping" else kind
        for term, form in zip(_labels(evidence, "term"), values, strict=True):
            if np.isnan(form).all():
                # Gathered with the other inverses only.
                continue
            forms.setdefault(f"form.{kind}.{term}", form)
    return forms


def _of_posterior(
    evidence: "xr.Dataset", target: int, order: list[int]
) -> tuple[np.ndarray, Arrays]:
    labels, arrays = _labels(evidence, "reference"), {}
    chosen = [int(np.flatnonzero(labels == r)[0]) for r in order if r in labels]
    for v, variant in enumerate(_labels(evidence, "variant")):
        # What is predicted of the target's own signal has the target's number.
        rows = [_place(labels, target, "reference")] if variant == REGRESSED else chosen
        for name in ("mean", "sd"):
            values = _numbers(evidence, name)[rows, v]
            # Draws take long, and an attack reads those of the first: the others may lack them.
            if rows:
                lack = np.isnan(values).all(axis=1)
                n = len(lack) if lack[0] or not lack.any() else int(lack.argmax())
                arrays[f"posterior.{variant}.{name}"] = values[:n]
    return _labels(evidence, "record"), arrays


def _of_pairs(evidence: "xr.Dataset", target: int, order: list[int]) -> tuple[np.ndarray, Arrays]:
    """Every record twice: asked of the target trained without it, then of the one with it."""
    replicates = _labels(evidence, "replicate")
    at = _place(replicates, target, "replicate")
    sides = [_place(_labels(evidence, "side"), side, "side") for side in ("without", "with")]
    record = _labels(evidence, "record")
    arrays: Arrays = {"member": np.repeat([False, True], record.size)}

    def both(values: np.ndarray) -> np.ndarray:
        """(record, side, ...) to (..., records of both sides)."""
        return np.concatenate([np.moveaxis(values[:, side], 0, -1) for side in sides], axis=-1)

    if "answer" in evidence and evidence.sizes["output"] == 1:
        odds = _numbers(evidence, "answer")[..., 0, 0]
        arrays["log_odds"] = both(odds[:, :, at])
        replicates_left = np.delete(np.arange(replicates.size), at)
        if replicates_left.size:
            per_side = [np.tile(odds[:, side][:, replicates_left].T, 2) for side in sides]
            arrays["leave_one_out.log_odds"] = np.concatenate(per_side)
            trained = np.repeat([False, True], replicates_left.size)[:, None]
            arrays["leave_one_out.member"] = np.broadcast_to(
                trained, arrays["leave_one_out.log_odds"].shape
            )
    if "loss" in evidence:
        arrays["loss"] = both(_numbers(evidence, "loss")[:, :, at])
    if "form" in evidence:
        arrays |= _forms(evidence, both(_numbers(evidence, "form")[:, :, at]))
    return np.tile(record, 2), arrays


def _of_steps(evidence: "xr.Dataset", target: int, order: list[int]) -> tuple[np.ndarray, Arrays]:
    at = _place(_labels(evidence, "model"), target, "model")
    arrays: Arrays = {"member": evidence["member"].values[at]}
    for name in ("distance", "susceptibility"):
        if name in evidence:
            arrays[f"steps.{name}"] = _numbers(evidence, name)[at]
    return _labels(evidence, "record"), arrays


READERS = {
    "outputs": _of_outputs,
    "white_box": _of_white_box,
    "posterior": _of_posterior,
    "pairs": _of_pairs,
    "steps": _of_steps,
}
