"""What the accountant refuses, and how it says so."""

import math
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
    """Return rates as float64 in their own shape.

    Raises
    ------
    InputError
        A value is no number in [0, 1].
    """
    array = as_real(name, values).astype(np.float64, copy=False)
    if not ((array >= 0) & (array <= 1)).all():
        wrong = array[~((array >= 0) & (array <= 1))][0]
        raise InputError(f"{name} = {wrong}: give numbers in [0, 1]")
    return array


def batch(n: float) -> float:
    """Return the batch size n as a float, 2 or more."""
    return _number("n", n, lambda v: 2 <= v <= LARGEST, "a batch size of 2 to 1e15")


def dimension(d: float) -> float:
    """Return the number of parameters d as a float, 1 or more."""
    return _number("d", d, lambda v: 1 <= v <= LARGEST, "1 to 1e15 dimensions")


def susceptibility(k: float) -> float:
    """Return the gradient susceptibility K as a float, above 0."""
    return _number(
        "k",
        k,
        lambda v: 0 < v <= LARGEST,
        "a gradient susceptibility K above 0, at most 1e15 (its mean is d)",
    )


def noise(tau: float) -> float:
    """Return the noise tau as a float, 0 or more."""
    return _number("tau", tau, lambda v: 0 <= v <= LARGEST, "a standard deviation of 0 to 1e15")


def multiplier(sigma: float) -> float:
    """Return the noise multiplier sigma as a float, 0 or 0.001 to 1e6."""
    return _number(
        "sigma",
        sigma,
        lambda v: v == 0 or 1e-3 <= v <= 1e6,
        "a noise multiplier of 0, or 0.001 to 1e6",
    )


def delta(delta: float) -> float:
    """Return delta as a float, 1e-9 or more and below 1."""
    return _number("delta", delta, lambda v: 1e-9 <= v < 1, "at least 1e-9 and below 1")


def promise(target: str, value: float, fpr: float) -> float:
    """Return the mu, epsilon or TPR to reach as a float."""
    if target == "tpr":
        accepted = f"a rate above the false positive rate {fpr:g} and below 1"
        return _number("tpr", value, lambda v: fpr < v < 1, accepted)
    return _number(target, value, lambda v: 0 < v <= 100, "a number above 0, at most 100")


def clipping(clip: float | None) -> float:
    """Return the clipping norm C as a float, above 0."""
    if clip is None:
        raise InputError("clip is missing; with noise (tau above 0) give the clipping norm C")
    good = "a clipping norm C above 0, of 1e-15 to 1e15"
    return _number("clip", clip, lambda v: SMALLEST <= v <= LARGEST, good)


def level(name: str, mu: float) -> float:
    """Return a privacy level mu as a float, above 0."""
    good = "a privacy level mu above 0, of 1e-15 to 1e15; mu = 0 needs infinite noise"
    return _number(name, mu, lambda v: SMALLEST <= v <= LARGEST, good)


def reached_level(name: str, mu: float) -> float:
    """Return a privacy level mu as a float, 0 or more; infinity is no privacy at all."""
    accepted = "a privacy level of 0 or more"
    if isinstance(mu, Real) and mu == math.inf:
        return math.inf
    return _number(name, mu, lambda v: v >= 0, accepted)


def steps(n_steps: float) -> float:
    """Return the number of steps as a float, 1 or more."""
    return _number("steps", n_steps, lambda v: 1 <= v <= MOST_STEPS, "1 to 1e24 steps")


def records(n_records: float, batch_size: float) -> float:
    """Return the number of records as a float, no fewer than one batch."""
    return _number(
        "n_records",
        n_records,
        lambda v: batch_size <= v <= LARGEST,
        f"at least the batch size {batch_size:g}, at most 1e15",
    )


def epochs(n_epochs: float) -> float:
    """Return the number of epochs as a float, above 0."""
    return _number("epochs", n_epochs, lambda v: 0 < v <= 1e9, "a number above 0, at most 1e9")


def _number(name: str, value: Any, good: Callable[[Any], bool], accepted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} = {value!r}: give {accepted}, as a number")
    if not good(value) or not math.isfinite(value):
        raise InputError(f"{name} = {value}: give {accepted}")
    return float(value)
