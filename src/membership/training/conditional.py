"""The distribution of a target's score on non-members like a record, as QMIA predicts it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from membership.arrays import FloatArray, as_float64
from membership.errors import InputError


@dataclass(frozen=True)
class ConditionalNormal:
    """A normal distribution of the non-members' score for each record.

    Attributes
    ----------
    n_features : int
    predict : function of an array of shape (records, n_features)
        Gives mean and standard deviation, each of shape (records,).
    """

    n_features: int
    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]]

    def score(self, x: Any, target_score: Any) -> FloatArray:
        """Return (score - mean) / sigma, of shape (records,)."""
        x, target = _query(x, target_score, self.n_features)
        mean, sigma = self.predict(x)
        return (target - mean) / sigma

    def threshold(self, x: Any, fpr: float) -> FloatArray:
        """Return the score above which a share `fpr` of non-members like each record lies."""
        mean, sigma = self.predict(_features(x, self.n_features))
        return mean + sigma * norm.isf(_rate(fpr))


@dataclass(frozen=True)
class ConditionalQuantiles:
    """Quantiles of the non-members' score for each record.

    Between the quantiles, -log(1 - level) is linear in the score. Beyond them it goes on as a line,
    an exponential tail, with the slope from the middle level to the last one.

    Attributes
    ----------
    n_features : int
    levels : ndarray of shape (levels,)
        Rising, in (0, 1).
    predict : function of an array of shape (records, n_features)
        Gives the quantiles, of shape (records, levels), rising strictly along each row.
    """

    n_features: int
    levels: FloatArray
    predict: Callable[[FloatArray], FloatArray]

    def score(self, x: Any, target_score: Any) -> FloatArray:
        """Return -log of the share of non-members like each record with a higher score."""
        x, target = _query(x, target_score, self.n_features)
        quantile = self.predict(x)
        return _line(target, quantile, np.broadcast_to(self._evidence, quantile.shape))

    def threshold(self, x: Any, fpr: float) -> FloatArray:
        """Return the score above which a share `fpr` of non-members like each record lies."""
        quantile = self.predict(_features(x, self.n_features))
        evidence = np.full(len(quantile), -np.log(_rate(fpr)))
        return _line(evidence, np.broadcast_to(self._evidence, quantile.shape), quantile)

    @property
    def _evidence(self) -> FloatArray:
        return -np.log1p(-self.levels)


def _line(value: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Read y at each row's value from the points (x, y) of that row, x rising along it."""
    last, middle = x.shape[1] - 1, x.shape[1] // 2
    inside = np.clip((x < value[:, None]).sum(axis=1), 1, last)
    below, above = value < x[:, 0], value > x[:, -1]
    right = np.where(below, 0, inside)
    # The outermost pair alone would make a tail of the noise between two extreme quantiles.
    left = np.where(below | above, middle, inside - 1)
    row = np.arange(len(x))
    slope = (y[row, right] - y[row, left]) / (x[row, right] - x[row, left])
    return y[row, right] + slope * (value - x[row, right])


def _query(x: Any, target_score: Any, n_features: int) -> tuple[FloatArray, FloatArray]:
    x, target = _features(x, n_features), as_float64("target_score", target_score, 1)
    if len(x) != target.size:
        raise InputError(f"x has {len(x)} records and target_score {target.size}; give as many")
    return x, target


def _features(x: Any, n_features: int) -> FloatArray:
    x = as_float64("x", x, 2)
    if x.shape[1] != n_features:
        raise InputError(f"x has {x.shape[1]} features; give {n_features}, as the fit had")
    return x


def _rate(fpr: float) -> float:
    if not 0.0 < fpr < 1.0:
        raise InputError(f"fpr is {fpr}; give a rate between 0 and 1, both excluded")
    return fpr
