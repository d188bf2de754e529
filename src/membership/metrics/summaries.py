"""A number from repeats: its mean, standard error and interval, as the columns of a tidy row."""

import math
from typing import Any

import numpy as np
from scipy import stats

from membership.arrays import as_float64
from membership.errors import InputError


def summary(
    values: Any,
    units: Any = None,
    *,
    asked: int | None = None,
    scale: float = 1.0,
    lowest: float = -math.inf,
    highest: float = math.inf,
) -> dict[str, float]:
    """Mean of repeats with its standard error, degrees of freedom and Student's 95% interval.

    Parameters
    ----------
    values : array of shape (repeats,)
        One number a repeat.
    units : array of shape (repeats,), optional
        Which independent unit each repeat belongs to: a model and the one trained on the
        complementary records are one unit. Repeats of a unit are averaged first.
    asked : int, optional
        For rates: how many records were asked in all repeats. Where every unit gives the same
        rate, its standard error is at least the binomial one, sqrt(p(1 - p)/asked) with
        p = (k + 1/2)/(asked + 1): five zeros are not exact.
    scale : float
        What a rate of 1 is in `values`: 100 for percent.
    lowest, highest : float
        The interval, and not the standard error, is cut to what is possible.

    Returns
    -------
    dict
        value, low, high, standard_error, degrees_of_freedom, n_repeats (independent units). With
        one unit, low, high and standard_error are NaN and degrees_of_freedom is 0.

    Raises
    ------
    InputError
        No values, one that is not finite, or units of another shape than the values.
    """
    values = as_float64("values", values, 1)
    mean, means, weights = _by_unit(values, units)
    degrees = len(means) - 1
    found = {"value": mean, "low": math.nan, "high": math.nan, "standard_error": math.nan}
    if degrees:
        error = float(np.std(means, ddof=1) * np.sqrt(np.sum(weights**2)))
        if asked is not None and np.ptp(means) == 0:
            error = max(error, scale * rate_error(mean / scale, asked))
        half = stats.t.ppf(0.975, degrees) * error
        found |= {"low": max(mean - half, lowest), "high": min(mean + half, highest)}
        found["standard_error"] = error
    return {**found, "degrees_of_freedom": degrees, "n_repeats": len(means)}


def exactly(value: float) -> dict[str, float]:
    """A number without error, as the columns of `summary`."""
    error = {"standard_error": 0.0, "degrees_of_freedom": math.inf}
    return {"value": value, "low": value, "high": value, **error, "n_repeats": 0}


def rate_error(rate: float, asked: int) -> float:
    """Binomial standard error of a rate, positive also where the rate is 0 or 1."""
    p = (rate * asked + 0.5) / (asked + 1)
    return math.sqrt(p * (1 - p) / asked)


def _by_unit(values: np.ndarray, units: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """The mean of all repeats, each unit's mean, and each unit's share of the repeats."""
    mean = float(np.mean(values))
    if units is None:
        return mean, values, np.full(values.size, 1 / values.size)
    units = np.asarray(units)
    if units.shape != values.shape:
        raise InputError(f"units has shape {units.shape} and values {values.shape}; give the same")
    _, index, counts = np.unique(units, return_inverse=True, return_counts=True)
    return mean, np.bincount(index, weights=values) / counts, counts / values.size
