"""Games whose model is drawn from Equation 2, in which the Bayes-optimal attack is exact.

One dimension: n = 12 records z_i ~ N(0, 1), each a member with probability 1/2, and the model drawn
with l(t, z) = (t - z)^2 / 2 plus the regulariser 0.01 t^2 / 2, which keeps the law proper when
nobody is a member. With k members among the other records, their sum S, and
q = k + m_1 + 0.01, the model is theta ~ N((S + m_1 z_1) / q, T / q): the other records enter
through k and S alone, and S given k is N(0, k).

The mean of n' Gaussian members: theta ~ N(mean, T / n'). Given a record z, both the parameters and
their loss on z have known laws, for a member and for others, so that the best attack on either can
be written down: what do all parameters add to one loss?
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import binom, ncx2, norm

from membership import metrics
from membership.arrays import FloatArray
from membership.book.exhibits.rows import of_each, of_error, over_units
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal.names import AUC
from membership.book.studies.bayes_optimal.networks import ReferenceGame
from membership.book.studies.bayes_optimal.settings import Settings

N_RECORDS = 12
MEMBER_RATE = 0.5  # lambda
REGULARISER = 0.01
# (theta, z_1); the last two have the same loss under different parameters.
CASES = ((0.3, -1.5), (-0.5, 2.0), (1.0, 1.2), (0.0, 1.0), (2.0, 1.0))

# Of the Gaussian mean.
TEMPERATURES = (0.25, 1.0, 4.0)
# Dimensions a member, d / n'.
RATIOS = (0.15, 0.5, 1.5, 5.0)
MEMBERS = 20
GAMES = 200
DIFFERENCE = "parameters less loss"
COLDER = "parameters, colder less hotter"


class Others(NamedTuple):
    """Draws of the other records: how many are members, and their sum; shape (draws,) each."""

    count: FloatArray
    total: FloatArray


def theorem_1(settings: Settings) -> pd.DataFrame:
    """Theorem 1 with its expectation over the posterior of T, and over the prior.

    Equation 4 writes the expectation over T = {z_2..n, m_2..n} without saying which law T has. The
    law of total expectation (Equation 6) needs T given theta and z_1. Drawn from its prior
    instead, as a simulation of training sets would, the expression is another number.
    """
    draws = _draw_others(settings)
    rows = []
    for theta, z in CASES:
        log_in, log_out = _log_likelihoods(theta, z, draws, temperature=1.0)
        attack = expit(log_in - log_out + logit(MEMBER_RATE))
        weight = MEMBER_RATE * np.exp(log_in) + (1 - MEMBER_RATE) * np.exp(log_out)
        key = {"theta": theta, "z": z, "metric": "P(member)"}
        rows += [
            key | {"expectation": "exact"} | metrics.exactly(exact_posterior(theta, z)),
            key | {"expectation": "posterior"} | _weighted_mean(attack, weight),
            key | {"expectation": "prior"} | _weighted_mean(attack, np.ones_like(weight)),
        ]
    keys = ["theta", "z", "expectation", "metric"]
    table = _table(pd.DataFrame(rows)[[*keys, *metrics.exactly(0)]])
    table.attrs["sizes"] = {"Draws of the others": f"{settings.posterior_draws:,}"}
    return table


def theorem_1_said(table: pd.DataFrame) -> str:
    """How far either reading is from the exact value."""
    wide = table.pivot_table(index=["theta", "z"], columns="expectation", values="value")
    gap = {name: (wide[name] - wide["exact"]).abs().max() for name in ("posterior", "prior")}
    return (
        f"The posterior reading is off by at most {gap['posterior']:.4f}, the prior reading by up "
        f"to {gap['prior']:.2f}."
    )


def temperature() -> pd.DataFrame:
    """What a higher temperature does to the score and to the membership probability.

    Section 3.3 says that a higher T decreases s = (tau - l) / T and so P(m_1 = 1 | theta, z_1).
    With the law p of typical models held fixed, s is concave in 1/T and 0 at 1/T = 0: a negative
    s always rises with T, a positive one falls once T is large enough, and either way the
    probability tends to lambda. Where p widens with T, as in Equation 12, s is A / T plus
    log(1 + 1/q) / 2, whatever the sign of A: the limit lies above lambda, for in this game,
    whose parameter space is unbounded, one member more narrows the law of theta at any T.

    Nothing here has a size, so that there are no settings. theta is 0.3; z = 0.4 has a loss far
    below tau, z = 1 one slightly below, z = -1.5 one above.
    """
    theta, precision = 0.3, 6 + REGULARISER
    temperatures = np.geomspace(0.1, 64.0, 41)
    variances = {
        "held fixed": np.full_like(temperatures, 1 / precision),
        "Equation 12": temperatures / precision,
    }
    parts = []
    for z in (0.4, 1.0, -1.5):
        key = {"z": z, "temperature": temperatures}
        for law, variance in variances.items():
            score = _score(theta, z, 0.0, variance, temperatures)
            probability = expit(score + logit(MEMBER_RATE))
            own = {"law": law, **key}
            parts.append(pd.DataFrame({**own, "metric": "score", "value": score}))
            parts.append(pd.DataFrame({**own, "metric": "P(member)", "value": probability}))
        whole = [exact_posterior(theta, z, t) for t in temperatures]
        own = {"law": "whole game", **key}
        parts.append(pd.DataFrame({**own, "metric": "P(member)", "value": whole}))
    return _table(pd.concat(parts, ignore_index=True))


def temperatures(game: ReferenceGame) -> pd.DataFrame:
    """Temperature in the one-dimensional game, and of MAST's threshold on the networks.

    The log-mean-exp of the reference losses is their minimum at temperature 0 and their mean at
    infinity.
    """
    exact = temperature()
    chosen = exact[(exact["metric"] == "P(member)") & (exact["law"] != "whole game")]
    curves = chosen.assign(
        metric="P(member), " + chosen["law"],
        series="record at z = " + chosen["z"].astype(str),
        n_repeats=0,
    )
    curves = curves.assign(low=curves["value"], high=curves["value"])
    sweep = _temperature_sweep(game).assign(series="MAST on the networks")
    columns = ["metric", "series", "temperature", "value", "low", "high", "n_repeats"]
    return tidy([curves[columns], sweep[columns]], game.attrs)


def _temperature_sweep(game: ReferenceGame) -> pd.DataFrame:
    """MAST on the networks as its temperature goes from 0.01 to 100."""
    rows = [
        {
            "temperature": float(t),
            "metric": AUC,
            "value": 100 * metrics.auc(target.mast("log-mean-exp", float(t)), target.member),
        }
        for target in game.targets()
        for t in np.logspace(-2, 2, 9)
    ]
    return pd.DataFrame(over_units(pd.DataFrame(rows), ["temperature", "metric"]))


def temperatures_said(table: pd.DataFrame) -> str:
    """The AUC at both ends of the sweep and its best temperature, where that lies between them."""
    sweep = table[table["series"] == "MAST on the networks"].sort_values("temperature")
    value, temperature = sweep["value"].to_numpy(), sweep["temperature"].to_numpy()
    best = int(value.argmax())
    where = f"at {temperature[best]:.2g}"
    if best in (0, len(value) - 1):
        where = f"at the {'highest' if best else 'lowest'}, an end of the sweep"
    return (
        f"MAST's AUC is {value[0]:.1f}% at T = {temperature[0]:g} and {value[-1]:.1f}% at "
        f"T = {temperature[-1]:g}; it is largest {where}."
    )


def exact_posterior(theta: float, z: float, temperature: float = 1.0) -> float:
    """P(m_1 = 1 | theta, z_1) by Bayes' rule, T integrated out (Definition 1).

    Given m_1, z_1 and k other members, theta is normal with mean m_1 z_1 / q and variance
    T / q + k / q^2, where q = k + m_1 + 0.01; k is binomial, so the sum has 12 terms.
    """
    count = np.arange(N_RECORDS)
    chance = binom.pmf(count, N_RECORDS - 1, MEMBER_RATE)
    likelihood = []
    for m in (0, 1):
        precision = count + m + REGULARISER
        spread = np.sqrt(temperature / precision + count / precision**2)
        likelihood.append(chance @ norm.pdf(theta, m * z / precision, spread))
    evidence = MEMBER_RATE * likelihood[1] + (1 - MEMBER_RATE) * likelihood[0]
    return float(MEMBER_RATE * likelihood[1] / evidence)


def _draw_others(settings: Settings) -> Others:
    draws = settings.posterior_draws
    rng = np.random.default_rng(settings.seed)
    count = rng.binomial(N_RECORDS - 1, MEMBER_RATE, size=draws).astype(np.float64)
    return Others(count, np.sqrt(count) * rng.standard_normal(draws))


def _log_likelihoods(
    theta: float, z: float, draws: Others, temperature: float
) -> tuple[FloatArray, FloatArray]:
    """log p(theta | m_1, z_1, T) for m_1 = 1 and for m_1 = 0."""
    precision = draws.count + REGULARISER
    inside = norm.logpdf(
        theta, (draws.total + z) / (precision + 1), np.sqrt(temperature / (precision + 1))
    )
    outside = norm.logpdf(theta, draws.total / precision, np.sqrt(temperature / precision))
    return inside, outside


def _score(
    theta: float, z: float, mean: FloatArray, variance: FloatArray, temperature: FloatArray
) -> FloatArray:
    """s of Equation 15, tau being Equation 14 for models t ~ N(mean, variance)."""
    spread = 1 + variance / temperature
    tau = temperature / 2 * np.log(spread) + (z - mean) ** 2 / (2 * spread)
    return (tau - (theta - z) ** 2 / 2) / temperature


def _weighted_mean(values: FloatArray, weight: FloatArray) -> dict[str, float]:
    """Self-normalised mean, with a 95% interval by the delta method."""
    share = weight / weight.sum()
    mean = float(share @ values)
    error = float(np.sqrt(np.sum((share * (values - mean)) ** 2)))
    return of_error(mean, error, values.size)


def _table(table: pd.DataFrame) -> pd.DataFrame:
    """The paper prints no number for this game: it is ours."""
    table.attrs = {
        "data": {},
        "deviations": ["the paper has no such experiment"],
        "device": "cpu",
    }
    return table


def added_by_parameters(settings: Settings) -> pd.DataFrame:
    """AUC of the best attack on the parameters and of the best on the record's own loss."""
    rows = []
    for ratio in RATIOS:
        areas = {t: _games(settings.seed, round(ratio * MEMBERS), t) for t in TEMPERATURES}
        for temperature, (parameters, loss) in areas.items():
            shown = {"parameters": parameters, "loss": loss, DIFFERENCE: parameters - loss}
            rows += _rows(ratio, temperature, shown)
        colder, hotter = areas[min(TEMPERATURES)][0], areas[max(TEMPERATURES)][0]
        rows += _rows(ratio, np.nan, {COLDER: colder - hotter})
    return tidy(rows, {"sizes": {"Games a cell": str(GAMES), "Members a game": str(MEMBERS)}})


