"""What the accountant refuses, and how it says so."""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_real
from membership.errors import InputError

# Far beyond any training run, and near enough to 1 for every formula to stay within float64.
LARGEST, SMALLEST = 1e15, 1e-15
MOST_STEPS = 1e24


def rates(name: str, values: Any) -> FloatArray:
    """Rates as float64 in their own shape; an InputError where one is no number in [0, 1]."""
    array = as_real(name, values).astype(np.float64, copy=False)
    if not ((array >= 0) & (array <= 1)).all():
        wrong = array[~((array >= 0) & (array <= 1))][0]
        raise InputError(f"{name} = {wrong}: give numbers in [0, 1]")
    return array


# What each number may be: its test, and how a message describes it. NaN passes none.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "n": (lambda v: 2 <= v <= LARGEST, "a batch size of 2 to 1e15"),
    # Where only the gradients' sum and a record's chance count, not Corollary 5.1.
    "batch_size": (lambda v: SMALLEST <= v <= LARGEST, "a batch size above 0, of 1e-15 to 1e15"),
    "rate": (
        lambda v: SMALLEST <= v <= 1,
        "a sampling rate above 0, at most 1",
    ),
    "d": (lambda v: 1 <= v <= LARGEST, "1 to 1e15 dimensions"),
    "k": (
        lambda v: 0 < v <= LARGEST,
        "a gradient susceptibility K above 0, at most 1e15 (its mean is d)",
    ),
    "tau": (lambda v: 0 <= v <= LARGEST, "a standard deviation of 0 to 1e15"),
    "sigma": (lambda v: v == 0 or 1e-3 <= v <= 1e6, "a noise multiplier of 0, or 0.001 to 1e6"),
    "delta": (lambda v: 1e-100 <= v < 1, "at least 1e-100 and below 1"),
    "epsilon": (lambda v: 0 <= v <= 600, "0 to 600"),
    "prior": (lambda v: 0 < v < 1, "a share of members above 0 and below 1"),
    "steps": (lambda v: 1 <= v <= MOST_STEPS, "1 to 1e24 steps"),
    "epochs": (lambda v: 0 < v <= 1e9, "a number above 0, at most 1e9"),
    "level": (
        lambda v: SMALLEST <= v <= LARGEST,
        "a privacy level mu above 0, of 1e-15 to 1e15; mu = 0 needs infinite noise",
    ),
    # Infinity is no privacy at all.
    "reached level": (lambda v: v >= 0, "a privacy level of 0 or more"),
    "clip": (
        lambda v: SMALLEST <= v <= LARGEST,
        "a clipping norm C above 0, of 1e-15 to 1e15",
    ),
}


def number(name: str, value: Any, rule: str = "") -> float:
    """Return a parameter as a float under the rule of its name, or of another that is given."""
    return require(name, value, *_RULES[rule or name])


def clipping(clip: float | None) -> float:
    """Return the clipping norm C as a float, above 0."""
    if clip is None:
        raise InputError("clip is missing; with noise (tau above 0) give the clipping norm C")
    return number("clip", clip)


def records(n_records: float | None, batch_size: float) -> float:
    """Return the number of records as a float, no fewer than one batch."""
    accepted = f"at least the batch size {batch_size:g}, at most 1e15"
    return require("n_records", n_records, lambda v: batch_size <= v <= LARGEST, accepted)


def require(name: str, value: Any, is_good: Callable[[Any], bool], accepted: str) -> float:
    """Return a number as a float; raise an InputError that says what is accepted."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} = {value!r}: give {accepted}, as a number")
    if not is_good(value):
        raise InputError(f"{name} = {value}: give {accepted}")
    return float(value)
