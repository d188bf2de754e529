"""Google's dp_accounting on the same training run, to hold beside our own composition."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.errors import extra
from membership.privacy import checks, numerical
from membership.privacy.composed import RATES, grid_of
from membership.privacy.numerical import MOST_EPSILON, MOST_NUMERICAL_MU, Pair
from membership.privacy.runs import Phase, Phases, Run, run_of

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
    sigma: float = 0.0,
    sampling: str = "poisson",
    adjacency: str = "add-remove",
    delta: float = 1e-5,
    history: Phases = (),
    group: int = 1,
) -> Established | None:
    """Ask dp_accounting for the differential privacy of noisy SGD; parameters as in `assess`.

    Returns
    -------
    Established or None
        None where a single step tells all. Batches of exactly n are Rényi's alone: the privacy
        loss distributions of dp_accounting know no such sampling.
    """
    sizes = {"n": n, "n_records": n_records, "epochs": epochs, "rate": rate, "steps": steps}
    sigma, delta = checks.number("sigma", sigma), checks.number("delta", delta)
    run = run_of({**sizes, "sigma": sigma}, sampling, adjacency, group, history)
    if any(run.reach > MOST_NUMERICAL_MU * phase.sigma for phase in run.phases):
        return None
    accountant, method = _accountant(run)
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


def _accountant(run: Run) -> tuple[Any, str]:
    # Here and not above: importing it takes longer than a whole assessment.
    with extra("accounting"):
        from dp_accounting import privacy_accountant
        from dp_accounting.pld import pld_privacy_accountant
        from dp_accounting.rdp import rdp_privacy_accountant

    relation = privacy_accountant.NeighboringRelation
    is_replaced = run.adjacency == "replace-one"
    relation = relation.REPLACE_ONE if is_replaced else relation.ADD_OR_REMOVE_ONE
    if run.sampling == "fixed":
        accountant = rdp_privacy_accountant.RdpAccountant(neighboring_relation=relation)
        method = "Rényi"
    else:
        # A coarser grid where the losses are large, so that every run fits into memory.
        composed = numerical.compose(
            run.parts(run.kinds[0]), grid_of(sum(one.composed for one in run.phases))
        )
        spacing = max(_LEAST_SPACING, composed.spacing / 4)
        accountant = pld_privacy_accountant.PLDAccountant(relation, spacing)
        method = "privacy loss distributions"
    for phase in run.phases:
        accountant.compose(_step(run, phase), phase.composed)
    return accountant, method


def _step(run: Run, phase: Phase) -> Any:
    from dp_accounting import dp_event

    if run.sampling == "fixed":
        # Its noise multiplier counts from the largest move, which is 2 C.
        # The library's types want whole numbers; its formulas take any.
        return dp_event.SampledWithoutReplacementDpEvent(
            phase.n_records,  # pyrefly: ignore[bad-argument-type]
            phase.n,  # pyrefly: ignore[bad-argument-type]
            dp_event.GaussianDpEvent(phase.sigma / (2 * run.group)),
        )
    if run.sampling == "poisson" and run.group > 1:
        weights = Pair("joined", 1.0, phase.p, run.group).mixture
        drawn, moved = zip(*((weight, place) for weight, place in weights if weight), strict=True)
        return dp_event.MixtureOfGaussiansDpEvent(phase.sigma, moved, drawn)
    step = dp_event.GaussianDpEvent(phase.sigma / run.group)
    return step if run.sampling == "shuffled" else dp_event.PoissonSampledDpEvent(phase.p, step)
