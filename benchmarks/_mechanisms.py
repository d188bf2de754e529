"""Mechanisms that release a score a record, with the epsilon and mu that they have.

A fair coin decides on each record, and scores are independent, where a setting says nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from membership import privacy
from membership.arrays import BoolArray, FloatArray

DELTA = 1e-5
VISITS = 10
MUS = (0.0, 0.5, 1.0, 2.0)
CELLS = 200_000
"""Steps of a law that has a density, too small to see."""
Draw = Callable[[np.random.Generator, BoolArray], FloatArray]
Law = tuple[FloatArray, FloatArray]
"""The chances of the scores of a member, and of another record."""


@dataclass(frozen=True)
class Setting:
    """Scores of so many records as a mechanism draws them, and the levels that it has."""

    name: str
    records: int
    draw: Draw
    epsilon: float
    """The least at `delta`."""
    mu: float
    delta: float = DELTA
    share: float = 0.5
    """The chance of each record to be a member."""
    whole: bool = False
    """Records of a person are in or out whole."""
    by_unit: bool = False
    """And judged by the mean of a person's scores."""

    def drawn(self, seed: int) -> tuple[FloatArray, BoolArray]:
        rng = np.random.default_rng([self.records, seed])
        if not self.whole:
            member = rng.random(self.records) < self.share
            return self.draw(rng, member), member
        person = rng.random(self.records // VISITS) < self.share
        member = np.repeat(person, VISITS)
        score = self.draw(rng, member)
        return (score.reshape(-1, VISITS).mean(axis=1), person) if self.by_unit else (score, member)

    @property
    def trials(self) -> int:
        return self.records // VISITS if self.by_unit else self.records


def settings() -> list[Setting]:
    """In the order of the table: Gaussian, uneven, of few values, of one side, persons."""
    known = [_gaussian(mu, n) for mu in MUS for n in (200, 1000, 10_000)]
    small = [_gaussian(mu, 60) for mu in (1.0, 3.0)]
    strict = _gaussian(2.0, 2000, ", delta 1e-6", delta=1e-6)
    uneven = [
        _gaussian(mu, 2100, f", {told}", share=share)
        for mu, told, share in (
            (1.0, "a member in 21", 1 / 21),
            (2.0, "a member in 21", 1 / 21),
            (1.0, "another in 21", 20 / 21),
        )
    ]
    sums = [
        _gaussian(mu, 1000, f", one noisy sum of {d} numbers", partial(noisy_sum, mu, d))
        for d, mu in ((2, 1.0), (500, 1.0), (5000, 4.0))
    ]
    return [*known, *small, strict, *uneven, *sums, *_of_laws(), *_of_one_side(), *_of_persons()]


def true_epsilon(law: Law, delta: float) -> float:
    """The least epsilon at delta of a pair of laws, each told from the other."""

    def spent(epsilon: float) -> float:
        sides = (law, law[::-1])
        return max(float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) for p, q in sides)

    low, high, enough = 0.0, 60.0, delta * (1 + 1e-12)
    if spent(low) <= enough:
        return 0.0
    if spent(high) > enough:
        return np.inf
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if spent(middle) > enough else (low, middle)
    return high


def true_mu(law: Law) -> float:
    """The least mu of a pair of laws of few values: a convex curve lies below all of its chords.

    So the corners decide, each a rate of members and of others whose scores are told to be in.
    """
    member, other = law
    with np.errstate(divide="ignore"):
        likely = np.argsort(-member / other, kind="stable")
    found, wrong = (np.cumsum(side[likely])[:-1] for side in law)
    return max(0.0, float((stats.norm.ppf(found) - stats.norm.ppf(wrong)).max()))


