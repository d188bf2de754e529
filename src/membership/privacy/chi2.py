"""The non-central chi-squared distribution, in logarithms, from one tail to the other.

SciPy's ``ncx2.logcdf`` returns -inf somewhere below -210 to -460, where the scores of an attack
still differ. Here every probability is an integral along a curve in the complex plane,

    P(X <= x) = 1/(2 pi i) int exp(phi(s)) ds,  phi(s) = log M(s) - s x - log(-s),  Re s < 0,

with log M(s) = lambda s/(1 - 2s) - (d/2) log(1 - 2s); for P(X > x), 0 < Re s < 1/2 and s in
place of -s; for the density, no logarithm. At the saddle point, where phi' = 0, the integrand is
largest, and it falls off hardly oscillating along a parabola as curved as the path of steepest
descent. There the trapezoidal rule reaches rounding error (Helstrom 1992 computes Marcum's Q
function in this way). exp(phi) at the saddle point carries the size of the tail, so nothing
underflows. The smaller tail is integrated, the other is its complement.
"""

import numpy as np
from scipy.special import gammaln, ndtri_exp

from membership.arrays import FloatArray

# Trapezoidal rule: 24 standard deviations of the integrand at the saddle point, 1/5 apart.
_STEP = 0.2
_NODES = np.arange(120, dtype=np.float64) * _STEP
_WEIGHTS = np.where(_NODES == 0, 0.5, 1.0) * _STEP
_NEAR = 48  # nodes that every integrand gets; the others only where it has not died away by then
_AT_ONCE = 256  # integrals whose arrays stay in the processor's cache
_ITERATIONS = 200
# Below, the leading term of the power series is exact to rounding.
_SMALLEST = 1e-30


def log_cdf(x, d, noncentrality) -> FloatArray:
    """Logarithm of P(X <= x) for X non-central chi-squared."""
    return _log_tails(x, d, noncentrality)[0]


def log_sf(x, d, noncentrality) -> FloatArray:
    """Logarithm of P(X > x); otherwise as `log_cdf`."""
    return _log_tails(x, d, noncentrality)[1]


def log_pdf(x, d, noncentrality) -> FloatArray:
    """Logarithm of the density at a finite x above 0; otherwise as `log_cdf`."""
    x, d, lam = _broadcast(x, d, noncentrality)
    # lam/u^2 + d/u = x with u = 1 - 2s, a quadratic in 1/u.
    u = (d + np.sqrt(d * d + 4 * lam * x)) / (2 * x)
    return _integral(x, d, lam, u, pole=False).reshape(x.shape)


def quantile(log_p, d: float, noncentrality: float) -> FloatArray:
    """The x at which log P(X <= x) is `log_p`.

    Newton's method on the logarithm of the smaller tail, within a bracket that is halved whenever
    a step would leave it.
    """
    log_p = np.asarray(log_p, dtype=np.float64)
    x = np.where(log_p == 0.0, np.inf, 0.0)
    inside = np.isfinite(log_p) & (log_p < 0)
    lower = inside & (log_p < -np.log(2))
    upper = inside & ~lower
    x[lower] = _solve(log_p[lower], d, noncentrality, log_cdf, 1.0)
    x[upper] = _solve(np.log(-np.expm1(log_p[upper])), d, noncentrality, log_sf, -1.0)
    return x


def _solve(log_p: FloatArray, d: float, noncentrality: float, tail, sign: float) -> FloatArray:
    """Find x with tail(x) = log_p; `sign` is +1 where the tail grows with x."""
    mean, sd = d + noncentrality, np.sqrt(2 * (d + 2 * noncentrality))
    low, high = np.full_like(log_p, 1e-300), np.full_like(log_p, mean + sd)
    while (short := sign * (tail(high, d, noncentrality) - log_p) < 0).any():
        high[short] *= 2
    x = _cube_root_guess(log_p, sign, mean, (d + 2 * noncentrality) / (d + noncentrality))
    for _ in range(_ITERATIONS):
        value = tail(x, d, noncentrality)
        above = sign * (value - log_p) > 0
        low, high = np.where(above, low, x), np.where(above, x, high)
        ratio = np.minimum(value - log_pdf(x, d, noncentrality), 600.0)
        step = sign * (log_p - value) * np.exp(ratio)
        # A long way down, log P is nearly linear in log x rather than in x.
        new = np.where(step < -x / 2, x * np.exp(np.clip(step / x, -50.0, 0.0)), x + step)
        new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
        converged = np.abs(new - x) <= 1e-12 * x
        x = new
        if converged.all():
            break
    return x


def _cube_root_guess(log_p: FloatArray, sign: float, mean: float, ratio: float) -> FloatArray:
    """Abdel-Aty's approximation: the cube root of X / mean is nearly normal."""
    variance = 2 / 9 * ratio / mean
    root = 1 - variance + sign * np.sqrt(variance) * ndtri_exp(log_p)
    return mean * np.maximum(root, 1e-3) ** 3


def _broadcast(*values) -> tuple[FloatArray, ...]:
    return np.broadcast_arrays(*(np.asarray(value, np.float64) for value in values))


