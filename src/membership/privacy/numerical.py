"""Composition without a limit theorem: many subsampled Gaussian steps, by Fourier transform.

One step is a test between two distributions, and its privacy loss is the logarithm of their ratio.
The losses are put on a grid: the probability of each interval is shared out between its two ends
so that both distributions keep theirs ("connect the dots", Doroshenko et al. 2022). The test on
the grid is never harder than the true one, so that what follows is a guarantee. Composing T steps
is then a convolution (Koskela et al. 2020; Gopi et al. 2021).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import comb, logsumexp, ndtr, ndtri

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
# Steps of Newton's method, each of which about doubles the digits.
_NEWTON = 12
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
    of the two is easier at each rate; "exchanged", the mixtures with mu and with -mu. A group of
    records joins one by one: its mixture is of N(j mu, 1), with j by Binomial(group, p). For it
    the first two kinds are known to be the worst (Ganesh 2024).
    """

    kind: str
    mu: float
    p: float
    group: int = 1

    @property
    def mixture(self) -> list[tuple[float, float]]:
        """Weights of the normal laws, and where they lie."""
        weights = (
            float(comb(self.group, j) * self.p**j * (1 - self.p) ** (self.group - j))
            for j in range(self.group + 1)
        )
        return [(weight, j * self.mu) for j, weight in enumerate(weights)]

    def top(self, share: float) -> float:
        """Where the furthest of the laws lies whose weight is not below a share."""
        return max(self.mu, *(place for weight, place in self.mixture if weight >= share))


_NULL = [(1.0, 0.0)]
Parts = Sequence[tuple[Pair, int]]
"""Pairs, and how many steps of each are composed."""


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
    low, high = (1 - tpr(compose([(pair, steps)], grid, up), alpha) for up in (True, False))
    return Enclosure(low, high)


def compose(parts: Parts, grid: int, up: bool = True, tail: float | None = None) -> Losses:
    """The losses of all steps; rounded against us, or with `up` False against the attacker.

    With `tail`, those that are larger than all but a share `tail`: masses as small as that keep
    their digits, because the steps are composed under a law whose centre lies there (Esscher).
    """
    pairs, counts = [pair for pair, _ in parts], [steps for _, steps in parts]
    lost = _LOST if tail is None else _LOST_OF_TAIL * tail
    share = lost / sum(counts)
    far = _FAR if tail is None else max(_FAR, float(-ndtri(share)))
    size = 2**grid
    most = max(size, min(_FOLDS * size, _MOST))
    ends = [_ends(pair, far, share) for pair in pairs]
    laws = list(zip((_law(pair, far, share) for pair in pairs), counts, strict=True))
    finest = max(top - bottom for top, bottom in ends) / most
    tilt = 0.0 if tail is None else min(_order(laws, tail), 1 / finest)
    least = _LOG_LOST + (0.0 if tail is None else float(np.log(tail)))
    low, high = _reach(laws, tilt, least)
    spacing = max((high - low) / size, finest)
    _, high = _reach(laws, tilt, least, spacing)
    if spacing > WIDEST and up:
        return Losses(0, np.zeros(1), spacing, 1.0)
    steps = [_one_step(pair, spacing, end, up) for pair, end in zip(pairs, ends, strict=True)]
    tilted = [_tilted(Law(step.values, step.mass), tilt) for step in steps]
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for (law, _), count in zip(tilted, counts, strict=True):
        # One step may reach further than the sum; round the circle it does no harm.
        folded = np.pad(law.mass, (0, -len(law.mass) % size)).reshape(-1, size).sum(axis=0)
        spectrum *= np.fft.rfft(folded) ** count
    total = np.fft.irfft(spectrum, size)
    kept = sum(count * np.log1p(-one.infinite) for one, count in zip(steps, counts, strict=True))
    # Every step multiplies the rounding of a step's sum.
    total *= (1.0 if tilt else np.exp(kept)) / total.sum()
    # The sum's index starts at its steps' own; unroll the circle so that the window ends at high.
    start = int(np.ceil(high / spacing)) - size
    first = sum(count * step.first for step, count in zip(steps, counts, strict=True))
    mass = np.maximum(total[(start + np.arange(size) - first) % size], 0.0)
    if tilt:
        loss = (start + np.arange(size, dtype=np.float64)) * spacing
        scale = sum(count * scale for (_, scale), count in zip(tilted, counts, strict=True))
        mass = mass * np.exp(np.minimum(scale - tilt * loss, 700.0))
    # What the window leaves out is given to the attacker in the guarantee.
    return Losses(start, mass, spacing, float(-np.expm1(kept)) + lost if up else 0.0)


