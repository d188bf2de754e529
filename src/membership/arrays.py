"""What a caller passes, checked: arrays, choices and counts."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from membership.errors import InputError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LARGEST = 1e75
"""Up to here products of four numbers are finite; nothing that is measured comes near."""


def one_of(name: str, value: object, choices: Collection) -> None:
    """Raise an InputError unless an argument is one of the choices."""
    if value not in list(choices):
        raise InputError(f"{name} = {value!r}: expected one of {', '.join(map(str, choices))}")


def whole(name: str, value: object, least: int = 1) -> None:
    """Raise an InputError unless an argument is a whole number from `least` up."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} = {value!r}: expected a whole number from {least} up")


def is_number(value: object) -> bool:
    """Whether an argument is one real number, and no word or truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def from_zero(name: str, value: float) -> None:
    """Raise an InputError unless a number is finite and 0 or more."""
    if not is_number(value) or not 0 <= value < np.inf:
        raise InputError(f"{name} = {value!r}: expected a number from 0 up")


def check_level(level: float) -> None:
    """Raise an InputError unless a level is a confidence."""
    if not is_number(level) or not 0.0 < level < 1.0:
        raise InputError(
            f"level is {_told(level)}; give a confidence between 0 and 1, both excluded"
        )


def check_delta(delta: float) -> None:
    """Raise an InputError unless a delta is one of differential privacy."""
    if not is_number(delta) or not 0.0 <= delta < 1.0:
        raise InputError(f"delta is {_told(delta)}; give a number of at least 0 and below 1")


def check_rate(fpr: float) -> None:
    """Raise an InputError unless a false-positive rate leaves a threshold to choose."""
    if not is_number(fpr) or not 0.0 < fpr < 1.0:
        raise InputError(f"fpr is {_told(fpr)}; give a rate between 0 and 1, both excluded")


def _told(value: object) -> str:
    return str(value) if is_number(value) else repr(value)


def as_real(name: str, values: Any) -> np.ndarray:
    """Real numbers as an array in the machine's own form: bool, whole numbers or floats.

    Raises
    ------
    InputError
        They are something else, ragged, complex, or some are masked.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if values.is_floating_point() and values.itemsize < 4:
            values = values.float()  # NumPy has no bfloat16
        try:
            values = values.numpy()
        except (TypeError, RuntimeError):
            raise InputError(
                f"{name}: a {values.layout} tensor of {values.dtype}; give real, dense numbers"
            ) from None
    if isinstance(values, list | tuple) and any(hasattr(one, "detach") for one in values):
        values = [as_real(name, one) for one in values]
    if hasattr(values, "toarray"):
        raise InputError(f"{name}: a sparse {type(values).__name__}; give its toarray()")
    if np.ma.is_masked(values):
        raise InputError(f"{name}: some entries are masked; leave their records out")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.asarray(array.tolist())
        if array.dtype.kind == "O" and None not in array.ravel().tolist():
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be an array of real numbers, all rows of one length"
        ) from None
    if array.dtype.kind not in "biuf":
        kind = "words" if array.dtype.kind in "US" else f"type {array.dtype}"
        raise InputError(f"{name} must be an array of real numbers, not of {kind}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def as_float64(name: str, values: Any, ndim: int, *, finite: bool = True) -> FloatArray:
    """Numbers as float64 of so many axes, none empty; NaN is refused, and infinity if `finite`.

    Finite ones go up to `LARGEST`, so that their products are finite as well.
    """
    array = as_real(name, values).astype(np.float64, copy=False)
    if array.ndim != ndim or array.size == 0:
        axes = "axis" if ndim == 1 else "axes"
        raise InputError(f"{name} has shape {array.shape}; give {ndim} {axes}, none empty")
    refused = ~np.isfinite(array) if finite else np.isnan(array)
    if refused.any():
        kind = "NaN or infinite" if finite else "NaN"
        raise InputError(
            f"{name} holds {refused.sum()} {kind} entries of {array.size}; give numbers only"
        )
    if finite:
        require_moderate(name, array)
    return array


def require_moderate(name: str, array: FloatArray) -> None:
    """Raise an InputError where a finite number is too large to calculate with."""
    size = max(-float(array.min()), float(array.max()))
    if size > LARGEST:
        raise InputError(f"{name} holds numbers up to {size:.3g} in size; give at most {LARGEST:g}")


def deviation(array: FloatArray, axis: int | tuple[int, ...] = 0, **options: Any) -> Any:
    """The standard deviation, 0 where all are equal: the rounding of their mean is no spread."""
    equal = np.ptp(array, axis=axis, keepdims=options.get("keepdims", False)) == 0
    return np.where(equal, 0.0, np.std(array, axis=axis, **options))


def as_bool(name: str, values: Any, shape: tuple[int, ...]) -> BoolArray:
    """Booleans, or numbers that are all 0 or 1, as bool of a given shape."""
    is_array = isinstance(values, np.ndarray) and values.dtype == bool
    if is_array and values.shape == shape and values.size and not np.ma.isMaskedArray(values):
        return values.copy()
    array = as_float64(name, values, len(shape))
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; give {shape}")
    if not np.isin(array, (0.0, 1.0)).all():
        raise InputError(f"{name} holds values other than false and true (0 and 1)")
    return array.astype(bool)


def as_scored(score: Any, member: Any, *, finite: bool = False) -> tuple[FloatArray, BoolArray]:
    """Check a score and the truth beside it.

    Raises
    ------
    InputError
        The score holds NaN (or, with `finite`, infinities), the shapes differ, or only members
        or only non-members are there.
    """
    score = as_float64("score", score, 1, finite=False)
    if finite and (infinite := np.isinf(score)).any():
        raise InputError(
            f"score holds {infinite.sum()} infinite entries of {score.size}; give finite numbers"
        )
    member = as_bool("member", member, score.shape)
    if member.all() or not member.any():
        only = "members" if member.all() else "non-members"
        raise InputError(f"member holds {only} only; give at least one of each")
    return score, member
