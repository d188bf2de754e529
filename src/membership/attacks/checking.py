"""What the attacks on signal arrays ask of their arguments."""

from typing import Any

import numpy as np

from membership.arrays import BoolArray, FloatArray, as_bool, as_float64
from membership.errors import InputError

_ROUNDING = 1e-6


def as_references(name: str, values: Any, n_records: int) -> FloatArray:
    """Convert a signal under reference models to float64, (models, `n_records`), and check it."""
    array = as_float64(name, values, 2)
    if array.shape[1] != n_records:
        raise InputError(f"{name} has shape {array.shape}; give (models, {n_records} records)")
    return array


def as_probabilities(name: str, values: FloatArray) -> FloatArray:
    """Check that every entry lies in [0, 1], up to the rounding of a softmax in float32."""
    if values.min() < -_ROUNDING or values.max() > 1 + _ROUNDING:
        raise InputError(
            f"{name} runs from {values.min():.9g} to {values.max():.9g}; give probabilities, 0 to 1"
        )
    return np.clip(values, 0.0, 1.0)


def as_membership(reference_member: Any, shape: tuple[int, ...]) -> BoolArray:
    """Which reference model was trained on which record; none was where the caller says nothing."""
    if reference_member is None:
        return np.zeros(shape, dtype=bool)
    return as_bool("reference_member", reference_member, shape)


def evened(references: FloatArray, inside: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Every record with the same numbers of IN and OUT models, where they differ by one in all.

    Where every record is in equally many models, the target's among them, its references are one
    IN model short for a member and one OUT model short for another. Whatever depends on these
    numbers then tells the answer. The last model of the side that is not short is left out.
    """
    count = inside.sum(axis=0)
    if np.ptp(count) != 1 or count.max() == len(inside):
        return references, inside
    surplus = inside == (count == count.max())
    left_out = len(inside) - 1 - surplus[::-1].argmax(axis=0)
    kept = np.arange(len(inside))[:, None] != left_out

    def of(values: Any) -> Any:
        return values.T[kept.T].reshape(count.size, -1).T

    return of(references), of(inside)


def require_models(chosen: BoolArray, side: str, needed: int) -> None:
    """Check that every record has `needed` of the reference models marked in `chosen`.

    Raises
    ------
    InputError
        Names the first record with fewer.
    """
    count = chosen.sum(axis=0)
    short = np.flatnonzero(count < needed)
    if short.size:
        raise InputError(
            f"reference_member: record {short[0]} has {count[short[0]]} {side} models, and "
            f"{short.size} of {count.size} records have fewer than {needed}; give each {needed}"
        )
