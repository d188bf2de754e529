"""How each kind of evidence is read by an adversary who attacks one of its models."""

import numpy as np
import xarray as xr

from membership.arrays import FloatArray
from membership.errors import InputError

SIGNALS = ("log_odds", "halved_log_odds", "hinge", "correct", "shokri")

Found = dict[str, np.ndarray]


def _labels(evidence: xr.Dataset, dim: str) -> np.ndarray:
    return evidence[dim].values if dim in evidence.coords else np.arange(evidence.sizes[dim])


def _place(labels: np.ndarray, number: int, dim: str, name: str = "target") -> int:
    found = np.flatnonzero(labels == number)
    if not found.size:
        raise InputError(f"{name} = {number}: the evidence has {dim} {labels.tolist()}")
    return int(found[0])


def _numbers(evidence: xr.Dataset, name: str) -> np.ndarray:
    return evidence[name].values.astype(np.float64)


def references_of(outputs: xr.Dataset | None, target: int) -> list[int]:
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


def complements_of(evidence: xr.Dataset, target: int) -> set[int]:
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
    found = {b for a, b in pairs if a == target} | {a for a, b in pairs if b == target}
    if target in labels and "member" in evidence:
        member = evidence["member"].values
        opposite = (member != member[labels.index(target)]).all(axis=1)
        found |= {model for model, there in zip(labels, opposite, strict=True) if there}
    return {int(model) for model in found}


def _of_outputs(evidence: xr.Dataset, target: int, order: list[int]) -> tuple[np.ndarray, Found]:
    labels = _labels(evidence, "model")
    at = _place(labels, target, "model")
    others = [_place(labels, number, "model", "references") for number in order]
    found: Found = {"member": evidence["member"].values[at]}
    for name in SIGNALS:
        if name in evidence:
            values = _numbers(evidence, name)
            found[name] = values[at]
            # Some signals are gathered of the targets alone.
            if others and not np.isnan(values[others]).all(axis=1).any():
                found[f"references.{name}"] = values[others]
        if f"held_{name}" in evidence:
            held = _numbers(evidence, f"held_{name}")
            found[f"held.{name}"] = held[at]
            if others:
                found[f"held.references.{name}"] = held[others]
    if others:
        found["references.member"] = evidence["member"].values[others]
    record = _labels(evidence, "record")
    if "asked" in evidence:
        asked = evidence["asked"].values[at]
        record = record[asked]
        found = {k: v if k.startswith("held.") else v[..., asked] for k, v in found.items()}
    return record, found


def _of_white_box(evidence: xr.Dataset, target: int, order: list[int]) -> tuple[np.ndarray, Found]:
    at = _place(_labels(evidence, "target"), target, "target")
    found: Found = {"member": evidence["member"].values[at]}
    for name in ("log_odds", "loss", "leverage", "reference_log_odds", "step_product"):
        if name in evidence:
            found[name] = _numbers(evidence, name)[at]
    if "form" in evidence:
        found |= _forms(evidence, _numbers(evidence, "form")[at])
    record = evidence["record"].values[at] if "record" in evidence else _labels(evidence, "query")
    return record, found


def _forms(evidence: xr.Dataset, form: FloatArray) -> Found:
    """Forms (inverse, term, records) by name, the first inverse that fits each."""
    inverses, found = evidence.attrs.get("inverses", []), {}
    if len(inverses) != len(form):
        raise InputError(f"inverses: {len(inverses)} are described; there are {len(form)}")
    for how, values in zip(inverses, form, strict=True):
        if "conditioning" not in how:
            raise InputError(f"inverses: {how} does not say its conditioning")
        kind = how["conditioning"]
        kind = how.get("stationarity", "published") if kind == "damping" else kind
        for term, one in zip(_labels(evidence, "term"), values, strict=True):
            if np.isnan(one).all():
                # Gathered with the other inverses only.
                continue
            found.setdefault(f"form.{kind}.{term}", one)
    return found


def _of_posterior(evidence: xr.Dataset, target: int, order: list[int]) -> tuple[np.ndarray, Found]:
    labels, found = _labels(evidence, "reference"), {}
    chosen = [int(np.flatnonzero(labels == r)[0]) for r in order if r in labels]
    for v, variant in enumerate(_labels(evidence, "variant")):
        # What is predicted of the target's own signal has the target's number.
        rows = [_place(labels, target, "reference")] if variant == "qmia" else chosen
        for name in ("mean", "sd"):
            values = _numbers(evidence, name)[rows, v]
            # Draws take long, and an attack reads those of the first: the others may lack them.
            if rows:
                lack = np.isnan(values).all(axis=1)
                n = len(lack) if lack[0] or not lack.any() else int(lack.argmax())
                found[f"posterior.{variant}.{name}"] = values[:n]
    return _labels(evidence, "record"), found


def _of_pairs(evidence: xr.Dataset, target: int, order: list[int]) -> tuple[np.ndarray, Found]:
    """Every record twice: asked of the target trained without it, then of the one with it."""
    replicates = _labels(evidence, "replicate")
    at = _place(replicates, target, "replicate")
    sides = [_place(_labels(evidence, "side"), side, "side") for side in ("without", "with")]
    record = _labels(evidence, "record")
    found: Found = {"member": np.repeat([False, True], record.size)}

    def both(values: np.ndarray) -> np.ndarray:
        """(record, side, ...) to (..., records of both sides)."""
        return np.concatenate([np.moveaxis(values[:, side], 0, -1) for side in sides], axis=-1)

    if "answer" in evidence and evidence.sizes["output"] == 1:
        odds = _numbers(evidence, "answer")[..., 0, 0]
        found["log_odds"] = both(odds[:, :, at])
        rest = np.delete(np.arange(replicates.size), at)
        if rest.size:
            per_side = [np.tile(odds[:, side][:, rest].T, 2) for side in sides]
            found["leave_one_out.log_odds"] = np.concatenate(per_side)
            trained = np.repeat([False, True], rest.size)[:, None]
            found["leave_one_out.member"] = np.broadcast_to(
                trained, found["leave_one_out.log_odds"].shape
            )
    if "loss" in evidence:
        found["loss"] = both(_numbers(evidence, "loss")[:, :, at])
    if "form" in evidence:
        found |= _forms(evidence, both(_numbers(evidence, "form")[:, :, at]))
    return np.tile(record, 2), found


def _of_steps(evidence: xr.Dataset, target: int, order: list[int]) -> tuple[np.ndarray, Found]:
    at = _place(_labels(evidence, "model"), target, "model")
    found: Found = {"member": evidence["member"].values[at]}
    for name in ("distance", "susceptibility"):
        if name in evidence:
            found[f"steps.{name}"] = _numbers(evidence, name)[at]
    return _labels(evidence, "record"), found


READERS = {
    "outputs": _of_outputs,
    "white_box": _of_white_box,
    "posterior": _of_posterior,
    "pairs": _of_pairs,
    "steps": _of_steps,
}
