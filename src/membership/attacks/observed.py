"""Evidence as an adversary has it who attacks one model: named arrays over the same records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import xarray as xr

from membership.arrays import BoolArray, FloatArray
from membership.attacks.kinds import READERS, Found, references_of
from membership.errors import InputError

# Kinds that speak of the same models and records; each of the other two stands alone.
TOGETHER = ("outputs", "white_box", "posterior")
KINDS = (*TOGETHER, "pairs", "steps")


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
        ``held.log_odds`` of records that no model has seen, (held,), and ``held.references``;
        ``form.published.own2`` and its kin; ``posterior.kron.mean``, (references, records);
        ``leave_one_out.log_odds``; ``steps.distance``, (steps, records).
    attributes : dict
        Of the evidence: recipe, batch size, rank.
    """

    record: np.ndarray
    member: BoolArray
    arrays: Found
    attributes: dict[str, Any]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise InputError(f"the evidence lacks {name}; gather it, or leave the attack out")
        return self.arrays[name]

    def lacking(self, needs: tuple[str, ...]) -> tuple[str, ...]:
        """Which of these names there is no array for; "a|b" is there where either is."""
        return tuple(
            need for need in needs if not any(one in self.arrays for one in need.split("|"))
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


def observe(*evidence: xr.Dataset, target: int = 0, references: int | None = None) -> Observed:
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
    by_kind = {one.attrs.get("kind"): one for one in evidence}
    strange = [kind for kind in by_kind if kind not in KINDS]
    apart = len(by_kind) > 1 and not set(by_kind) <= set(TOGETHER)
    if strange or apart or not evidence or len(by_kind) < len(evidence):
        given = [one.attrs.get("kind") for one in evidence]
        raise InputError(
            f"evidence of kinds {given}: give pairs or steps alone, or one each of "
            f"{', '.join(TOGETHER)}"
        )
    if references is not None and references < 1:
        raise InputError(f"references is {references}; give 1 or more, or None for all")
    order = references_of(by_kind.get("outputs"), target)[:references]
    parts = [READERS[kind](one, target, order) for kind, one in by_kind.items()]
    record = parts[0][0]
    for other, _ in parts[1:]:
        record = record[np.isin(record, other)]
    if not record.size:
        raise InputError("the evidence has no record in common; gather it on the same records")
    arrays: Found = {}
    for own, found in parts:
        arrays |= {k: v for k, v in _on(record, own, found) if k not in arrays}
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise InputError(f"{name} holds numbers that are not finite; gather the evidence again")
    member = arrays.pop("member", None)
    if member is None:
        raise InputError("the evidence does not say who is a member; give outputs with it")
    attributes = {k: v for one in reversed(evidence) for k, v in one.attrs.items()}
    return Observed(record, member.astype(bool), arrays, attributes)


def _on(record: np.ndarray, own: np.ndarray, found: Found) -> Iterator[tuple[str, np.ndarray]]:
    """Arrays over `own` records in the order of `record`; those of held records as they are."""
    if np.array_equal(record, own):
        yield from found.items()
        return
    order = np.argsort(own, kind="stable")
    rows = order[np.searchsorted(own, record, sorter=order)]
    for name, values in found.items():
        yield name, values if name.startswith("held.") else values[..., rows]
