"""What a training run promises, from its sizes and noise alone, and the noise a promise costs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from membership.arrays import one_of
from membership.errors import InputError
from membership.privacy import checks, composed
from membership.privacy.composed import RATES, Composed
from membership.privacy.levels import composed_mu, mip_mu_step, subsampled_mu
from membership.privacy.numerical import MOST_NUMERICAL_MU, Pair

SAMPLINGS = ("poisson", "fixed", "shuffled")
ADJACENCIES = ("add-remove", "replace-one")
MOST_COMPOSED = 10**9


class Schedule(NamedTuple):
    """What is composed: the steps that may use the record, each with probability p."""

    n: float
    n_records: float
    steps: int
    composed: int
    p: float
    sampling: str
    adjacency: str

    @property
    def reach(self) -> float:
        """How far the record moves a step's sum of gradients, in clipping norms."""
        # With Poisson sampling a replaced record moves two mixtures by one norm each.
        return 1.0 if self.sampling == "poisson" else 2.0

    def step(self, sigma: float) -> float:
        """mu of one step whose batch holds the record."""
        norms = 1.0 if self.adjacency == "add-remove" else 2.0
        return norms / sigma if sigma else math.inf

    def pairs(self, sigma: float) -> list[Pair]:
        """The pairs of distributions whose worst bounds every attack."""
        if self.sampling != "poisson":
            kinds = ["either"]
        else:
            kinds = ["joined", "left"] if self.adjacency == "add-remove" else ["exchanged"]
        mu = self.reach / sigma if sigma else math.inf
        return [Pair(kind, mu, self.p) for kind in kinds]

    def limit(self, sigma: float) -> float:
        """mu of all steps, in the limit of many; at full batch that of any number."""
        mu = self.reach / sigma if sigma else math.inf
        if self.p == 1:
            return composed_mu(self.step(sigma), self.composed)
        if self.sampling == "poisson" and self.adjacency == "replace-one":
            with np.errstate(over="ignore"):
                return float(2 * self.p * np.sqrt(self.composed * np.sinh(np.square(mu))))
        return self.limit_at(mu, "fixed" if self.sampling == "poisson" else "either")

    def limit_at(self, mu: float, order: str) -> float:
        """mu of all steps, in the limit, where each has the level mu."""
        if self.p == 1:
            return composed_mu(mu, self.composed)
        return subsampled_mu(mu, self.n, self.n_records, self.composed, order=order)


def schedule(
    n: float | None,
    n_records: float | None,
    epochs: float | None,
    sampling: str,
    adjacency: str,
    rate: float | None = None,
    steps: float | None = None,
) -> Schedule:
    """Check a run's sizes, and that its sampling and adjacency can be accounted for."""
    n, n_records, p = _batch(n, n_records, rate)
    count, passes = _length(n, n_records, epochs, steps)
    one_of("sampling", sampling, SAMPLINGS)
    one_of("adjacency", adjacency, ADJACENCIES)
    if adjacency == "add-remove" and sampling != "poisson":
        raise InputError(
            f"adjacency = 'add-remove': no accountant exists for {sampling} batches, which need a "
            "fixed number of records; give replace-one, or sampling poisson"
        )
    if sampling != "poisson" and n < 1:
        raise InputError(f"n = {n:g}: {sampling} batches hold 1 record or more; give that")
    # A shuffled run uses a record once an epoch. That nobody knows when is not credited.
    composed = passes if sampling == "shuffled" else count
    if composed > MOST_COMPOSED:
        asked = f"steps = {steps:g}" if epochs is None else f"epochs = {epochs:g}: {count} steps"
        raise InputError(f"{asked}; give at most 1e9 steps")
    p = 1.0 if sampling == "shuffled" else p
    return Schedule(n, n_records, count, composed, p, sampling, adjacency)


def _batch(
    n: float | None, n_records: float | None, rate: float | None
) -> tuple[float, float, float]:
    """n, N and the rate n / N, of which two are given, or the rate alone: then n is 1."""
    if rate is None:
        n = checks.number("n", n, "batch_size")
        n_records = checks.records(n_records, n)
        return n, n_records, n / n_records
    if n_records is not None:
        raise InputError(f"rate = {rate} and n_records = {n_records}: give one of them")
    rate = checks.number("rate", rate)
    n = 1.0 if n is None else checks.number("n", n, "batch_size")
    return n, n / rate, rate