def gaussian(mu: float, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """Each coin as a Gaussian mechanism of a mu releases it."""
    return rng.normal(size=member.size) + mu * member


def noisy_sum(mu: float, d: int, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """The sum of the members' vectors, each of length 1, with noise; a record's part in it."""
    vector = rng.normal(size=(member.size, d))
    vector /= np.linalg.norm(vector, axis=1, keepdims=True)
    return vector @ (member @ vector + rng.normal(size=d) / mu)


def of_values(law: Law, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """Scores of few values, by the chances of each."""
    cut = [np.cumsum(side)[:-1] for side in law]
    u = rng.random(member.size)
    return np.where(member, np.searchsorted(cut[0], u), np.searchsorted(cut[1], u)).astype(float)


def shifted(law: stats.rv_continuous, by: float, rng: np.random.Generator, member: BoolArray):
    """Noise of a law, and a member's score so much higher."""
    return law.rvs(size=member.size, random_state=rng) + by * member


def seldom(mu: float, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """A tenth of the members is seen by a Gaussian mechanism, the others not at all."""
    return gaussian(mu, rng, member & (rng.random(member.size) < 0.1))


def half_tied(mu: float, rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """A half of all records has the score 0, whoever is a member; the others a Gaussian one."""
    return np.where(rng.random(member.size) < 0.5, 0.0, gaussian(mu, rng, member))


def of_person(rng: np.random.Generator, member: BoolArray) -> FloatArray:
    """No leak at all: scores of a person are alike, with a correlation of a half."""
    person = np.repeat(rng.normal(size=member.size // VISITS), VISITS)
    return person + rng.normal(size=member.size)


def _gaussian(
    mu: float, records: int, told: str = "", draw: Draw | None = None, delta: float = DELTA, **more
) -> Setting:
    """What a Gaussian mechanism of a mu releases."""
    epsilon = privacy.gaussian_epsilon(mu, delta) if mu else 0.0
    drawn = draw or partial(gaussian, mu)
    return Setting(f"Gaussian, mu {mu:g}{told}", records, drawn, epsilon, mu, delta, **more)


def _of_laws() -> list[Setting]:
    """Mechanisms whose laws are known: noise of other kinds, and few values, which tie."""
    none = np.array([0.95, 0.05])
    few: list[tuple[str, Law, float]] = [
        ("randomised response, 1", _response(1.0), DELTA),
        ("randomised response, 3", _response(3.0), DELTA),
        ("five values, mu 1", _rounded(1.0), DELTA),
        ("five values, mu 2", _rounded(2.0), DELTA),
        ("two values, 5% and .5%", (none, np.array([0.995, 0.005])), DELTA),
        ("two values, no leak", (none, none), DELTA),
        ("told with 1%, else response, 1, delta .01", _told(0.01, _response(1.0)), 0.01),
        ("told with 2%, delta .02", _told(0.02, (np.ones(1), np.ones(1))), 0.02),
        ("told with 2%", _told(0.02, (np.ones(1), np.ones(1))), DELTA),
    ]
    drawn = [
        Setting(name, 1000, partial(of_values, law), true_epsilon(law, at), true_mu(law), at)
        for name, law, at in few
    ]
    for name, noise, by in (
        ("Laplace, 1", stats.laplace, 1.0),
        ("Laplace, 3", stats.laplace, 3.0),
        ("Cauchy, 2 apart", stats.cauchy, 2.0),
    ):
        law = _fine(noise, by)
        draw = partial(shifted, noise, by)
        drawn.append(Setting(name, 1000, draw, true_epsilon(law, DELTA), true_mu(law)))
    return drawn


def _of_one_side() -> list[Setting]:
    """Leaks that only a high score shows, or some of the records; in the tail all of mu is left."""
    tenth = partial(seldom, 3.0)
    epsilon = true_epsilon(_tenth(3.0), DELTA)
    half = privacy.gaussian_epsilon(2.0, 2 * DELTA)
    return [
        *(Setting("a tenth of mu 3", n, tenth, epsilon, 3.0) for n in (1000, 20_000)),
        Setting("mu 2, half of the scores tie", 1000, partial(half_tied, 2.0), half, 2.0),
        Setting("nine tenths tie, no leak", 1000, _atom, 0.0, 0.0),
    ]


def _of_persons() -> list[Setting]:
    shared = partial(Setting, records=1000, draw=of_person, epsilon=0.0, mu=0.0)
    return [
        shared("ten visits a person, no leak, a coin each"),
        shared("ten visits a person in or out, no leak, by record", whole=True),
        shared("the same by unit", whole=True, by_unit=True),
    ]


def _atom(rng: np.random.Generator, member: BoolArray) -> FloatArray:
    return np.where(rng.random(member.size) < 0.9, 0.0, rng.normal(size=member.size))


def _response(epsilon: float) -> Law:
    right = 1 / (1 + np.exp(-epsilon))
    return np.array([1 - right, right]), np.array([right, 1 - right])


def _rounded(mu: float) -> Law:
    """A Gaussian mechanism's score, of which five values are left."""
    edges = np.array([-np.inf, -0.5, 0.5, 1.5, 2.5, np.inf])
    member, other = (np.diff(stats.norm.cdf(edges - shift)) for shift in (mu, 0.0))
    return member, other


def _told(chance: float, law: Law) -> Law:
    """Membership itself with so much of a chance; between those two values another mechanism."""
    member, other = ((1 - chance) * side for side in law)
    return np.r_[0.0, member, chance], np.r_[chance, other, 0.0]


def _fine(noise: stats.rv_continuous, by: float) -> Law:
    """Noise and the same shifted, in cells in which the noise falls equally often."""
    edges = noise.ppf(np.linspace(0, 1, CELLS + 1))
    return np.diff(noise.cdf(edges - by)), np.full(CELLS, 1 / CELLS)


def _tenth(mu: float) -> Law:
    """A tenth of a Gaussian mechanism."""
    edges = np.linspace(-9, 9 + mu, CELLS)
    out, moved = (np.diff(stats.norm.cdf(edges - shift)) for shift in (0.0, mu))
    return 0.9 * out + 0.1 * moved, out
