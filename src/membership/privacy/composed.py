"""All steps of one pair of distributions: in closed form at full batch, numerically elsewhere."""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from membership.arrays import FloatArray
from membership.privacy import numerical
from membership.privacy.numerical import MOST_NUMERICAL_MU, Losses, Pair
from membership.privacy.tradeoff import gaussian_epsilon, gaussian_tpr

RATES = (0.001, 0.01, 0.1)
# Rates of which a level is read: from the least reported to its mirror, the reported among them.
_HALF = np.array([10 ** (i / 20 - 3) for i in range(60)])
_READ = np.unique(np.r_[RATES, _HALF, 1 - _HALF])
# Above, a rate no longer says how high a level is.
SURE = 1 - 1e-7
_FINEST = 22
# Below, a delta has a composition of its own, which keeps the digits of small probabilities.
_SMALL_DELTA = 1e-7


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

    pair: Pair
    steps: int
    level: float
    losses: Losses | None

    @property
    def is_cut_off(self) -> bool:
        """Whether "tells all" is our word for "tells too much to be counted"."""
        return self.level == math.inf and self.pair.mu < math.inf

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
        losses = self.losses
        if delta < _SMALL_DELTA:
            losses = numerical.compose(self.pair, self.steps, grid_of(self.steps), tail=delta)
        return numerical.epsilon(losses, delta)

    def mu(self, limit: float) -> float:
        """The least mu whose Gaussian curve lies below the steps' own, over the rates resolved.

        Where an attack at the least of them is sure, they show no more, and the limit counts.
        """
        if self.losses is None:
            return self.level
        tpr = self.tpr(_READ)
        shown = float(np.max(ndtri(np.minimum(tpr, SURE)) - ndtri(_READ)))
        return max(shown, limit) if tpr[0] > SURE else max(shown, 0.0)


def compose(pair: Pair, steps: int) -> Composed:
    """Compose as many steps."""
    if pair.p == 1 or math.isinf(pair.mu):
        # Two normal laws, of which the steps make two others.
        apart = 2 * pair.mu if pair.kind == "exchanged" else pair.mu
        return Composed(pair, steps, math.sqrt(steps) * apart, None)
    if pair.mu > MOST_NUMERICAL_MU:
        return Composed(pair, steps, math.inf, None)
    losses = numerical.compose(pair, steps, grid_of(steps))
    if losses.spacing > numerical.WIDEST:
        return Composed(pair, steps, math.inf, None)
    return Composed(pair, steps, math.nan, losses)
