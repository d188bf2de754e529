"""Small games in which everything can be summed: Theorem 2, the two properties and Equation 51.

A game has n records, each of a few kinds with known chances and a member with probability lambda,
and a model that is one of a few. Training follows Equation 2: the chance of a model falls off
exponentially with the members' summed loss, at temperature T. The losses are drawn at random.

Equations 49 to 51 say what is left out where one Hessian stands for two. Two normal laws stand for
the parameters without and with a record, of precisions H_0 and H_1; the approximation takes
H = H_0 for both, as the paper does. That it "holds up to" a quantity may mean the exact log-ratio
less the approximate one, or the reverse: both are tried.
"""

import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit, logsumexp
from scipy.stats import multivariate_normal

from membership import metrics
from membership.arrays import FloatArray
from membership.book.exhibits.sentences import each
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal.settings import Settings

DIMENSIONS = 4
N_OTHERS, N_KINDS, N_MODELS = 3, 3, 6
ERROR, EXCESS = "largest error", "largest excess"
CORRECTED = "as corrected below"
PRINTED = {
    "as printed, exact less approximate": True,
    "as printed, approximate less exact": False,
}
POSTERIOR, PRIOR = "others given theta and z", "others by their prior"
VACUOUS = ", a bound above 1"
GAMES, GAMES_A_CASE = 100, 20
RATES, EPSILONS = (0.1, 0.5, 0.9), (0.01, 0.1, 1.0, 4.0)


class Game(NamedTuple):
    """What the adversary knows of a game: losses (models, kinds), chances of kinds, lambda, T."""

    loss: FloatArray
    chance: FloatArray
    rate: float
    temperature: float


class Answer(NamedTuple):
    """Each array has one entry a model and kind of the queried record, (models, kinds).

    ``exact`` is P(m_1 = 1 | theta, z_1) by Bayes' rule; ``theorem`` is Equation 13 averaged over
    the others given theta and z_1, ``prior`` averaged over their prior.
    """

    exact: FloatArray
    theorem: FloatArray
    prior: FloatArray


def statements(settings: Settings) -> pd.DataFrame:
    """Theorem 2, Properties 1 and 2 and Equation 51 in random games, each side computed exactly."""
    rng = np.random.default_rng(settings.seed)
    games = [random_game(rng, rng.choice(RATES)) for _ in range(GAMES)]
    solved = [solve(game) for game in games]
    rows = [
        ("Theorem 2", POSTERIOR, ERROR, max(abs(a.theorem - a.exact).max() for a in solved)),
        ("Theorem 2", PRIOR, ERROR, max(abs(a.prior - a.exact).max() for a in solved)),
    ]
    for rate, epsilon in itertools.product(RATES, EPSILONS):
        private = [solve(private_game(rng, rate, epsilon)) for _ in range(GAMES_A_CASE)]
        excess = max(a.exact.max() for a in private) - (rate + epsilon / 4)
        vacuous = VACUOUS if rate + epsilon / 4 >= 1 else ""
        case = f"lambda = {rate}, epsilon = {epsilon:g}{vacuous}"
        rows.append(("Property 1", case, EXCESS, excess))
    for case, prior in ((POSTERIOR, False), (PRIOR, True)):
        excess = max(property_2_excess(game, prior=prior) for game in games[:GAMES_A_CASE])
        rows.append(("Property 2", case, EXCESS, excess))
    laws = [random_laws(rng) for _ in range(GAMES)]
    sums: dict[str, Callable[[Laws], float]] = {CORRECTED: corrected}
    for case, way in PRINTED.items():
        sums[case] = functools.partial(printed, exact_less_approximate=way)
    for case, function in sums.items():
        error = max(abs(function(laws_of) - log_ratio(laws_of)) for laws_of in laws)
        rows.append(("Equations 50 and 51", case, ERROR, error))
    return tidy(
        [
            {"statement": statement, "case": case, "metric": metric} | metrics.exactly(float(value))
            for statement, case, metric, value in rows
        ],
        {"sizes": {"Games": str(GAMES), "Games a case of a property": str(GAMES_A_CASE)}},
    )


def statements_said(table: pd.DataFrame) -> str:
    """The worst case of each statement."""
    bounds = table[table["metric"] == EXCESS]["value"].max()
    holds = "holds in every game" if bounds <= 0 else f"is exceeded by {bounds:.2g}"
    return each(
        table,
        (),
        "Averaged over the other records given the parameters, Theorem 2 is exact up to rounding; "
        f"over their prior it is off by up to {{prior:.2f}}. Each bound {holds}.",
        prior={"statement": "Theorem 2", "case": PRIOR},
    )


def random_game(rng: np.random.Generator, rate: float = 0.5) -> Game:
    """A game with losses in (0, 3) and a temperature between a quarter and four."""
    loss = 3 * rng.random((N_MODELS, N_KINDS))
    return Game(loss, rng.dirichlet(np.ones(N_KINDS)), rate, float(4 ** rng.uniform(-1, 1)))


def private_game(rng: np.random.Generator, rate: float, epsilon: float) -> Game:
    """The exponential mechanism: with losses in (0, 1) and T = 2 / epsilon, epsilon-DP."""
    loss = rng.random((N_MODELS, N_KINDS))
    return Game(loss, rng.dirichlet(np.ones(N_KINDS)), rate, 2 / epsilon)