def _rows(ratio: float, temperature: float, shown: dict[str, FloatArray]) -> list[dict]:
    values = {(attack, AUC): 100 * areas for attack, areas in shown.items()}
    return of_each({"ratio": ratio, "temperature": temperature}, ("attack", "metric"), values)


def _games(seed: int, d: int, temperature: float) -> tuple[FloatArray, FloatArray]:
    """The AUCs of both attacks, (games,) each; every temperature takes the same draws."""
    rng = np.random.default_rng([seed, d])
    z = rng.standard_normal((GAMES, 2 * MEMBERS, d))
    noise = rng.standard_normal((GAMES, 1, d))
    theta = z[:, :MEMBERS].mean(axis=1, keepdims=True)
    theta = theta + noise * np.sqrt(temperature / MEMBERS)
    loss = ((z - theta) ** 2).sum(axis=2) / 2
    scores = (
        of_parameters(z, theta, temperature, MEMBERS),
        of_loss(z, loss, temperature, MEMBERS),
    )
    member = np.arange(2 * MEMBERS) < MEMBERS
    return tuple(np.array([metrics.auc(values, member) for values in score]) for score in scores)


def of_parameters(z: FloatArray, theta: FloatArray, temperature: float, n: int) -> FloatArray:
    """log p(theta | z, member) - log p(theta | z, no member), of z (..., d); shape (...,)."""
    inside, outside = _variances(temperature, n)
    near, far = ((theta - z / n) ** 2).sum(axis=-1), (theta**2).sum(axis=-1)
    constant = z.shape[-1] / 2 * np.log(inside / outside)
    return far / (2 * outside) - near / (2 * inside) - constant


def of_loss(z: FloatArray, loss: FloatArray, temperature: float, n: int) -> FloatArray:
    """The same log-ratio of the law of the record's own loss, shape (...,)."""
    inside, outside = _variances(temperature, n)
    norm2, d = (z**2).sum(axis=-1), z.shape[-1]
    within = ncx2.logpdf(2 * loss / inside, d, norm2 * (1 - 1 / n) ** 2 / inside) - np.log(inside)
    without = ncx2.logpdf(2 * loss / outside, d, norm2 / outside) - np.log(outside)
    return within - without


def _variances(temperature: float, n: int) -> tuple[float, float]:
    """Of each coordinate of theta given z, for a member and for any other record."""
    return (n - 1) / n**2 + temperature / n, (1 + temperature) / n
