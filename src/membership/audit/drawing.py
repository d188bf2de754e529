"""Who is a member of which model of a gathering, and what is said of how that was drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership import data
from membership.arrays import BoolArray, one_of
from membership.audit.distinct import drawn_whole
from membership.audit.reading import LEAST_RECORDS
from membership.audit.rows import require_whole
from membership.errors import InputError

COINS, HALVES = "coins", "halves"
WAYS = (COINS, HALVES)
BY_AUDIT, BY_OTHERS = "this audit", "whoever trained the model"


@dataclass(frozen=True)
class Drawn:
    """Masks over the records, of targets and then of reference models."""

    masks: BoolArray
    targets: list[int]
    references: list[int]
    unit: np.ndarray | None
    """Whose each record is."""
    told: dict[str, Any]
    """By whom and how, as evidence has it."""


def draw(
    n_records: int, own: BoolArray | None, units: Any, counts: dict[str, int], how: str
) -> Drawn:
    """Draw the targets, unless the one's members are known, and references; units whole.

    `counts` has the arguments of `gather` that are numbers.
    """
    one_of("draw", how, WAYS)
    unit, place = (None, np.arange(n_records)) if units is None else drawn_whole(units, n_records)
    if unit is not None and own is not None:
        require_whole(np.bincount(place, own), np.bincount(place), unit)
    whole = n_records if unit is None else unit.size
    seed, one = counts["seed"], "record" if unit is None else "unit"
    if own is None:
        _require_enough(whole, one, how)
        targets = _targets(counts["n_targets"], whole, seed + 1, how)[:, place]
        told = {"by": BY_AUDIT, "design": how, "one": one, "seed": seed}
    else:
        targets, told = own[None], {"by": BY_OTHERS, "one": one}
    masks = np.concatenate([targets, _references(counts["n_reference"], whole, seed)[:, place]])
    first = len(targets)
    of_records = None if unit is None else unit[place]
    return Drawn(masks, [*range(first)], [*range(first, len(masks))], of_records, told)


def _require_enough(whole: int, one: str, how: str) -> None:
    """Raise an InputError where coins may well leave a target one side empty."""
    if how == COINS and whole < LEAST_RECORDS:
        raise InputError(
            f"draw = 'coins': {whole} {one}s; give at least {LEAST_RECORDS}, or draw='halves'"
        )


def _targets(n_models: int, n_records: int, seed: int, how: str) -> BoolArray:
    if how == HALVES:
        return data.random_halves(n_models, n_records, seed)
    return np.random.default_rng(seed).random((n_models, n_records)) < 0.5


def _references(n_models: int, n_records: int, seed: int) -> BoolArray:
    """Halves and their complements in turn."""
    if not n_models:
        return np.zeros((0, n_records), dtype=bool)
    halves = data.random_halves((n_models + 1) // 2, n_records, seed)
    return np.stack([halves, ~halves], axis=1).reshape(-1, n_records)[:n_models]
