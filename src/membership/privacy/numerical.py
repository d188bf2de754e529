"""Composition without a limit theorem: many subsampled Gaussian steps, by Fourier transform.

The log-likelihood ratio of T independent steps is a sum of T independent variables. Each is put
on a grid, once rounded up and once rounded down, and its distribution is convolved T times. The
distribution under H0 follows from that under H1 as exp(-l) times it; rounding up then understates
the FPR and rounding down overstates it, so that the truth lies between two curves (Koskela et al.
2020; Gopi et al. 2021).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr

from membership.arrays import FloatArray
from membership.errors import InputError
from membership.privacy import checks

# The largest level of one step that is composed.
MOST_NUMERICAL_MU = 15
_LOG_LOST = np.log(1e-13)
_ORDERS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
_GRIDS = range(12, 25)


class Enclosure(NamedTuple):
    """Two trade-off curves with the exact one between them."""

    low: FloatArray
    high: FloatArray


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
        `low` (a guarantee: no attack has a lower FNR) and `high`, in the shape of `alpha`.

    Raises
    ------
    InputError
        A value is out of range.
    """
    alpha = checks.rates("alpha", alpha)
    mu = checks.level("mu_step", mu_step)
    n = checks.batch(batch_size)
    p = n / checks.records(n_records, n)
    steps = int(checks.steps(steps))
    if mu > MOST_NUMERICAL_MU:
        raise InputError(
            f"mu_step = {mu_step}: give at most {MOST_NUMERICAL_MU}; beyond, one step tells all"
        )
    if grid not in _GRIDS:
        raise InputError(f"grid = {grid}: give {_GRIDS[0]} to {_GRIDS[-1]}")
    losses, weight = _one_step(mu, p)
    low, high = _reach(losses, weight, steps)
    spacing = (high - low) / 2**grid
    return Enclosure(
        *(_composed(alpha, mu, p, steps, spacing, low, 2**grid, up) for up in (True, False))
    )


def _one_step(mu: float, p: float) -> tuple[FloatArray, FloatArray]:
    """Log-likelihood ratios on a fine grid of observations, and log-probabilities under H1."""
    z = np.linspace(-9.0, mu + 9.0, 20_001)
    loss = _loss(z, mu, p)
    log_density = loss - z**2 / 2
    return loss, log_density - logsumexp(log_density)


def _loss(z: FloatArray, mu: float, p: float) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log1p(-p), np.log(p) + mu * z - mu**2 / 2)


def _reach(loss: FloatArray, weight: FloatArray, steps: int) -> tuple[float, float]:
    """Bounds that the sum leaves with negligible probability under H1 (Chernoff)."""
    up = [(steps * logsumexp(weight + o * loss) - _LOG_LOST) / o for o in _ORDERS]
    down = [(steps * logsumexp(weight - o * loss) - _LOG_LOST) / o for o in _ORDERS]
    margin = 0.01 * (min(up) + min(down))
    return -min(down) - margin, min(up) + margin


def _composed(
    alpha: FloatArray,
    mu: float,
    p: float,
    steps: int,
    spacing: float,
    low: float,
    size: int,
    up: bool,
) -> FloatArray:
    first, mass = _discretised(mu, p, spacing, up)
    padded = np.zeros(size)
    # One step's losses may reach beyond the window of the sum: their mass is lost, below 1e-13.
    kept = mass[:size]
    padded[: len(kept)] = kept
    total = np.fft.irfft(np.fft.rfft(padded) ** steps, size)
    # The sum's index starts at steps * first; unroll the circle so that the window starts at low.
    start = int(np.floor(low / spacing))
    index = start + np.arange(size)
    mass = np.maximum(total[(index - steps * first) % size], 0.0)
    power = np.cumsum(mass[::-1])
    rate = np.cumsum((mass * np.exp(-np.maximum(index * spacing, -700.0)))[::-1])
    power, rate = np.minimum(power, 1.0), np.minimum(rate, 1.0)
    # What was lost is given to the attacker in the guarantee, and kept from him in the other.
    power = np.minimum(power + 1e-12, 1.0) if up else np.maximum(power - 1e-12, 0.0)
    found = 1 - np.interp(alpha, np.r_[0.0, rate], np.r_[power[0] if up else 0.0, power])
    return np.where(alpha == 1, 0.0, np.where(alpha == 0, 1.0, found))


def _discretised(mu: float, p: float, spacing: float, up: bool) -> tuple[int, FloatArray]:
    """H1 masses of one step's log-likelihood ratio on multiples of `spacing`; the first multiple.

    The ratio grows with the observation z, so a bin of ratios is an interval of z.
    """
    ends = _loss(np.array([-12.0, mu + 9.0]), mu, p)
    first, last = np.floor(ends[0] / spacing), np.ceil(ends[1] / spacing)
    edges = np.arange(first, last + 1) * spacing
    with np.errstate(invalid="ignore", divide="ignore"):
        inner = np.log(np.expm1(edges) + p) - np.log(p)
    z = np.where(np.isnan(inner), -np.inf, inner / mu + mu / 2)
    z[0], z[-1] = -np.inf, np.inf
    # Differences of whichever tail is the smaller keep the precision of the upper bins.
    below = (1 - p) * ndtr(z) + p * ndtr(z - mu)
    above = (1 - p) * ndtr(-z) + p * ndtr(mu - z)
    mass = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    return int(first) + int(up), mass
