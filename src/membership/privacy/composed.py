"""All steps of a run: in closed form at full batch, numerically elsewhere."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from membership.arrays import FloatArray
from membership.privacy import numerical
from membership.privacy.numerical import MOST_NUMERICAL_MU, Losses, Pair
from membership.privacy.tradeoff import (
    gaussian_auc,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_tpr,
)

RATES = (0.001, 0.01, 0.1)
# Rates of which a level is read: from the least reported to its mirror, the reported among them.
_HALF = np.array([10 ** (i / 20 - 3) for i in range(60)])
_READ = np.unique(np.r_[RATES, _HALF, 1 - _HALF])
# Above, a rate no longer says how high a level is.
SURE = 1 - 1e-7
_FINEST = 22
# Below, a delta has a composition of its own, which keeps the digits of small probabilities.
_SMALL_DELTA = 1e-8
_LEAST_DELTA = 1e-100


def grid_of(steps: int) -> int:
    """Logarithm to the base 2 of the points of a composition; the page has the same.

    Every step adds the square of the points' distance to the losses' variance, a share of it that
    grows with the steps: up to 1e7 of them a thousandth at most, at 1e9 a few hundredths.
    """
    grid = 16
    while grid < _FINEST and steps > 1e4 * 4 ** (grid - 16):
        grid += 1
    return grid


class Composed(NamedTuple):
    """What all steps tell. `level` is their mu where that is exact; else `losses` are there.

    A step that tells all, or nearly, has neither: `level` is infinite, and a cut-off unless the
    step's own level is infinite as well.
    """

    parts: tuple[tuple[Pair, int], ...]
    level: float
    losses: Losses | None

    @property
    def is_cut_off(self) -> bool:
        """Whether "tells all" is our word for "tells too much to be counted"."""
        return self.level == math.inf and all(pair.mu < math.inf for pair, _ in self.parts)

    def tpr(self, rates: Any = RATES) -> FloatArray:
        """The TPR of the best test at each FPR above 0."""
        rates = np.asarray(rates, dtype=np.float64)
        if self.losses is not None:
            return numerical.tpr(self.losses, rates)
        return gaussian_tpr(rates, self.level)

    def epsilon(self, delta: float) -> float:
        """The least epsilon at a delta."""
        if self.losses is None:
            return math.inf if self.level == math.inf else gaussian_epsilon(self.level, delta)
        return numerical.epsilon(self._at(delta), delta)

    def delta(self, epsilon: float) -> float:
        """The least delta at an epsilon; what is below 1e-100 counts as that."""
        if self.losses is None:
            return 1.0 if self.level == math.inf else gaussian_delta(self.level, epsilon)
        found = numerical.delta(self.losses, epsilon)
        if found < _SMALL_DELTA:
            # Chernoff's bound is too large, and what is composed there by less.
            tail = max(numerical.tail_of(self.parts, epsilon), _LEAST_DELTA)
            tail = max(numerical.delta(self._at(tail), epsilon), _LEAST_DELTA)
            found = min(found, numerical.delta(self._at(tail), epsilon))
        return found

    def auc(self) -> float:
        """The area under the curve of the best test."""
        return gaussian_auc(self.level) if self.losses is None else numerical.auc(self.losses)

    def _at(self, tail: float) -> Losses:
        """Losses that keep the digits of so small a probability."""
        if tail >= _SMALL_DELTA and self.losses is not None:
            return self.losses
        steps = sum(count for _, count in self.parts)
        return numerical.compose(self.parts, grid_of(steps), tail=tail)

    def mu(self, limit: float) -> float:
        """The least mu whose Gaussian curve lies below the steps' own, over the rates resolved.

        Where an attack at the least of them is sure, they show no more, and the limit counts.
        """
        if self.losses is None:
            return self.level
        tpr = self.tpr(_READ)
        shown = float(np.max(ndtri(np.minimum(tpr, SURE)) - ndtri(_READ)))
        return max(shown, limit) if tpr[0] > SURE else max(shown, 0.0)


def compose(phases: Iterable[tuple[Pair, int]]) -> Composed:
    """Compose as many steps of each pair; equal ones count as one phase."""
    counts: dict[Pair, int] = {}
    for pair, steps in phases:
        counts[pair] = counts.get(pair, 0) + steps
    parts = tuple(counts.items())
    if all(pair.p == 1 for pair in counts) or any(math.isinf(pair.mu) for pair in counts):
        # Two normal laws, of which the steps make two others.
        apart = (
            math.sqrt(steps) * pair.group * (2 * pair.mu if pair.kind == "exchanged" else pair.mu)
            for pair, steps in parts
        )
        return Composed(parts, math.hypot(*apart), None)
    if any(pair.mu > MOST_NUMERICAL_MU for pair in counts):
        return Composed(parts, math.inf, None)
    losses = numerical.compose(parts, grid_of(sum(counts.values())))
    if losses.spacing > numerical.WIDEST:
        return Composed(parts, math.inf, None)
    return Composed(parts, math.nan, losses)
