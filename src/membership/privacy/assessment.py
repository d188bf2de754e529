"""What a training run promises, from its sizes and its noise alone."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from membership.privacy import checks, numerical
from membership.privacy.levels import mip_mu_step
from membership.privacy.numerical import MOST_NUMERICAL_MU, Losses, Pair
from membership.privacy.schedule import Schedule, schedule

RATES = (0.001, 0.01, 0.1)
# Logarithm to the base 2 of the points of a composition; the page has the same.
GRID = 16
# Above, a rate no longer says how high a level is.
_SURE = 1 - 1e-6


@dataclass(frozen=True)
class Level:
    """One notion's promise.

    Attributes
    ----------
    step : float
        mu of one step whose batch holds the record.
    limit : float
        mu of all steps, in the limit of many: no bound.
    mu : float
        The larger of `limit` and what the numerical composition shows at the three rates.
    tpr : tuple of float
        The TPR that no attack exceeds at FPR 0.1%, 1% and 10%, by numerical composition.
    """

    step: float
    limit: float
    mu: float
    tpr: tuple[float, float, float]

    @property
    def limit_holds(self) -> bool:
        """Whether the limit, to a thousandth, is a bound at the three rates."""
        return self.mu <= 1.001 * self.limit


@dataclass(frozen=True)
class Assessment:
    """Privacy of one training run.

    Attributes
    ----------
    steps : int
        T, batches in all epochs, a last smaller one included.
    sigma : float
        The noise multiplier tau n / C.
    effective_batch_size : float
        n_e of Theorem 5.1, n + sigma^2.
    membership : Level
        Against membership inference: Corollary 5.1 and Equation 10, or differential privacy where
        that promises more, since it implies the other (Theorem 4.2).
    membership_one_sided : float
        mu of all steps for a fixed null hypothesis; no part of the paper.
    differential : Level
        Against the adversary of differential privacy.
    epsilon : float
        At the given delta, by numerical composition; infinite beyond 600.
    """

    steps: int
    sigma: float
    effective_batch_size: float
    membership: Level
    membership_one_sided: float
    differential: Level
    epsilon: float


def noise_multiplier(n: float, tau: float, clip: float | None) -> float:
    """Return sigma = tau n / C, for noise of standard deviation tau on the mean of n gradients."""
    n, tau = checks.batch(n), checks.noise(tau)
    return tau * n / checks.clipping(clip) if tau else 0.0


def assess(
    n: float,
    n_records: float,
    epochs: float,
    d: float | None = None,
    k: float | None = None,
    *,
    sigma: float = 0.0,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
) -> Assessment:
    """Assess noisy SGD.

    Parameters
    ----------
    n, n_records : float
        Batch size (with Poisson sampling its mean), 2 or more, and size of the training set N.
    epochs : float
        Passes over the training set, above 0.
    d : float, optional
        Rank of the gradients' covariance, 1 or more; at most the number of parameters. Without it
        membership privacy is what differential privacy implies.
    k : float, optional
        Gradient susceptibility K of the records to protect, above 0; d unless given.
    sigma : float
        Noise multiplier: each entry of the mean of gradients clipped to norm C gets noise of
        standard deviation tau = sigma C / n.
    sampling : {"poisson", "fixed", "shuffled"}
        Every record joins a batch independently with probability n / N; batches of exactly n are
        drawn anew each step; or each epoch deals a new order into batches. For the last no
        amplification by sampling is credited.
    adjacency : {"add-remove", "replace-one"}
        How two training sets differ. The first is for Poisson sampling alone.
    delta : float
        Of the (epsilon, delta) to report, 1e-9 or more and below 1.

    Raises
    ------
    InputError
        A value is out of range, or no accountant exists for the sampling and adjacency.
    """
    run = schedule(n, n_records, epochs, sampling, adjacency)
    sigma, delta = checks.multiplier(sigma), checks.delta(delta)
    differential, epsilon = differential_level(run, sigma, delta)
    membership, one_sided = membership_level(run, sigma, d, k, differential)
    return Assessment(
        steps=run.steps,
        sigma=sigma,
        effective_batch_size=run.n + sigma**2,
        membership=membership,
        membership_one_sided=one_sided,
        differential=differential,
        epsilon=epsilon,
    )


def differential_level(run: Schedule, sigma: float, delta: float) -> tuple[Level, float]:
    """Level and epsilon against the adversary of differential privacy."""
    limit = run.limit(sigma)
    step = run.step(sigma)
    composed = [_composed(pair, run) for pair in run.pairs(sigma)]
    if None in composed:
        return Level(step, limit, math.inf, (1.0, 1.0, 1.0)), math.inf
    tpr = _worst([_tpr(losses) for losses in composed])
    epsilon = max(numerical.epsilon(losses, delta) for losses in composed)
    return Level(step, limit, _level(limit, tpr), tpr), epsilon


def membership_level(
    run: Schedule, sigma: float, d: float | None, k: float | None, implied: Level
) -> tuple[Level, float]:
    """Level against membership inference, and the same for a fixed null hypothesis."""
    if d is None:
        return implied, implied.mu
    # With the clipping norm as unit the noise is sigma / n on each entry.
    step = float(mip_mu_step(d, run.n, d if k is None else k, sigma / run.n, 1.0))
    losses = _composed(Pair("joined", step, run.p), run)
    tpr = _tpr(losses) if losses else (1.0, 1.0, 1.0)
    limit, one_sided = run.limit_at(step, "either"), run.limit_at(step, "fixed")
    own = Level(step, limit, _level(limit, tpr), tpr)
    both = Level(
        step,
        min(own.limit, implied.limit),
        min(own.mu, implied.mu),
        tuple(map(min, own.tpr, implied.tpr)),
    )
    return both, min(_level(one_sided, tpr), both.mu)


def _composed(pair: Pair, run: Schedule) -> Losses | None:
    """The losses of all steps; None where a step that uses the record tells all."""
    if pair.mu > MOST_NUMERICAL_MU:
        return None
    return numerical.compose(pair, run.composed, GRID)


def _tpr(losses: Losses) -> tuple[float, ...]:
    return tuple(float(rate) for rate in numerical.tpr(losses, np.array(RATES)))


def _worst(rates: list[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(map(max, zip(*rates, strict=True)))


def _level(limit: float, tpr: tuple[float, ...]) -> float:
    shown = ndtri(np.minimum(tpr, _SURE)) - ndtri(RATES)
    return float(max(limit, *shown))
