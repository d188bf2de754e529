"""Composition without a limit theorem: many subsampled Gaussian steps, by Fourier transform.

One step is a test between two distributions, and its privacy loss is the logarithm of their ratio.
The losses are put on a grid: the probability of each interval is shared out between its two ends
so that both distributions keep theirs ("connect the dots", Doroshenko et al. 2022). The test on
the grid is never harder than the true one, so that what follows is a guarantee. Composing T steps
is then a convolution (Koskela et al. 2020; Gopi et al. 2021).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.privacy import checks

# The largest level of one step that is composed, and the largest epsilon that is told.
MOST_NUMERICAL_MU = 15
MOST_EPSILON = 600.0
_LOG_LOST = np.log(1e-13)
_LOST = 1e-12
# Of a delta, what may be lost where it has a composition of its own.
_LOST_OF_TAIL = 1e-3
# How many times the range of all steps that of one may be.
_FOLDS, _MOST = 4, 2**22
# How many standard deviations of an observation are looked at.
_FAR = 9.0
_TILTS = 2.0 ** np.arange(-4, 25, 0.5)
_ORDERS = 4.0 ** np.arange(-4, 13)
_GRIDS = range(12, 25)
# Where points lie further apart than this, the losses are too large for any promise.
WIDEST = 0.5
_CELLS = 2**13


class Enclosure(NamedTuple):
    """Two trade-off curves with the exact one between them."""

    low: FloatArray
    high: FloatArray


class Pair(NamedTuple):
    """One step's two distributions, H1 and H0: mixtures (1 - p) N(0, 1) + p N(mu, 1).

    kind: "joined", the mixture against N(0, 1); "left", the other way round; "either", whichever
    of the two is easier at each rate; "exchanged", the mixtures with mu and with -mu.
    """

    kind: str
    mu: float
    p: float


class Losses(NamedTuple):
    """Masses under H1 of the losses (first + i) * spacing, and of an infinite loss."""

    first: int
    mass: FloatArray
    spacing: float
    infinite: float

    @property
    def values(self) -> FloatArray:
        return (self.first + np.arange(len(self.mass), dtype=np.float64)) * self.spacing


def numerical_tradeoff(
    alpha: Any,
    mu_step: float,
    batch_size: float,
    n_records: float,
    steps: int,
    *,
    grid: int = 20,
) -> Enclosure:
    """Enclose the FNR at FPR `alpha` after many steps on random batches.

    Each step tests N(0, 1) against the mixture (1 - p) N(0, 1) + p N(mu, 1) with p = n / N: the
    record is in a batch with probability p, independently, and the null hypothesis (never a
    member) is fixed. This is exact where Equation 10 is a limit.

    Parameters
    ----------
    alpha : array of float
        False positive rates in [0, 1].
    mu_step : float
        Level of one step for a record in the batch, above 0 and at most 15.
    batch_size, n_records, steps : float
        n, N and T.
    grid : int
        Logarithm to the base 2 of the number of grid points, 12 to 24; each one more halves the
        width of the enclosure.

    Returns
    -------
    Enclosure
        `low` (a guarantee: no attack has a lower FNR; the tighter end by far) and `high`, in the
        shape of `alpha`.

    Raises
    ------
    InputError
        A value is out of range.
    """
    alpha = checks.rates("alpha", alpha)
    mu = checks.number("mu_step", mu_step, "level")
    n = checks.number("batch_size", batch_size)
    pair = Pair("joined", mu, n / checks.records(n_records, n))
    steps = int(checks.number("steps", steps))
    if mu > MOST_NUMERICAL_MU:
        raise InputError(
            f"mu_step = {mu_step}: give at most {MOST_NUMERICAL_MU}; beyond, one step tells all"
        )
    if grid not in _GRIDS:
        raise InputError(f"grid = {grid}: give {_GRIDS[0]} to {_GRIDS[-1]}")
    low, high = (1 - tpr(compose(pair, steps, grid, up), alpha) for up in (True, False))
    return Enclosure(low, high)


def compose(
    pair: Pair, steps: int, grid: int, up: bool = True, tail: float | None = None
) -> Losses:
    """The losses of all steps; rounded against us, or with `up` False against the attacker.

    With `tail`, those that are larger than all but a share `tail`: masses as small as that keep
    their digits, because the steps are composed under a law whose centre lies there (Esscher).
    """
    lost = _LOST if tail is None else _LOST_OF_TAIL * tail
    far = _FAR if tail is None else max(_FAR, float(-ndtri(lost / steps)))
    size = 2**grid
    most = max(size, min(_FOLDS * size, _MOST))
    top, bottom = _ends(pair, far)
    law, finest = _law(pair, far), (top - bottom) / most
    tilt = 0.0 if tail is None else min(_order(law, steps, tail), 1 / finest)
    least = _LOG_LOST + (0.0 if tail is None else float(np.log(tail)))
    low, high = _reach(law, steps, tilt, least)
    spacing = max((high - low) / size, finest)
    _, high = _reach(law, steps, tilt, least, spacing)
    if spacing > WIDEST and up:
        return Losses(0, np.zeros(1), spacing, 1.0)
    step = _one_step(pair, spacing, (top, bottom), up)
    step_law, scale = _tilted(Law(step.values, step.mass), tilt)
    # One step may reach further than the sum; round the circle it does no harm.
    folded = np.pad(step_law.mass, (0, -len(step.mass) % size)).reshape(-1, size).sum(axis=0)
    total = np.fft.irfft(np.fft.rfft(folded) ** steps, size)
    # Every step multiplies the rounding of a step's sum.
    total *= (1.0 if tilt else np.exp(steps * np.log1p(-step.infinite))) / total.sum()
    # The sum's index starts at steps * first; unroll the circle so that the window ends at high.
    start = int(np.ceil(high / spacing)) - size
    mass = np.maximum(total[(start + np.arange(size) - steps * step.first) % size], 0.0)
    if tilt:
        loss = (start + np.arange(size, dtype=np.float64)) * spacing
        mass = mass * np.exp(np.minimum(steps * scale - tilt * loss, 700.0))
    # What the window leaves out is given to the attacker in the guarantee.
    infinite = -np.expm1(steps * np.log1p(-step.infinite)) + lost if up else 0.0
    return Losses(start, mass, spacing, infinite)


class Law(NamedTuple):
    """A step's losses and their masses under H1, cell by cell of the observation."""

    loss: FloatArray
    mass: FloatArray