class Law(NamedTuple):
    """A step's losses and their masses under H1, cell by cell of the observation."""

    loss: FloatArray
    mass: FloatArray


Laws = Sequence[tuple[Law, int]]


def _law(pair: Pair, far: float, share: float) -> Law:
    """The step without a grid of losses: near enough to say where those of all steps lie."""
    edges: FloatArray = np.linspace(-3.0 - far, pair.top(share) + far, _CELLS + 1, dtype=np.float64)
    loss = _loss(pair, (edges[1:] + edges[:-1]) / 2)
    mass, null = _between(edges, pair.mixture), _between(edges, _NULL)
    if pair.kind == "left":
        return Law(-loss, null)
    if pair.kind != "either":
        return Law(loss, mass)
    above = loss > 0
    mass, null, loss = mass[above], null[above], loss[above]
    rest = max(1.0 - float(mass.sum() + null.sum()), 0.0)
    return Law(np.r_[-loss, 0.0, loss], np.r_[null, rest, mass])


def _order(laws: Laws, tail: float) -> float:
    """The order at which Chernoff's bound on the loss above all but `tail` is least."""
    bounds = [(_all_cumulants(laws, o) - np.log(tail)) / o for o in _TILTS]
    return float(_TILTS[int(np.argmin(bounds))])


def _all_cumulants(laws: Laws, order: float, more: float = 0.0) -> float:
    return sum(steps * (_cumulant(law, order) + more) for law, steps in laws)


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
    power = np.interp(alpha, *_roc(losses))
    return np.where(alpha == 1, 1.0, np.where(alpha == 0, 0.0, power))


def auc(losses: Losses) -> float:
    """The area under the ROC curve of the best test."""
    rate, power = _roc(losses)
    return float(np.trapezoid(power, rate)) + 1 - float(rate[-1])


def _roc(losses: Losses) -> tuple[FloatArray, FloatArray]:
    null = losses.mass * np.exp(-np.maximum(losses.values, -700.0))
    rate = np.minimum(np.cumsum(null[::-1]), 1.0)
    power = np.minimum(losses.infinite + np.cumsum(losses.mass[::-1]), 1.0)
    return np.r_[0.0, rate], np.r_[losses.infinite, power]


def delta(losses: Losses, epsilon: float) -> float:
    """The most that H1(S) exceeds exp(epsilon) H0(S) by."""
    above = losses.values > epsilon
    beyond = -np.expm1(epsilon - losses.values[above])
    return min(losses.infinite + float(losses.mass[above] @ beyond), 1.0)


def tail_of(parts: Parts, epsilon: float) -> float:
    """Chernoff's bound on a delta, which is as a rule within two orders of it."""
    laws = [(_law(pair, _FAR, _LOST), steps) for pair, steps in parts]
    return float(np.exp(min(0.0, *(_all_cumulants(laws, o) - o * epsilon for o in _TILTS))))


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


def _ends(pair: Pair, far: float, share: float) -> tuple[float, float]:
    """The largest and the least loss that is put on the grid, as H1 = the mixture sees them."""
    bottom, top = _loss(pair, np.array([-3.0 - far, pair.top(share) + far])).tolist()
    return top, -top if pair.kind in ("exchanged", "either") else bottom


def _loss(pair: Pair, z: FloatArray) -> FloatArray:
    loss = _against_null(pair, z)
    return loss - _against_null(pair, -z) if pair.kind == "exchanged" else loss


def _against_null(pair: Pair, z: FloatArray) -> FloatArray:
    """The logarithm of the mixture's density over that of N(0, 1)."""
    with np.errstate(divide="ignore"):
        found = np.log1p(-pair.p) * pair.group
        for weight, place in pair.mixture[1:]:
            found = np.logaddexp(found, np.log(weight) - place**2 / 2 + place * z)
    return found


