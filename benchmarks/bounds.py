"""Lower bounds on epsilon and mu: how often they are above the truth, what they prove on average.

jax_privacy's are put beside where it is installed. Where nothing leaks, so is how often the AUC's
interval holds a half.
"""

import importlib
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks._mechanisms import Setting, settings
from membership import metrics, privacy
from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError

LEVEL = 0.95
MANY, RUNS, RUNS_OF_MANY = 5000, 400, 50
"""How often scores are drawn, of few records and of many: a share of 5% is then within 2.2, or
6.2, points."""
Bound = Callable[[FloatArray, BoolArray, float], float]
EPSILON, MU, HOLDS = "true epsilon", "true mu", "AUC's interval holds 0.5"


def run() -> pd.DataFrame:
    """Draw scores and bound epsilon and mu in every way; all bounds of a row see the same scores.

    Returns
    -------
    pandas.DataFrame
        One row a setting: scores, records, runs, then the true epsilon, its bounds, the true mu and
        its bounds, each bound with its mean and, in brackets, the share of runs where it is above
        the truth; last, where nothing leaks, how often the AUC's interval holds a half.
    """
    return pd.DataFrame([_row(setting) for setting in tqdm(settings())])


def _row(setting: Setting) -> dict[str, object]:
    runs = RUNS_OF_MANY if setting.trials > MANY else RUNS
    drawn = [setting.drawn(seed) for seed in range(runs)]

    def told(bound: Bound, truth: float) -> str:
        found = np.array([_proved(bound, *one, setting.delta) for one in drawn])
        refused = np.isnan(found)
        if refused.all():
            return "refused"
        # What fails, or is refused, proves nothing.
        found = np.where(refused, 0.0, found)
        return f"{found.mean():.2f} ({(found > truth + 1e-9).mean():.0%})"

    return {
        "scores": setting.name,
        "records": setting.records,
        "runs": runs,
        EPSILON: f"{setting.epsilon:.2f}",
        **{name: told(bound, setting.epsilon) for name, bound in epsilon_bounds().items()},
        MU: f"{setting.mu:.2f}",
        **{name: told(bound, setting.mu) for name, bound in mu_bounds().items()},
        HOLDS: "" if setting.mu else f"{np.mean([_holds(*one) for one in drawn]):.0%}",
    }


def epsilon_bounds() -> dict[str, Bound]:
    """Every bound on epsilon by its name."""
    ours: dict[str, Bound] = {
        "epsilon, independent trials": _at(privacy.epsilon_lower_bound),
        "epsilon, one run": _at(privacy.one_run_epsilon),
    }
    return ours | _peers()


def mu_bounds() -> dict[str, Bound]:
    """Every bound on mu by its name; none asks for a delta."""
    return {
        "mu, independent trials": lambda score, member, _: privacy.mu_lower_bound(
            score, member, level=LEVEL
        ),
        "mu, one run": lambda score, member, _: privacy.one_run_mu(score, member, level=LEVEL),
    }


def _at(bound: Callable[..., float]) -> Bound:
    return lambda score, member, delta: bound(score, member, delta=delta, level=LEVEL)


def _proved(bound: Bound, score: FloatArray, member: BoolArray, delta: float) -> float:
    """What a bound proves: nan where it refuses coins for being so uneven, or fails."""
    try:
        return float(bound(score, member, delta))
    except InputError:
        return np.nan


def _holds(score: FloatArray, member: BoolArray) -> bool:
    low, high = metrics.auc_interval(score, member, LEVEL)
    return low <= 0.5 <= high


def _peers() -> dict[str, Bound]:
    """jax_privacy's bounds as it chooses thresholds unless told otherwise; none without it.

    That of f-DP, which takes some five times as long as all others together, is left out.
    """
    try:
        peer = importlib.import_module("jax_privacy.auditing")
    except ImportError:
        return {}

    def bound(method: str, score: FloatArray, member: BoolArray, delta: float) -> float:
        auditor = peer.CanaryScoreAuditor(score[member], score[~member])
        try:
            return getattr(auditor, method)(1 - LEVEL, delta)
        except ValueError as error:  # Its search may leave what float64 can tell apart.
            raise InputError(str(error)) from error

    named = {
        "Clopper-Pearson": "epsilon_clopper_pearson",
        "Gaussian": "epsilon_from_gdp",
        "one run": "epsilon_one_run",
    }
    return {f"jax_privacy: {name}": partial(bound, method) for name, method in named.items()}
