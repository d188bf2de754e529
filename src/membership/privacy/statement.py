"""A promise in one line, with what a reader needs to check it."""

import math

from membership import __version__
from membership.privacy.runs import Phase, Run

DRAWN = {"poisson": "Poisson sampling", "fixed": "batches of a fixed size", "shuffled": "shuffled"}
NEIGHBOURS = {"add-remove": "added or removed", "replace-one": "replaced"}


def stated(run: Run, epsilon: float, delta: float) -> str:
    """Epsilon and delta, adjacency, sampling, accountant and its version."""
    records = "one record" if run.group == 1 else f"{run.group} records"
    phases = "; then ".join(_phase(run, phase) for phase in run.phases)
    return (
        f"({_epsilon(epsilon)}, {delta:g})-differential privacy, {records} "
        f"{NEIGHBOURS[run.adjacency]}; {DRAWN[run.sampling]}, {phases}; "
        f"{_accountant(run)} (membership {__version__})"
    )


def _epsilon(epsilon: float) -> str:
    """Three decimals, rounded up: a promise is no smaller than what was computed."""
    if math.isinf(epsilon):
        return "infinite"
    return f"{math.ceil(round(epsilon * 1e3, 6)) / 1e3:.3f}"


def _phase(run: Run, phase: Phase) -> str:
    sampled = "" if run.sampling == "shuffled" else f"rate {phase.p:.6g}, "
    return f"{sampled}{phase.steps} steps, noise multiplier {phase.sigma:.6g}"


def _accountant(run: Run) -> str:
    if all(phase.p == 1 for phase in run.phases):
        return "Gaussian differential privacy in closed form"
    return "numerical composition of privacy losses"
