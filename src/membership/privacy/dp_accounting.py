"""Google's dp_accounting on the same training run, to hold beside our own composition."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.errors import extra
from membership.privacy import checks, numerical
from membership.privacy.assessment import Schedule, schedule
from membership.privacy.composed import RATES, grid_of
from membership.privacy.numerical import MOST_EPSILON, MOST_NUMERICAL_MU

_LEAST_SPACING = 1e-4
_EPSILONS = 400


@dataclass(frozen=True)
class Established:
    """What dp_accounting promises.

    Attributes
    ----------
    method : str
        "privacy loss distributions", or "Rényi", whose bounds are looser.
    epsilon : float
        At the given delta.
    tpr : tuple of float
        The TPR that no attack exceeds at FPR 0.1%, 1% and 10%, by the delta of every epsilon.
    """

    method: str
    epsilon: float
    tpr: tuple[float, ...]


def established(
    n: float | None = None,
    n_records: float | None = None,
    epochs: float | None = None,
    *,
    rate: float | None = None,
    steps: float | None = None,
    sigma: float,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
) -> Established | None:
    """Ask dp_accounting for the differential privacy of noisy SGD; parameters as in `assess`.

    Returns
    -------
    Established or None
        None where a single step tells all. Batches of exactly n are Rényi's alone: the privacy
        loss distributions of dp_accounting know no such sampling.
    """
    run = schedule(n, n_records, epochs, sampling, adjacency, rate, steps)
    sigma, delta = checks.number("sigma", sigma), checks.number("delta", delta)
    if not sigma or run.reach / sigma > MOST_NUMERICAL_MU:
        return None
    accountant, method = _accountant(run, sigma)
    epsilon = min(float(accountant.get_epsilon(delta)), math.inf)
    # Where delta is past counting, so is every rate.
    most = min(float(accountant.get_epsilon(1e-9)), MOST_EPSILON)
    epsilons = np.linspace(0.0, most, _EPSILONS)
    deltas = np.array([accountant.get_delta(tried) for tried in epsilons])
    rates = np.array(RATES)[:, None]
    bounds = np.minimum(
        np.exp(epsilons) * rates + deltas, 1 - np.exp(-epsilons) * (1 - deltas - rates)
    )
    return Established(method, epsilon, tuple(float(b) for b in np.minimum(bounds, 1).min(axis=1)))


def _accountant(run: Schedule, sigma: float) -> tuple[Any, str]:
    # Here and not above: importing it takes longer than a whole assessment.
    with extra("accounting"):
        from dp_accounting import dp_event, privacy_accountant
        from dp_accounting.pld import pld_privacy_accountant
        from dp_accounting.rdp import rdp_privacy_accountant

    is_replaced = run.adjacency == "replace-one"
    relation = privacy_accountant.NeighboringRelation
    relation = relation.REPLACE_ONE if is_replaced else relation.ADD_OR_REMOVE_ONE
    step = dp_event.GaussianDpEvent(sigma)
    if run.sampling == "fixed":
        # Its noise multiplier counts from the largest move, which is 2 C.
        # The library's types want whole numbers; its formulas take any.
        step = dp_event.SampledWithoutReplacementDpEvent(
            run.n_records,  # pyrefly: ignore[bad-argument-type]
            run.n,  # pyrefly: ignore[bad-argument-type]
            dp_event.GaussianDpEvent(sigma / 2),
        )
        accountant = rdp_privacy_accountant.RdpAccountant(neighboring_relation=relation)
        return accountant.compose(step, run.composed), "Rényi"
    if run.sampling == "poisson":
        step = dp_event.PoissonSampledDpEvent(run.p, step)
    # A coarser grid where the losses are large, so that every run fits into memory.
    grid = grid_of(run.composed)
    spacing = numerical.compose(run.pairs(sigma)[0], run.composed, grid).spacing
    accountant = pld_privacy_accountant.PLDAccountant(relation, max(_LEAST_SPACING, spacing / 4))
    return accountant.compose(step, run.composed), "privacy loss distributions"
