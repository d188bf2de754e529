"""What a training run promises, from its sizes and noise alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from membership.arrays import as_float64
from membership.errors import InputError
from membership.privacy import checks, composed
from membership.privacy.levels import mip_mu_step
from membership.privacy.mixtures import mixture_tpr
from membership.privacy.numerical import Pair
from membership.privacy.promises import Level, better, level_of
from membership.privacy.runs import Phase, Phases, Run, limit_at, run_of
from membership.privacy.statement import stated

MOST_RECORDS = 200


@dataclass(frozen=True)
class Assessment:
    """Privacy of one training run.

    Attributes
    ----------
    steps : int
        T, batches in all epochs and phases, a last smaller one included.
    sigma : float
        The noise multiplier tau n / C; of the last phase.
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
    delta : float
        As given.
    mixture : tuple of float
        Of several K: the TPR that no attack exceeds over all those records together, at FPR 0.1%,
        1% and 10%. Empty for one.
    """

    steps: int
    sigma: float
    effective_batch_size: float
    membership: Level
    membership_one_sided: float
    differential: Level
    epsilon: float
    delta: float = 1e-5
    mixture: tuple[float, ...] = ()
    run: Run | None = field(default=None, repr=False)

    @property
    def statement(self) -> str:
        """Differential privacy's promise in a line to cite, with what a check of it needs."""
        return stated(self.run, self.epsilon, self.delta) if self.run else ""


def noise_multiplier(n: float, tau: float, clip: float | None) -> float:
    """Return sigma = tau n / C, for noise of standard deviation tau on the mean of n gradients."""
    n, tau = checks.number("n", n, "batch_size"), checks.number("tau", tau)
    return tau * n / checks.clipping(clip) if tau else 0.0


def assess(
    n: float | None = None,
    n_records: float | None = None,
    epochs: float | None = None,
    d: float | None = None,
    k: float | Sequence[float] | None = None,
    *,
    rate: float | None = None,
    steps: float | None = None,
    sigma: float = 0.0,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
    history: Phases = (),
    group: int = 1,
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
    k : float or sequence of float, optional
        Gradient susceptibility K of the records to protect, above 0; d unless given. Of several,
        `membership` is the promise to the one with the largest; see `Assessment.mixture`, and
        `susceptibility` for those of a model.
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
    history : sequence of dict, optional
        Phases on the same records that are composed with the run, each with the keys n, n_records,
        epochs, rate, steps and sigma, as above. With no sizes beside it, the last one is the run.
    group : int
        Records that one person has, 1 to 100: neighbouring sets differ in all of them.

    Returns
    -------
    Assessment

    Raises
    ------
    InputError
        A value is out of range, or no accountant exists for the sampling and adjacency.

    Examples
    --------
    >>> from membership import privacy
    >>> first = {"rate": 0.01, "steps": 500, "sigma": 1.0}
    >>> found = privacy.assess(rate=0.004, steps=1000, sigma=0.8, history=[first])
    >>> f"{found.epsilon:.3f}, AUC at most {found.differential.auc:.3f}"
    '1.741, AUC at most 0.604'
    """
    sizes = {"n": n, "n_records": n_records, "epochs": epochs, "rate": rate, "steps": steps}
    sigma, delta = checks.number("sigma", sigma), checks.number("delta", delta)
    run = run_of({**sizes, "sigma": sigma}, sampling, adjacency, group, history, d)
    each = susceptibilities(d, k)
    differential = differential_level(run)
    membership, one_sided = membership_level(run, d, max(each, default=None), differential)
    last = run.last
    return Assessment(
        steps=run.steps,
        sigma=last.sigma,
        effective_batch_size=math.nan if n is None else last.n + last.sigma**2,
        membership=membership,
        membership_one_sided=one_sided,
        differential=differential,
        epsilon=differential.curve.epsilon(delta),
        delta=delta,
        mixture=over_records(run, d, each, differential) if d and len(each) > 1 else (),
        run=run,
    )


def susceptibilities(d: float | None, k: Any) -> list[float]:
    """K of the records to protect, of which one may be given, several or none."""
    if k is None:
        return [] if d is None else [checks.number("d", d)]
    if np.ndim(k) == 0:
        return [checks.number("k", k)]
    each = as_float64("k", k, 1).tolist()
    if not 1 <= len(each) <= MOST_RECORDS:
        raise InputError(f"k: {len(each)} values; give 1 to {MOST_RECORDS}, quantiles for more")
    return [checks.number("k", one) for one in each]


def differential_level(run: Run) -> Level:
    """Level against the adversary of differential privacy."""
    each = [composed.compose(run.parts(kind)) for kind in run.kinds]
    return level_of(run.step(), run.limit(), each)


def membership_level(
    run: Run, d: float | None, k: float | None, implied: Level
) -> tuple[Level, float]:
    """Level against membership inference, and the same for a fixed null hypothesis."""
    if d is None:
        return implied, implied.mu
    steps = [own_step(phase, d, k) for phase in run.phases]
    fixed, either = (
        composed.compose(
            (Pair(kind, mu, phase.p), phase.composed)
            for mu, phase in zip(steps, run.phases, strict=True)
        )
        for kind in ("joined", "either")
    )
    limits = {
        order: math.hypot(
            *(limit_at(phase, mu, order) for phase, mu in zip(run.phases, steps, strict=True))
        )
        for order in ("fixed", "either")
    }
    own = level_of(max(steps), limits["fixed"], [fixed])
    both = better(own, either.mu(limits["either"]), limits["either"], implied)
    return both, min(own.mu, both.mu)


def own_step(phase: Phase, d: float, k: float | None) -> float:
    """The level of a phase's step against membership inference (Corollary 5.1)."""
    # With the clipping norm as unit the noise is sigma / n on each entry.
    return float(mip_mu_step(d, phase.n, d if k is None else k, phase.sigma / phase.n, 1.0))


def over_records(run: Run, d: float, each: Sequence[float], implied: Level) -> tuple[float, ...]:
    """The TPR of the best attack on records of different K together, at the rates reported."""
    parts = [
        tuple((Pair("joined", own_step(one, d, k), one.p), one.composed) for one in run.phases)
        for k in each
    ]
    found = mixture_tpr(np.array(composed.RATES), parts)
    return tuple(float(min(pair)) for pair in zip(found, implied.tpr, strict=True))