def _law(pair: Pair, far: float) -> Law:
    """The step without a grid of losses: near enough to say where those of all steps lie."""
    kind, mu, p = pair
    edges: FloatArray = np.linspace(-3.0 - far, mu + far, _CELLS + 1, dtype=np.float64)
    loss = _loss(pair, (edges[1:] + edges[:-1]) / 2)
    mass, null = _between(edges, mu, p), _between(edges, 0.0, 0.0)
    if kind == "left":
        return Law(-loss, null)
    if kind != "either":
        return Law(loss, mass)
    above = loss > 0
    mass, null, loss = mass[above], null[above], loss[above]
    rest = max(1.0 - float(mass.sum() + null.sum()), 0.0)
    return Law(np.r_[-loss, 0.0, loss], np.r_[null, rest, mass])


def _order(law: Law, steps: int, tail: float) -> float:
    """The order at which Chernoff's bound on the loss above all but `tail` is least."""
    bounds = [(steps * _cumulant(law, o) - np.log(tail)) / o for o in _TILTS]
    return float(_TILTS[int(np.argmin(bounds))])


def _cumulant(law: Law, order: float) -> float:
    with np.errstate(divide="ignore"):
        weight = np.log(law.mass) + order * law.loss
    return float(np.asarray(logsumexp(weight)))


def _tilted(law: Law, tilt: float) -> tuple[Law, float]:
    """The law with masses in proportion to exp(tilt loss), and the logarithm of what they lost."""
    if not tilt:
        return law, 0.0
    scale = _cumulant(law, tilt)
    with np.errstate(divide="ignore"):
        return Law(law.loss, np.exp(np.log(law.mass) + tilt * law.loss - scale)), scale


def tpr(losses: Losses, alpha: FloatArray) -> FloatArray:
    """The TPR of the best test at each FPR."""
    null = losses.mass * np.exp(-np.maximum(losses.values, -700.0))
    rate = np.minimum(np.cumsum(null[::-1]), 1.0)
    power = np.minimum(losses.infinite + np.cumsum(losses.mass[::-1]), 1.0)
    power = np.interp(alpha, np.r_[0.0, rate], np.r_[losses.infinite, power])
    return np.where(alpha == 1, 1.0, np.where(alpha == 0, 0.0, power))


def epsilon(losses: Losses, delta: float) -> float:
    """The least epsilon of 0 or more with H1(S) <= exp(epsilon) H0(S) + delta for every set S."""
    values, mass = losses.values, losses.mass
    kept = (values > 0) & (values < MOST_EPSILON)
    # Past the largest epsilon the rest of the mass counts as if its loss were infinite.
    beyond = losses.infinite + float(mass[values >= MOST_EPSILON].sum())
    values, mass = values[kept], mass[kept]
    null = np.exp(values) * np.cumsum((mass * np.exp(-values))[::-1])[::-1]
    # From one loss to the next lower delta grows by a share of what H0 has: nothing cancels.
    grown = -np.expm1(-losses.spacing) * np.cumsum(null[::-1])[::-1]
    delta_at = beyond + np.r_[grown[1:], 0.0]
    small = delta_at <= delta
    if not small.any():
        return np.inf
    j = int(np.argmax(small))
    if (j == 0 and losses.first > 0) or null[j] == 0:
        return float(values[j])
    # Between two losses delta(epsilon) is linear in exp(epsilon).
    share = max((delta_at[j] - delta) / null[j], np.expm1(-losses.spacing))
    return float(max(values[j] + np.log1p(share), 0.0))