def _log_tails(x, d, noncentrality) -> tuple[FloatArray, FloatArray]:
    x, d, lam = _broadcast(x, d, noncentrality)
    log_p = np.where(x == np.inf, 0.0, np.full(x.shape, -np.inf))
    log_q = np.where(x == np.inf, -np.inf, np.zeros(x.shape))
    for chosen, of_tail, of_other in (
        ((x >= _SMALLEST) & (x <= d + lam), log_p, log_q),
        ((x > d + lam) & (x < np.inf), log_q, log_p),
    ):
        arguments = x[chosen], d[chosen], lam[chosen]
        saddle = _saddle(*arguments, lower=of_tail is log_p)
        tail = np.minimum(_integral(*arguments, saddle, pole=True), 0.0)
        of_tail[chosen] = tail
        of_other[chosen] = np.log1p(-np.exp(tail))
    tiny = (x > 0) & (x < _SMALLEST)
    half = d[tiny] / 2
    log_p[tiny] = half * np.log(x[tiny] / 2) - lam[tiny] / 2 - gammaln(half + 1)
    return log_p, log_q


def _integral(x: FloatArray, d: FloatArray, lam: FloatArray, u: FloatArray, pole: bool):
    """log of the integral through the saddle point u = 1 - 2s; one entry an x."""
    arguments = [np.ravel(each) for each in (x, d, lam, u)]
    logs = np.empty(arguments[0].shape)
    for start in range(0, len(logs), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        logs[rows] = _integral_of_few(*(each[rows, None] for each in arguments), pole=pole)
    return logs


def _integral_of_few(x: FloatArray, d: FloatArray, lam: FloatArray, u: FloatArray, pole: bool):
    """Lengths are in units of u, in which nothing overflows however small x is."""
    s = (1 - u) / 2
    second = 4 * lam / u + 2 * d
    # The bend of log M alone: the pole's share would lead to where the integrand grows.
    bend = (24 * lam / u + 8 * d) / (6 * second)
    peak = (lam / u - x) * s - d / 2 * np.log(u) + np.log(u)
    if pole:
        second = second + (u / s) ** 2
        peak = peak - np.log(np.abs(s))
    scale = 1 / np.sqrt(second)
    parameters = (x, d, lam, u, bend, scale, u / s if pole else None)
    near, far = np.split(_NODES, [_NEAR])
    inner = _integrand(near, *parameters)
    total = inner @ _WEIGHTS[:_NEAR]
    # Most integrands have fallen below rounding long before the last node.
    long = ~(np.abs(inner[:, -1]) < 1e-17 * np.abs(total))
    if long.any():
        chosen = (each if each is None else each[long] for each in parameters)
        total[long] += _integrand(far, *chosen) @ _WEIGHTS[_NEAR:]
    return (peak + np.log(scale / np.pi))[:, 0] + np.log(total)


def _integrand(nodes: FloatArray, x, d, lam, u, bend, scale, over_pole) -> FloatArray:
    """The integrand over its value at the saddle point, (x, nodes).

    In real numbers, for which NumPy's functions take several at a time.
    """
    b = nodes * scale
    a = bend * b**2  # w = a + bi, on the parabola
    # phi(s + u w) - phi(s), term by term, so that no large numbers cancel.
    square = a * a + b * b
    power, turn = _log1p(-2 * a, -2 * b, 4 * square)  # of 1 - 2w
    over = (lam / u) / (1 - 4 * a + 4 * square)  # w / (1 - 2w) = (w - 2 |w|^2) / |1 - 2w|^2
    size = over * (a - 2 * square) - x * u * a - d / 2 * power
    angle = over * b - x * u * b - d / 2 * turn
    if over_pole is not None:
        power, turn = _log1p(over_pole * a, over_pole * b, over_pole**2 * square)
        size, angle = size - power, angle - turn
    return np.exp(size) * (np.cos(angle) + 2 * bend * b * np.sin(angle))


def _log1p(a: FloatArray, b: FloatArray, square: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Real and imaginary part of log(1 + a + bi), where `square` is a^2 + b^2."""
    return np.log1p(2 * a + square) / 2, np.arctan2(b, 1 + a)


def _saddle(x: FloatArray, d: FloatArray, lam: FloatArray, lower: bool) -> FloatArray:
    """The root u = 1 - 2s of lam/u^2 + d/u + 2/(u - 1) = x: above 1 for the lower tail, or below.

    The left-hand side falls on either side of its pole at 1: Newton's method within a bracket.
    A curve through a point near the saddle gives the same integral, so four digits are enough: of
    the place, and two of the width of the integrand, which far out in a tail is far narrower.
    """
    low, high = (np.ones_like(x), 2 + (d + lam + 2) / x) if lower else (0 * x, np.ones_like(x))
    without_pole = (d + np.sqrt(d * d + 4 * lam * x)) / (2 * x)
    at_mean = np.sqrt(2 / (2 * lam + d + 2))
    u = without_pole + at_mean if lower else without_pole / (1 + at_mean)
    for _ in range(_ITERATIONS):
        value = lam / u**2 + d / u + 2 / (u - 1) - x
        slope = 2 * lam / u**3 + d / u**2 + 2 / (u - 1) ** 2
        low, high = np.where(value > 0, u, low), np.where(value > 0, high, u)
        new = u + value / slope
        new = np.where((new > low) & (new < high), new, (low + high) / 2)
        width = new / np.sqrt(4 * lam / new + 2 * d + np.square(2 * new / (1 - new)))
        place = 1e-4 * np.minimum(new, np.abs(new - 1))
        close = np.abs(new - u) <= np.minimum(place, 1e-2 * width)
        u = new
        if close.all():
            break
    return u
