"""The edge of chaos over its whole family: which fixed points are stable, how fast each forgets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from membership.arrays import FloatArray
from membership.nngp.activations import ACTIVATIONS

QS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 16.0)
DEPTHS = (2, 5, 10, 500, 1000, 2000)
SLOPE, FAR_APART = "slope of 1 - c, L = 500 to 2,000", "1 - c over ReLU's, L = 1,000"
# Correlation of the two inputs that are followed.
START = 0.5
_EPSILON = np.geomspace(1e-7, 1.0, 60)


@dataclass(frozen=True)
class Smooth:
    """An activation with its derivative."""

    value: Callable[[FloatArray], FloatArray]
    derivative: Callable[[FloatArray], FloatArray]


def _elu(x: FloatArray) -> FloatArray:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


SMOOTH = {
    "GeLU": Smooth(ACTIVATIONS["gelu"].value, ACTIVATIONS["gelu"].derivative),
    "ELU": Smooth(_elu, lambda x: np.where(x > 0, 1.0, np.exp(np.minimum(x, 0)))),
    "tanh": Smooth(np.tanh, lambda x: 1 / np.cosh(x) ** 2),
}


@dataclass(frozen=True)
class Point:
    """A fixed point: how correlations and the variance move about it, and 1 - c by depth.

    ``chi`` is the rate at which gradients, and small angles between inputs, grow a layer;
    ``after`` a layer's map of 1 - c, ``apart`` what it makes of two inputs at each of `DEPTHS`.
    """

    w_std: float
    b_variance: float
    chi: float
    chi_var: float
    after: Callable[[FloatArray], FloatArray]
    apart: dict[int, float]

    @property
    def slope(self) -> float:
        """Of log(1 - c) on log(L) from 500 to 2,000 layers."""
        return float(np.log(self.apart[2000] / self.apart[500]) / np.log(4))


@cache
def point(name: str, q: float) -> Point:
    """The fixed point of a smooth activation at a variance, by the trapezoid rule."""
    phi, root = SMOOTH[name], np.sqrt(q)
    s, weight = _normal(8.0, 801)
    w_variance = 1 / (weight @ phi.derivative(root * s) ** 2)
    value = phi.value(root * s)
    b_variance = q - w_variance * (weight @ value**2)
    # dE[phi^2]/dq by Stein's lemma: no second derivative is needed.
    chi = w_variance * (weight @ (s * value * phi.derivative(root * s))) / root
    # The map of e = 1 - c is e less the integral of 1 - F'(1 - e), so that a relative error of the
    # quadrature is one of the rate and not of e.
    short = [w_variance / 2 * _spread(phi.derivative, root, e, s, weight) for e in _EPSILON]
    log, slope = np.log(_EPSILON), np.array(short) * _EPSILON
    lost = CubicSpline(log, slope).antiderivative()
    head = slope[0] / 2

    def after(e: FloatArray) -> FloatArray:
        return e - head - lost(np.log(e))

    moments = float(np.sqrt(w_variance)), float(b_variance), _chi(phi, w_variance, q), float(chi)
    return Point(*moments, after, followed(after))


def _chi(phi: Smooth, w_variance: float, q: float) -> float:
    """sigma_w^2 E[phi'^2] on a finer grid than the one that solved for sigma_w."""
    nodes, weight = _normal(9.5, 4001)
    return float(w_variance * (weight @ phi.derivative(np.sqrt(q) * nodes) ** 2))


def on_sphere(name: str, q: float, cosine: FloatArray, depths: Sequence[int]) -> list[FloatArray]:
    """The kernel at each depth for inputs scaled to variance q, from their cosines of 0 or more.

    Any activation's: on a sphere every variance is q, so that a layer moves the correlation alone.
    """
    fixed_point, kernel = point(name, q), []
    apart = (1 - fixed_point.b_variance / q) * (1 - cosine)
    for depth in range(1, max(depths) + 1):
        # The map is known from the first node on; nearer to 0 it is the identity.
        apart = np.where(
            apart > _EPSILON[0], fixed_point.after(np.maximum(apart, _EPSILON[0])), apart
        )
        if depth in depths:
            kernel.append(q * (1 - apart))
    return kernel


@cache
def relu() -> Point:
    """ReLU, whose every variance is kept exactly."""

    def after(e: FloatArray) -> FloatArray:
        angle = 2 * np.arcsin(np.sqrt(e / 2))
        return 1 - (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi

    return Point(2**0.5, 0.0, 1.0, 1.0, after, followed(after))


def followed(after: Callable[[FloatArray], FloatArray]) -> dict[int, float]:
    """1 less the correlation of two inputs at each depth, by a layer's map."""
    apart, by_depth = 1 - START, {}
    for depth in range(1, DEPTHS[-1] + 1):
        apart = float(after(apart))
        if depth in DEPTHS:
            by_depth[depth] = apart
    return by_depth


def rates() -> pd.DataFrame:
    """How fast correlations approach 1 at each fixed point, beside ReLU (Proposition G.1)."""
    cases = [("ReLU", "any", relu())]
    cases += [(name, f"{q:g}", point(name, q)) for name in SMOOTH for q in QS]
    rows = []
    for name, q, fixed_point in cases:
        values = {
            "sigma_w": fixed_point.w_std,
            "chi": fixed_point.chi,
            "chi_var": fixed_point.chi_var,
        }
        values[SLOPE] = fixed_point.slope
        for depth in (2, 5, 10, 1000):
            ratio = fixed_point.apart[depth] / relu().apart[depth]
            values[f"1 - c over ReLU's, L = {depth:,}"] = ratio
        key = {"activation": name, "q": q}
        rows += [{**key, "metric": metric, "value": value} for metric, value in values.items()]
    return pd.DataFrame(rows)


def _normal(reach: float, n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes of the trapezoid rule and their weights under the standard normal law."""
    s = np.linspace(-reach, reach, n)
    weight = np.exp(-s * s / 2)
    return s, weight / weight.sum()


def _spread(
    function: Callable[[FloatArray], FloatArray],
    root: float,
    e: float,
    s: FloatArray,
    weight: FloatArray,
) -> float:
    """E[(f(u) - f(v))^2] for u and v of variance root^2 and correlation 1 - e."""
    t, other = _normal(7.0, 29)
    middle, half = root * np.sqrt(1 - e / 2) * s[:, None], root * np.sqrt(e / 2) * t
    gap = function(middle + half) - function(middle - half)
    return float(weight @ (gap * gap) @ other)