def _ends(pair: Pair, far: float) -> tuple[float, float]:
    """The largest and the least loss that is put on the grid, as H1 = the mixture sees them."""
    bottom, top = _loss(pair, np.array([-3.0 - far, pair.mu + far])).tolist()
    return top, -top if pair.kind in ("exchanged", "either") else bottom


def _loss(pair: Pair, z: FloatArray) -> FloatArray:
    _, mu, p = pair
    with np.errstate(divide="ignore"):
        stays, drawn = np.log1p(-p), np.log(p) - mu**2 / 2
    loss = np.logaddexp(stays, drawn + mu * z)
    return loss - np.logaddexp(stays, drawn - mu * z) if pair.kind == "exchanged" else loss


def _observation(pair: Pair, loss: FloatArray) -> FloatArray:
    """The z at which a loss lies: it grows with z."""
    kind, mu, p = pair
    with np.errstate(invalid="ignore", divide="ignore"):
        if kind != "exchanged":
            near = np.log1p(np.expm1(loss) / p)
            far = np.log((np.exp(np.minimum(loss, 0.0)) - (1 - p)) / p)
            z = np.where(loss < -0.5, far, near)
            return np.where(np.isnan(z), -np.inf, z / mu + mu / 2)
        # A quadratic in exp(mu z), for losses of 0 or more.
        half = (1 - p) * np.expm1(loss) / 2
        drawn = p * np.exp(-(mu**2) / 2)
        return np.log((half + np.hypot(half, drawn * np.exp(loss / 2))) / drawn) / mu


def _between(z: FloatArray, mu: float, p: float) -> FloatArray:
    """Masses of the mixture between neighbouring z, from whichever tail is the smaller."""
    below = (1 - p) * ndtr(z) + p * ndtr(z - mu)
    above = (1 - p) * ndtr(-z) + p * ndtr(mu - z)
    return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))


def _one_step(pair: Pair, spacing: float, ends: tuple[float, float], up: bool) -> Losses:
    kind, mu, p = pair
    two_sided = kind in ("exchanged", "either")
    top, bottom = ends
    first = 0 if two_sided else int(np.floor(bottom / spacing))
    edges = np.arange(first, int(np.ceil(top / spacing)) + 1, dtype=np.float64) * spacing
    last, z = first + len(edges) - 1, _observation(pair, edges)
    lowest = z[0]
    if not two_sided:
        z[0] = -np.inf
    member = _between(z, mu, p)
    if not up:
        return Losses(first, member, spacing, 0.0)
    other = _between(z, -mu, p if kind == "exchanged" else 0.0)
    upper = (member - other * np.exp(edges[:-1])) / -np.expm1(-spacing)
    upper = np.clip(upper, 0.0, member)
    mass = np.r_[member - upper, 0.0] + np.r_[0.0, upper]
    infinite = float((1 - p) * ndtr(-z[-1]) + p * ndtr(mu - z[-1]))
    if kind == "joined":
        return Losses(first, mass, spacing, infinite)
    mirrored = (mass * np.exp(-edges))[::-1]
    if kind == "left":
        # What lies below its least loss counts as that, above its largest as infinite.
        mirrored[0] += ndtr(-z[-1])
        return Losses(-last, mirrored, spacing, float(ndtr(lowest)))
    # Both sides, and what neither of them has tells nothing.
    rest = max(1.0 - mass[1:].sum() - mirrored[:-1].sum() - infinite, 0.0)
    return Losses(-last, np.r_[mirrored[:-1], rest, mass[1:]], spacing, infinite)


def _reach(
    law: Law, steps: int, tilt: float, least: float, spacing: float = 0.0
) -> tuple[float, float]:
    """Bounds that the sum leaves with negligible probability under H1 (Chernoff).

    The upper one, below which all but exp(least) lies, holds on a grid of that spacing as well.
    """
    own = _cumulant(law, tilt) if tilt else 0.0
    down = min((steps * (_cumulant(law, tilt - o) - own) - _LOG_LOST) / o for o in _ORDERS)
    up = min(
        (steps * (_cumulant(law, o) + (o + o**2) * spacing**2 / 8) - least) / o
        for o in tilt + _ORDERS
    )
    margin = 0.01 * (up + down)
    return -down - margin, up + margin