def solve(game: Game) -> Answer:
    """The probability of membership for every model and record, by brute force and by Theorem 2."""
    chance, log_out, log_in = _others(game)
    weight_in = game.rate * np.einsum("o,omk->mk", chance, np.exp(log_in))
    weight_out = (1 - game.rate) * np.einsum("o,om->m", chance, np.exp(log_out))[:, None]
    attack = expit(_score(game, log_out) + logit(game.rate))
    law = _given(game, chance, log_out, log_in)
    return Answer(
        weight_in / (weight_in + weight_out),
        np.einsum("omk,omk->mk", law, attack),
        np.einsum("o,omk->mk", chance, attack),
    )


def property_2_excess(game: Game, *, prior: bool = False) -> float:
    """The most by which P(m_1 = 1) exceeds lambda + epsilon / 4T + delta, over all epsilon."""
    chance, log_out, log_in = _others(game)
    typical = np.exp(log_out) @ game.loss  # (others, kinds)
    gap = typical[:, None, :] - game.loss[None]
    law = _given(game, chance, log_out, log_in)
    if prior:
        law = np.broadcast_to(chance[:, None, None], gap.shape)
    epsilon = np.maximum(gap, 0)
    beyond = np.einsum("omk,eomk->emk", law, gap[None] > epsilon[:, None] + 1e-12)
    bound = game.rate + epsilon / (4 * game.temperature) + beyond
    return float((solve(game).exact[None] - bound).max())


def _others(game: Game) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The chance of each state of the others, and log P(theta) without and with the record."""
    states = list(itertools.product(range(N_KINDS + 1), repeat=N_OTHERS))
    # Kind 0 stands for a record that is no member, whatever it is.
    marginal = np.concatenate([[1 - game.rate], game.rate * game.chance])
    chance = np.array([np.prod(marginal[list(state)]) for state in states])
    loss = np.concatenate([np.zeros((N_MODELS, 1)), game.loss], axis=1)
    total = np.array([loss[:, list(state)].sum(axis=1) for state in states])
    with_record = total[:, :, None] + game.loss[None]
    return chance, _log_law(total, game), _log_law(with_record, game)


def _log_law(total: FloatArray, game: Game) -> FloatArray:
    energy = -total / game.temperature
    return energy - logsumexp(energy, axis=1, keepdims=True)


def _score(game: Game, log_out: FloatArray) -> FloatArray:
    """s of Equation 15, tau by Equation 14; shape (others, models, kinds)."""
    energy = -game.loss[None] / game.temperature
    minus_tau = logsumexp(energy + log_out[:, :, None], axis=1, keepdims=True)
    return energy - minus_tau


def _given(game: Game, chance: FloatArray, log_out: FloatArray, log_in: FloatArray) -> FloatArray:
    """The law of the others given theta and z_1, (others, models, kinds)."""
    mixed = game.rate * np.exp(log_in) + (1 - game.rate) * np.exp(log_out)[:, :, None]
    weight = chance[:, None, None] * mixed
    return weight / weight.sum(axis=0)


class Laws(NamedTuple):
    """Modes and precisions without the record and with it, and parameters drawn with it."""

    theta: FloatArray
    mode_0: FloatArray
    mode_1: FloatArray
    precision_0: FloatArray
    precision_1: FloatArray


def random_laws(rng: np.random.Generator) -> Laws:
    """The record adds a curvature of rank one and moves the mode."""
    root = rng.standard_normal((DIMENSIONS, 3 * DIMENSIONS))
    precision_0 = root @ root.T
    gradient = rng.standard_normal(DIMENSIONS)
    precision_1 = precision_0 + np.outer(gradient, gradient)
    mode_0 = rng.standard_normal(DIMENSIONS)
    mode_1 = mode_0 - np.linalg.solve(precision_1, gradient)
    theta = rng.multivariate_normal(mode_1, np.linalg.inv(precision_1))
    return Laws(theta, mode_0, mode_1, precision_0, precision_1)


def log_ratio(laws: Laws) -> float:
    """The log-ratio of the two densities, by SciPy."""
    with_it, without = (
        multivariate_normal(mode, np.linalg.inv(precision)).logpdf(laws.theta)
        for mode, precision in (
            (laws.mode_1, laws.precision_1),
            (laws.mode_0, laws.precision_0),
        )
    )
    return float(with_it - without)


def corrected(laws: Laws) -> float:
    """Equation 50 with its 1/2, less Equation 51 with the factor and argument that it needs.

    The approximate log-ratio less the exact one is delta_1, as printed, plus half the form of
    H_1 - H_0 in theta - theta_1.
    """
    change = laws.precision_1 - laws.precision_0
    return _equation_50(laws) / 2 - (_delta_1(laws) + _form(laws.theta - laws.mode_1, change) / 2)


def printed(laws: Laws, *, exact_less_approximate: bool) -> float:
    """Equation 50 and, added to it or taken from it, Equation 51 as they stand."""
    change = laws.precision_1 - laws.precision_0
    delta = _delta_1(laws) + _form(laws.mode_1 - laws.mode_0, change)
    return _equation_50(laws) + (delta if exact_less_approximate else -delta)


def _equation_50(laws: Laws) -> float:
    near, far = laws.theta - laws.mode_1, laws.theta - laws.mode_0
    return _form(far, laws.precision_0) - _form(near, laws.precision_0)


def _delta_1(laws: Laws) -> float:
    """-1/2 log(det H_1 / det H_0)."""
    first, second = (
        np.linalg.slogdet(precision)[1] for precision in (laws.precision_1, laws.precision_0)
    )
    return float(second - first) / 2


def _form(vector: FloatArray, matrix: FloatArray) -> float:
    return float(vector @ matrix @ vector)
