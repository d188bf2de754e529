"""The squared distance of a Gaussian draw from a point, however far away the point is."""

from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.stats import ncx2, norm

from membership.arrays import FloatArray

# From this distance on SciPy's non-central chi-squared loses digits, then time.
_FAR = 1e3
# Lower tails below which SciPy's quantile may fail.
_RARE = 1e-30
_NODES = 16


class Distance:
    """X = |z + c|^2 for z standard normal in some dimensions and |c| the distance of the centre.

    Far away, ``Y = (X - |c|^2) / (2 |c|) = z_1 + (z_1^2 + w) / (2 |c|)`` with w chi-squared in the
    other dimensions: normal but for a small part, which Gauss's rule over w takes exactly enough.
    A lower tail is P(X < x); `upper` asks for P(X > x).
    """

    def __init__(self, centre: float, dimensions: int):
        self.centre, self.dimensions = float(centre), dimensions
        self.far = self.centre > _FAR
        if self.far:
            self.curve = 0.5 / self.centre
            self.nodes, self.weights = _chi_squared_rule(dimensions - 1)

    def tail(self, x: FloatArray, upper: bool) -> FloatArray:
        """P(X < x) or P(X > x)."""
        law = ncx2(self.dimensions, self.centre**2)
        if self.centre > 10:
            # SciPy's overflows on smaller values, whose probability is below 1e-21.
            x = np.maximum(x, 1e-6)
        return law.sf(x) if upper else law.cdf(x)

    def quantile(self, p: FloatArray, upper: bool) -> FloatArray:
        """The x whose tail is p."""
        law = ncx2(self.dimensions, self.centre**2)
        if upper:
            return law.isf(p)
        x = law.ppf(np.maximum(p, _RARE))
        rare = p < _RARE
        if rare.any():
            # SciPy's finds none here.
            x[rare] = _bisected(self.tail, p[rare], np.zeros(rare.sum()), x[rare], upper)
        return x

    def standardised_tail(self, y: FloatArray, upper: bool) -> FloatArray:
        """P(Y < y) or P(Y > y)."""
        if not self.far:
            return self.tail(np.maximum(self.centre**2 + 2 * self.centre * y, 0), upper)
        left = y[..., None] - self.curve * self.nodes
        # The root of z + curve z^2 = left near 0; the other is beyond -2,000.
        z = 2 * left / (1 + np.sqrt(np.maximum(1 + 4 * self.curve * left, 0)))
        return norm.cdf(-z if upper else z) @ self.weights

    def standardised_quantile(self, p: FloatArray, upper: bool) -> FloatArray:
        """The y whose tail is p."""
        if not self.far:
            return (self.quantile(p, upper) - self.centre**2) / (2 * self.centre)
        z = norm.isf(p) if upper else norm.ppf(p)
        # The quantile at each node alone; that of their mixture lies between.
        low, high = (z + self.curve * (z**2 + end) for end in (self.nodes.min(), self.nodes.max()))
        return _bisected(self.standardised_tail, p, low, high, upper)


def _bisected(tail: Any, p: FloatArray, low: FloatArray, high: FloatArray, upper: bool):
    """Where a tail is p, between `low` and `high`."""
    for _ in range(100):
        middle = (low + high) / 2
        above = tail(middle, upper) < p if upper else tail(middle, upper) > p
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


def _chi_squared_rule(degrees: int) -> tuple[FloatArray, FloatArray]:
    """Gauss's nodes and weights for a chi-squared law (Golub and Welsch 1969)."""
    k = np.arange(_NODES)
    half = degrees / 2
    nodes, vectors = eigh_tridiagonal(2 * (2.0 * k + half), 2 * np.sqrt(k[1:] * (k[1:] + half - 1)))
    weights = vectors[0] ** 2
    carried = weights > 0
    return nodes[carried], weights[carried]
