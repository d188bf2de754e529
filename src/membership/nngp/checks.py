"""What the kernels refuse, and how they say so."""

import math
from numbers import Real
from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_real, require_moderate
from membership.errors import InputError


def records(name: str, values: Any, like: FloatArray | None = None) -> FloatArray:
    """Return records as float64 of shape (records, ...)."""
    array = as_real(name, values).astype(np.float64, copy=False)
    if array.ndim < 2 or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give (records, entries...), none empty")
    if like is not None and array.shape[1:] != like.shape[1:]:
        raise InputError(
            f"{name} has records of shape {array.shape[1:]}; give {like.shape[1:]} as the others"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinite entries; give numbers only")
    require_moderate(name, array)
    return array


def positive(name: str, value: Any, zero: bool = False) -> float:
    """Return a finite number above 0, or from 0 with `zero`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or value < 0 or (value == 0 and not zero):
        raise InputError(
            f"{name} = {value!r}: give a number {'of 0 or more' if zero else 'above 0'}"
        )
    return float(value)
