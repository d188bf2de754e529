"""What a training run promises, from its sizes alone."""

import math
from dataclasses import dataclass

from membership.privacy import checks
from membership.privacy.levels import gdp_mu_step, mip_mu_step, subsampled_mu
from membership.privacy.tradeoff import effective_batch_size


@dataclass(frozen=True)
class Assessment:
    """Privacy levels of one training run.

    Attributes
    ----------
    steps : int
        T, batches in all epochs, a last smaller one included.
    effective_batch_size : float
        n_e of Theorem 5.1.
    mip_step, gdp_step : float
        Levels of one step: membership inference (Corollary 5.1) and differential privacy.
    mip_by_theorem : float
        All steps, Equation 10 over `mip_step`.
    gdp : float
        All steps, Equation 10 over `gdp_step`; infinite without noise.
    mip : float
        The smaller of the two, since differential privacy implies the other (Theorem 4.2).
    mip_one_sided : float
        All steps, the smaller level of one step with the limit for a fixed null hypothesis; no
        part of the paper.

    Notes
    -----
    The levels of all steps are limits for many steps, at the susceptibility given, and no bounds.
    `numerical_tradeoff` does without the limit.
    """

    steps: int
    effective_batch_size: float
    mip_step: float
    gdp_step: float
    mip_by_theorem: float
    gdp: float
    mip: float
    mip_one_sided: float


def assess(
    n: float,
    n_records: float,
    epochs: float,
    d: float,
    k: float | None = None,
    clip: float | None = None,
    tau: float = 0.0,
) -> Assessment:
    """Assess noisy SGD.

    Parameters
    ----------
    n, n_records : float
        Batch size, 2 or more, and size of the training set N, at least n.
    epochs : float
        Passes over the training set, above 0.
    d : float
        Rank of the gradients' covariance, 1 or more; at most the number of parameters.
    k : float, optional
        Gradient susceptibility K of the records to protect, above 0; d unless given.
    clip : float, optional
        C, the largest norm of a gradient; needed with noise.
    tau : float
        Standard deviation of the noise on each entry of the mean gradient.

    Raises
    ------
    InputError
        A value is out of range, or `clip` is missing with noise.
    """
    n, n_records = checks.batch(n), checks.records(n_records, checks.batch(n))
    epochs = checks.epochs(epochs)
    k = d if k is None else k
    steps = math.ceil(n_records * epochs / n)
    mip_step = mip_mu_step(d, n, k, tau, clip)
    gdp_step = gdp_mu_step(n, tau, clip) if tau else math.inf
    by_theorem = subsampled_mu(mip_step, n, n_records, steps)
    gdp = subsampled_mu(gdp_step, n, n_records, steps)
    return Assessment(
        steps=steps,
        effective_batch_size=effective_batch_size(n, tau, clip),
        mip_step=mip_step,
        gdp_step=gdp_step,
        mip_by_theorem=by_theorem,
        gdp=gdp,
        mip=min(by_theorem, gdp),
        mip_one_sided=subsampled_mu(min(mip_step, gdp_step), n, n_records, steps, order="fixed"),
    )