def _length(
    n: float, n_records: float, epochs: float | None, steps: float | None
) -> tuple[int, int]:
    """Steps, and passes over the training set, begun ones included."""
    if steps is None:
        epochs = checks.number("epochs", epochs)
        return math.ceil(n_records * epochs / n), math.ceil(epochs)
    if epochs is not None:
        raise InputError(f"epochs = {epochs} and steps = {steps}: give one of them")
    steps = checks.require("steps", steps, lambda v: v >= 1 and v == v // 1, "a whole number, 1 up")
    return int(steps), math.ceil(round(steps * n / n_records, 9))


@dataclass(frozen=True)
class Level:
    """One notion's promise.

    Attributes
    ----------
    step : float
        mu of one step whose batch holds the record.
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

    @property
    def limit_holds(self) -> bool:
        """Whether the limit, to a hundredth, is a bound at those rates."""
        return self.mu <= 1.01 * self.limit


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
        n_e of Theorem 5.1, n + sigma^2; NaN where a rate is given in the place of n.
    membership : Level
        Against membership inference: Corollary 5.1 and Equation 10, or differential privacy where
        that promises more, since it implies the other (Theorem 4.2).
    membership_one_sided : float
        mu of all steps for a fixed null hypothesis; no part of the paper.
    differential : Level
        Against the adversary of differential privacy.
    epsilon : float
        At the given delta, by composition, which errs on the safe side, as a rule by less than a
        thousandth. Infinite beyond 600, unless the batch is full.
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
    n, tau = checks.number("n", n, "batch_size"), checks.number("tau", tau)
    return tau * n / checks.clipping(clip) if tau else 0.0


def assess(
    n: float | None = None,
    n_records: float | None = None,
    epochs: float | None = None,
    d: float | None = None,
    k: float | None = None,
    *,
    rate: float | None = None,
    steps: float | None = None,
    sigma: float = 0.0,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
) -> Assessment:
    """Assess noisy SGD.

    Parameters
    ----------
    n, n_records : float
        Batch size and size of the training set N. With Poisson sampling its mean, above 0; else 1
        or more; with `d` 2 or more.
    epochs : float
        Passes over the training set, above 0.
    rate, steps : float, optional
        In their place, as training logs them: the chance n / N of a record to be in a batch, and
        the number of batches. `rate` stands for `n_records` (and for `n`, without `d`), `steps`
        for `epochs`.
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
        Of the (epsilon, delta) to report, 1e-100 or more and below 1.

    Raises
    ------
    InputError
        A value is out of range, or no accountant exists for the sampling and adjacency.
    """
    run = schedule(n, n_records, epochs, sampling, adjacency, rate, steps)
    if d is not None:
        checks.number("n", n)
    sigma, delta = checks.number("sigma", sigma), checks.number("delta", delta)
    differential, epsilon = differential_level(run, sigma, delta)
    membership, one_sided = membership_level(run, sigma, d, k, differential)
    return Assessment(
        steps=run.steps,
        sigma=sigma,
        effective_batch_size=math.nan if n is None else run.n + sigma**2,
        membership=membership,
        membership_one_sided=one_sided,
        differential=differential,
        epsilon=epsilon,
    )


def differential_level(run: Schedule, sigma: float, delta: float) -> tuple[Level, float]:
    """Level and epsilon against the adversary of differential privacy."""
    each = [composed.compose(pair, run.composed) for pair in run.pairs(sigma)]
    level = _level(run.step(sigma), run.limit(sigma), each)
    return level, max(one.epsilon(delta) for one in each)


def membership_level(
    run: Schedule, sigma: float, d: float | None, k: float | None, implied: Level
) -> tuple[Level, float]:
    """Level against membership inference, and the same for a fixed null hypothesis."""
    if d is None:
        return implied, implied.mu
    # With the clipping norm as unit the noise is sigma / n on each entry.
    step = float(mip_mu_step(d, run.n, d if k is None else k, sigma / run.n, 1.0))
    fixed, either = (
        composed.compose(Pair(kind, step, run.p), run.composed) for kind in ("joined", "either")
    )
    own = _level(step, run.limit_at(step, "fixed"), [fixed])
    limit = run.limit_at(step, "either")
    both = Level(
        step,
        min(limit, implied.limit),
        min(max(either.mu(limit), own.mu), implied.mu),
        tuple(map(min, own.tpr, implied.tpr)),
        own.is_cut_off and implied.mu == math.inf,
    )
    return both, min(own.mu, both.mu)


def _level(step: float, limit: float, each: list[Composed]) -> Level:
    """The level of the worst of some pairs of distributions."""
    tpr = (float(max(rates)) for rates in zip(*(one.tpr() for one in each), strict=True))
    mu = float(max(one.mu(limit) for one in each))
    return Level(step, limit, mu, tuple(tpr), any(one.is_cut_off for one in each))


TARGETS = ("mu", "epsilon", "tpr")
PROTECTIONS = ("differential", "membership")
LEAST_SIGMA, MOST_SIGMA = 1e-3, 1e6


def required_sigma(
    target: str,
    value: float,
    n: float | None = None,
    n_records: float | None = None,
    epochs: float | None = None,
    d: float | None = None,
    k: float | None = None,
    *,
    rate: float | None = None,
    steps: float | None = None,
    protect: str = "differential",
    fpr: float = 0.001,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
) -> float:
    """Return the noise multiplier at which training keeps a promise; `assess` goes back.

    Parameters
    ----------
    target : {"mu", "epsilon", "tpr"}
        What `value` is: a level of all steps, epsilon at `delta`, or the TPR that no attack exceeds
        at `fpr`.
    value : float
        Above 0; a TPR lies above `fpr` and below 1.
    protect : {"differential", "membership"}
        Whose level or TPR: that of differential privacy or that of membership inference.
    fpr : {0.001, 0.01, 0.1}
        The false positive rate of a TPR.
    n, n_records, epochs, rate, steps, d, k, sampling, adjacency, delta
        As in `assess`; d is needed to profit from membership privacy.

    Returns
    -------
    float
        sigma; 0 where no noise is needed. The mean gradient's noise is tau = sigma C / n.

    Raises
    ------
    InputError
        A value is out of range, no accountant exists, or no sigma of 0.001 to 1e6 reaches it.
    """
    one_of("target", target, TARGETS)
    one_of("protect", protect, PROTECTIONS)
    one_of("fpr", fpr, RATES)
    if target == "epsilon" and protect == "membership":
        raise InputError("target = 'epsilon': membership privacy has none; give mu or tpr")
    if target == "tpr":
        accepted = f"a rate above the false positive rate {fpr:g} and below 1"
        value = checks.require("tpr", value, lambda v: fpr < v < 1, accepted)
    else:
        accepted = "a number above 0, at most 100"
        value = checks.require(target, value, lambda v: 0 < v <= 100, accepted)
    run = schedule(n, n_records, epochs, sampling, adjacency, rate, steps)
    if d is not None:
        checks.number("n", n)
    delta = checks.number("delta", delta)

    def reached(sigma: float) -> float:
        level, epsilon = differential_level(run, sigma, delta)
        if target == "epsilon":
            return epsilon
        if protect == "membership":
            level, _ = membership_level(run, sigma, d, k, level)
        return level.mu if target == "mu" else level.tpr[RATES.index(fpr)]

    if reached(0.0) <= value:
        return 0.0
    return _root(reached, value, max(LEAST_SIGMA, run.reach / MOST_NUMERICAL_MU), target)


def _root(reached: Callable[[float], float], value: float, least: float, target: str) -> float:
    """Where a falling function of sigma has this value, sought in powers of 2 from 1."""
    high = 1.0
    while reached(high) > value:
        high *= 2
        if high > MOST_SIGMA:
            raise InputError(f"{target} = {value:g}: no noise up to sigma = 1e6 reaches it")
    low = high / 2
    while (at_low := reached(max(low, least))) <= value:
        if low <= least:
            return least
        low /= 2
    low = max(low, least)
    if math.isinf(at_low):
        raise InputError(f"{target} = {value:g}: next to no privacy; give a smaller value")

    def excess(log_sigma: float) -> float:
        return reached(math.exp(log_sigma)) - value

    # pyrefly: ignore[bad-argument-type]
    return math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-11, rtol=1e-11))
