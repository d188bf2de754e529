"""One notion's promise on all attacks: the worst of some pairs, the better of two promises."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from membership.arrays import FloatArray
from membership.privacy import checks
from membership.privacy.composed import RATES, Composed


class Curve:
    """The highest curve of some pairs of distributions, or the lowest of several such."""

    def __init__(self, *promises: Sequence[Composed]) -> None:
        self.promises = promises

    def tpr(self, rates: Any = RATES) -> FloatArray:
        """The TPR that no attack exceeds at each FPR."""
        return np.min(
            [np.max([one.tpr(rates) for one in each], axis=0) for each in self.promises], axis=0
        )

    def delta(self, epsilon: float) -> float:
        """The least delta at an epsilon."""
        return min(max(one.delta(epsilon) for one in each) for each in self.promises)

    def epsilon(self, delta: float) -> float:
        """The least epsilon at a delta."""
        return min(max(one.epsilon(delta) for one in each) for each in self.promises)

    def auc(self) -> float:
        """The AUC that no attack exceeds."""
        return min(max(one.auc() for one in each) for each in self.promises)


@dataclass(frozen=True)
class Level:
    """One notion's promise.

    Attributes
    ----------
    step : float
        mu of one step whose batch holds the record; of several phases that of the most telling.
    limit : float
        mu of all steps, in the limit of many on small batches: no bound, and where batches are not
        small against the training set too high as often as too low. At full batch it is exact.
    mu : float
        mu of all steps, by composition: the least whose Gaussian curve no attack exceeds at any FPR
        of 0.1% to 99.9%. At full batch in closed form; `limit` where an attack at 0.1% is sure.
    tpr : tuple of float
        The TPR that no attack exceeds at FPR 0.1%, 1% and 10%, by composition.
    is_cut_off : bool
        Whether "no promise" is where we stop counting (a step of level above 15, or more) and not
        what is known: an infinite mu or epsilon then only means a large one.
    """

    step: float
    limit: float
    mu: float
    tpr: tuple[float, ...]
    is_cut_off: bool = False
    curve: Curve = field(default_factory=Curve, repr=False, compare=False)

    @property
    def limit_holds(self) -> bool:
        """Whether the limit, to a hundredth, is a bound at those rates."""
        return self.mu <= 1.01 * self.limit

    @property
    def auc(self) -> float:
        """The area under the ROC curve that no attack exceeds."""
        return self.curve.auc()

    @property
    def advantage(self) -> float:
        """The most that TPR - FPR of an attack can be: the delta at an epsilon of 0."""
        return self.delta_at(0.0)

    def tpr_at(self, rates: Any) -> FloatArray:
        """Return the TPR that no attack exceeds at each FPR, an array in its shape."""
        return self.curve.tpr(checks.rates("rates", rates))

    def delta_at(self, epsilon: float) -> float:
        """Return the least delta at an epsilon of 0 to 600; below 1e-100 it counts as that."""
        return self.curve.delta(checks.number("epsilon", epsilon))

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon at a delta of 1e-100 or more; infinite beyond 600."""
        return self.curve.epsilon(checks.number("delta", delta))

    def posterior(self, prior: float) -> tuple[float, ...]:
        """Return the share of members among the accused that no attack exceeds, at each FPR.

        Parameters
        ----------
        prior : float
            Share of members among all who could be accused, above 0 and below 1.

        Returns
        -------
        tuple of float
            At FPR 0.1%, 1% and 10%: prior TPR / (prior TPR + (1 - prior) FPR).
        """
        return posterior(prior, self.tpr)


def posterior(prior: float, tpr: Sequence[float]) -> tuple[float, ...]:
    """The share of members among the accused, at the rates of a level."""
    prior = checks.number("prior", prior)
    found = (prior * one for one in tpr)
    return tuple(f / (f + (1 - prior) * rate) for f, rate in zip(found, RATES, strict=True))


def level_of(step: float, limit: float, each: Sequence[Composed]) -> Level:
    """The level of the worst of some pairs of distributions."""
    curve = Curve(each)
    mu = float(max(one.mu(limit) for one in each))
    tpr = tuple(float(rate) for rate in curve.tpr())
    return Level(step, limit, mu, tpr, any(one.is_cut_off for one in each), curve)


def better(own: Level, both: float, limit: float, implied: Level) -> Level:
    """What two promises give together, one of which has the level `both` for either order."""
    return Level(
        own.step,
        min(limit, implied.limit),
        min(max(both, own.mu), implied.mu),
        tuple(map(min, own.tpr, implied.tpr)),
        own.is_cut_off and implied.mu == math.inf,
        Curve(*own.curve.promises, *implied.curve.promises),
    )