def _observation(pair: Pair, loss: FloatArray) -> FloatArray:
    """The z at which a loss lies: it grows with z."""
    kind, mu, p, group = pair
    with np.errstate(invalid="ignore", divide="ignore"):
        if kind == "exchanged":
            # A quadratic in exp(mu z), for losses of 0 or more.
            half = (1 - p) * np.expm1(loss) / 2
            drawn = p * np.exp(-(mu**2) / 2)
            return np.log((half + np.hypot(half, drawn * np.exp(loss / 2))) / drawn) / mu
        drawn = p if group == 1 else -np.expm1(group * np.log1p(-p))
        near = np.log1p(np.expm1(loss) / drawn)
        far = np.log((np.exp(np.minimum(loss, 0.0)) - pair.mixture[0][0]) / drawn)
        sought = np.where(loss < -0.5, far, near)
        return _solved(pair, np.where(np.isnan(sought), -np.inf, sought), drawn)


def _solved(pair: Pair, sought: FloatArray, drawn: float) -> FloatArray:
    """Where the density of what is drawn, over that of N(0, 1), has these logarithms."""
    lines = [(np.log(w / drawn) - z**2 / 2, z) for w, z in pair.mixture[1:] if w > 0]
    # It lies above each of its parts, which are straight lines, and is convex: Newton's method
    # comes down from where the first of them is as high.
    z = np.min([sought / slope - start / slope for start, slope in lines], axis=0)
    for _ in range(_NEWTON if len(lines) > 1 else 0):
        parts = np.array([start + slope * z for start, slope in lines])
        height = np.asarray(logsumexp(parts, axis=0))
        slope = np.einsum("ij,i", np.exp(parts - height), [slope for _, slope in lines])
        z = np.where(np.isfinite(sought), z - (height - sought) / slope, z)
    return z


def _between(z: FloatArray, mixture: list[tuple[float, float]]) -> FloatArray:
    """Masses of the mixture between neighbouring z, from whichever tail is the smaller."""
    below = np.sum([weight * ndtr(z - place) for weight, place in mixture], axis=0)
    above = np.sum([weight * ndtr(place - z) for weight, place in mixture], axis=0)
    return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))


def _one_step(pair: Pair, spacing: float, ends: tuple[float, float], up: bool) -> Losses:
    kind = pair.kind
    two_sided = kind in ("exchanged", "either")
    top, bottom = ends
    first = 0 if two_sided else int(np.floor(bottom / spacing))
    edges = np.arange(first, int(np.ceil(top / spacing)) + 1, dtype=np.float64) * spacing
    last, z = first + len(edges) - 1, _observation(pair, edges)
    lowest = z[0]
    if not two_sided:
        z[0] = -np.inf
    member = _between(z, pair.mixture)
    if not up:
        return Losses(first, member, spacing, 0.0)
    mirrored = [(weight, -place) for weight, place in pair.mixture]
    other = _between(z, mirrored if kind == "exchanged" else _NULL)
    upper = (member - other * np.exp(edges[:-1])) / -np.expm1(-spacing)
    upper = np.clip(upper, 0.0, member)
    mass = np.r_[member - upper, 0.0] + np.r_[0.0, upper]
    infinite = float(sum(weight * ndtr(place - z[-1]) for weight, place in pair.mixture))
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


def _reach(laws: Laws, tilt: float, least: float, spacing: float = 0.0) -> tuple[float, float]:
    """Bounds that the sum leaves with negligible probability, tilted or not (Chernoff).

    The upper one, below which all but exp(least) lies, holds on a grid of that spacing as well.
    """
    own = _all_cumulants(laws, tilt) if tilt else 0.0
    down = min((_all_cumulants(laws, tilt - o) - own - _LOG_LOST) / o for o in _ORDERS)
    logs = [
        (o, _all_cumulants(laws, tilt + o, (tilt + o + (tilt + o) ** 2) * spacing**2 / 8))
        for o in _ORDERS
    ]
    up = min((log - least) / (tilt + o) for o, log in logs)
    # Under the tilted law nothing may come round the circle, where it would count a thousandfold.
    up = max(up, min((log - own - _LOG_LOST) / o for o, log in logs))
    margin = 0.01 * (up + down)
    return -down - margin, up + margin
