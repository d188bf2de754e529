"""Lower bounds on epsilon: how often they are above the truth and what they prove on average.

jax_privacy's are put beside where it is installed. Canaries of a Gaussian mechanism suit every
bound: each is included by its own fair coin, and their scores are independent.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from membership import privacy
from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError

DELTA, LEVEL = 1e-5, 0.95
MUS = (0.0, 0.5, 1.0, 2.0)
RUNS = {200: 400, 1000: 400, 10_000: 100}
"""How often each number of canaries is drawn: a share of 5% is within 2.2, or 4.4, points."""
Bound = Callable[[FloatArray, BoolArray], float]


def run() -> pd.DataFrame:
    """Draw canaries and bound epsilon in every way; all bounds of one mu see the same canaries.

    Returns
    -------
    pandas.DataFrame
        One row a bound and number of canaries: bound, canaries, runs, then a column for each mu
        with the mean bound and the share of runs where it is above the truth, the first row.
    """
    drawn = {
        (n, mu): np.array([_bounds_of(n, mu, seed) for seed in tqdm(range(runs), f"{n} {mu:g}")])
        for n, runs in RUNS.items()
        for mu in MUS
    }
    truth = {mu: privacy.gaussian_epsilon(mu, DELTA) if mu else 0.0 for mu in MUS}
    head: dict[str, Any] = {"bound": "true epsilon", "canaries": None, "runs": None}
    rows: list[dict[str, Any]] = [head | {f"mu = {mu:g}": f"{truth[mu]:.2f}" for mu in MUS}]
    for place, name in enumerate(bounds()):
        for n, runs in RUNS.items():
            cells = {mu: drawn[n, mu][:, place] for mu in MUS}
            told = {
                f"mu = {mu:g}": f"{found.mean():.2f}, {(found > truth[mu]).mean():.0%} above"
                for mu, found in cells.items()
            }
            rows.append({"bound": name, "canaries": n, "runs": runs} | told)
    return pd.DataFrame(rows)


def canaries(n: int, mu: float, seed: int) -> tuple[FloatArray, BoolArray]:
    """Each coin as a Gaussian mechanism of a mu releases it, and how the coins fell."""
    rng = np.random.default_rng([n, round(100 * mu), seed])
    member = rng.random(n) < 0.5
    return rng.normal(size=n) + mu * member, member


def bounds() -> dict[str, Bound]:
    """Every bound on epsilon by its name; those on mu tell which epsilon it means."""
    ours: dict[str, Bound] = {
        "epsilon, independent trials": partial(
            privacy.epsilon_lower_bound, delta=DELTA, level=LEVEL
        ),
        "mu, independent trials": _of_mu(privacy.mu_lower_bound),
        "epsilon, one run": partial(privacy.one_run_epsilon, delta=DELTA, level=LEVEL),
        "mu, one run": _of_mu(privacy.one_run_mu),
    }
    return ours | _peers()


def _bounds_of(n: int, mu: float, seed: int) -> list[float]:
    score, member = canaries(n, mu, seed)
    return [_proved(bound, score, member) for bound in bounds().values()]


def _proved(bound: Bound, score: FloatArray, member: BoolArray) -> float:
    """What a bound proves: nothing where it refuses coins for being so uneven."""
    try:
        return float(bound(score, member))
    except InputError:
        return 0.0


def _of_mu(bound: Callable[..., float]) -> Bound:
    return lambda score, member: privacy.gaussian_epsilon(bound(score, member, level=LEVEL), DELTA)


def _peers() -> dict[str, Bound]:
    """jax_privacy's bounds as it chooses thresholds unless told otherwise; none without it."""
    try:
        peer = importlib.import_module("jax_privacy.auditing")
    except ImportError:
        return {}

    def of(method: str) -> Bound:
        def bound(score: FloatArray, member: BoolArray) -> float:
            auditor = peer.CanaryScoreAuditor(score[member], score[~member])
            return getattr(auditor, method)(1 - LEVEL, DELTA)

        return bound

    named = {
        "Clopper-Pearson": "epsilon_clopper_pearson",
        "Gaussian": "epsilon_from_gdp",
        "one run": "epsilon_one_run",
        "one run, f-DP": "epsilon_one_run_fdp",
    }
    return {f"jax_privacy: {name}": of(method) for name, method in named.items()}
