"""Lower bounds on epsilon: how often they are above the truth and what they prove on average.

jax_privacy's are put beside where it is installed. Each record is in by its own fair coin, and
scores are independent, but for the last rows: there the records of a person are in or out whole.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats
from tqdm import tqdm

from membership import privacy
from membership.arrays import BoolArray, FloatArray
from membership.errors import InputError

DELTA, LEVEL = 1e-5, 0.95
RUNS = {100: 400, 200: 400, 1000: 400, 10_000: 50}
"""How often so many trials are drawn: a share of 5% is within 2.2, or 6.2, points."""
VISITS = 10
Bound = Callable[[FloatArray, BoolArray], float]
Draw = Callable[[np.random.Generator, BoolArray], FloatArray]
Law = tuple[FloatArray, FloatArray]
"""The chances of the scores of a member, and of another record."""


@dataclass(frozen=True)
class Setting:
    """Scores of so many records as a mechanism draws them, and the epsilon that it has."""

    name: str
    records: int
    truth: float
    draw: Draw
    persons: bool = False
    """Records of a person are in or out whole."""
    by_unit: bool = False
    """And judged by the mean of a person's scores."""

    def drawn(self, seed: int) -> tuple[FloatArray, BoolArray]:
        rng = np.random.default_rng([self.records, seed])
        if not self.persons:
            member = rng.random(self.records) < 0.5
            return self.draw(rng, member), member
        person = rng.random(self.records // VISITS) < 0.5
        member = np.repeat(person, VISITS)
        score = self.draw(rng, member)
        return (score.reshape(-1, VISITS).mean(axis=1), person) if self.by_unit else (score, member)

    @property
    def trials(self) -> int:
        return self.records // VISITS if self.by_unit else self.records


def gaussian(mu: float, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """Each coin as a Gaussian mechanism of a mu releases it."""
    return rng.normal(size=member.size) + mu * member


def of_values(law: Law, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """Scores of few values, by the chances of each."""
    cut = [np.cumsum(side)[:-1] for side in law]
    u = rng.random(member.size)
    return np.where(member, np.searchsorted(cut[0], u), np.searchsorted(cut[1], u)).astype(float)


def seldom(mu: float, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """A tenth of the members is seen by a Gaussian mechanism, the others not at all."""
    return gaussian(mu, rng, member & (rng.random(member.size) < 0.1))


def of_person(rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """No leak at all: scores of a person are alike, with a correlation of a half."""
    person = np.repeat(rng.normal(size=member.size // VISITS), VISITS)
    return person + rng.normal(size=member.size)


def settings() -> list[Setting]:
    """In the order of the table."""
    known = [
        Setting(f"Gaussian, mu {mu:g}", n, _of_gaussian(mu), partial(gaussian, mu))
        for mu in (0.0, 0.5, 1.0, 2.0)
        for n in (200, 1000, 10_000)
    ]
    laws = {
        "randomised response, 1": _response(1.0),
        "randomised response, 3": _response(3.0),
        "five values, mu 1": _rounded(1.0),
        "two values, 5% and .5%": (np.array([0.95, 0.05]), np.array([0.995, 0.005])),
        "two values, no leak": (np.array([0.95, 0.05]),) * 2,
    }
    few = [
        Setting(name, 1000, true_epsilon(*law), partial(of_values, law))
        for name, law in laws.items()
    ]
    side = Setting("a tenth of mu 3", 1000, true_epsilon(*_fine(3.0)), partial(seldom, 3.0))
    persons = [
        Setting("ten visits a person, no leak, by record", 1000, 0.0, of_person, persons=True),
        Setting("the same by unit", 1000, 0.0, of_person, persons=True, by_unit=True),
    ]
    return [*known, *few, side, *persons]


def run() -> pd.DataFrame:
    """Draw scores and bound epsilon in every way; all bounds of a row see the same scores.

    Returns
    -------
    pandas.DataFrame
        One row a setting: setting, records, runs, true epsilon, then a column for each bound with
        its mean and, in brackets, the share of runs where it is above the truth.
    """
    rows = []
    for setting in settings():
        runs = RUNS[setting.trials]
        drawn = (setting.drawn(seed) for seed in tqdm(range(runs), setting.name))
        found = np.array([[_proved(bound, *one) for bound in bounds().values()] for one in drawn])
        above = found > setting.truth + 1e-9
        told = {
            name: f"{found[:, i].mean():.2f} ({above[:, i].mean():.0%})"
            for i, name in enumerate(bounds())
        }
        head = {"scores": setting.name, "records": setting.records, "runs": runs}
        rows.append(head | {"true epsilon": f"{setting.truth:.2f}"} | told)
    return pd.DataFrame(rows)


def true_epsilon(member: FloatArray, other: FloatArray) -> float:
    """The least epsilon at delta of a pair of laws, each told from the other."""

    def spent(epsilon: float) -> float:
        sides = ((member, other), (other, member))
        return max(float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) for p, q in sides)

    low, high = 0.0, 60.0
    if spent(low) <= DELTA:
        return 0.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > DELTA else (low, middle)
    return high


def _of_gaussian(mu: float) -> float:
    return privacy.gaussian_epsilon(mu, DELTA) if mu else 0.0


def _response(epsilon: float) -> Law:
    right = 1 / (1 + np.exp(-epsilon))
    return np.array([1 - right, right]), np.array([right, 1 - right])


def _rounded(mu: float) -> Law:
    """A Gaussian mechanism's score, of which five values are left."""
    edges = np.array([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf])
    member, other = (np.diff(stats.norm.cdf(edges - shift)) for shift in (mu, 0.0))
    return member, other


def _fine(mu: float) -> Law:
    """A tenth of a Gaussian mechanism, in steps too small to see."""
    edges = np.linspace(-9, 9 + mu, 200_000)
    out, shifted = (np.diff(stats.norm.cdf(edges - shift)) for shift in (0.0, mu))
    return 0.9 * out + 0.1 * shifted, out


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


def _proved(bound: Bound, score: FloatArray, member: BoolArray) -> float:
    """What a bound proves: nothing where it refuses coins for being so uneven, or fails."""
    try:
        return float(bound(score, member))
    except InputError:
        return 0.0


def _of_mu(bound: Callable[..., float]) -> Bound:
    return lambda score, member: privacy.gaussian_epsilon(bound(score, member, level=LEVEL), DELTA)


def _peers() -> dict[str, Bound]:
    """jax_privacy's bounds as it chooses thresholds unless told otherwise; none without it.

    That of f-DP, which takes some five times as long as all others together, is left out.
    """
    try:
        peer = importlib.import_module("jax_privacy.auditing")
    except ImportError:
        return {}

    def of(method: str) -> Bound:
        def bound(score: FloatArray, member: BoolArray) -> float:
            auditor = peer.CanaryScoreAuditor(score[member], score[~member])
            try:
                return getattr(auditor, method)(1 - LEVEL, DELTA)
            except ValueError as error:  # Its search may leave what float64 can tell apart.
                raise InputError(str(error)) from error

        return bound

    named = {
        "Clopper-Pearson": "epsilon_clopper_pearson",
        "Gaussian": "epsilon_from_gdp",
        "one run": "epsilon_one_run",
    }
    return {f"jax_privacy: {name}": of(method) for name, method in named.items()}
