"""Theorem 3.2's score as a probability: is a model with this one as likely to have the record?

Section 3.3 has it that the score can be used as the probability of a record being a member. The
theorem's log-odds are S (1 - mu) / (2 n L*) times the score, where the coin is fair. They are
right if of all models with a probability of .7, say, seven tenths were trained with the record.
"""

import numpy as np
from scipy.special import expit

from membership.arrays import FloatArray
from membership.book.studies.iha.whole_game import Draws

# By how much the log-odds are too small: the slope of a logistic regression of the coin on them, 1
# where they are right. Then the mean distance in ten bins of what is said from what is.
SLOPE, LOG_LOSS, OFF = "slope", "log loss", "distance of probability and share"
WIDTH, ABOVE = "standard deviation of the log-odds", "above one half with the record (%)"
METRICS = (SLOPE, LOG_LOSS, OFF, WIDTH, ABOVE)
BINS, ROUNDS = 10, 60


def numbers(log_odds: FloatArray, draws: Draws) -> FloatArray:
    """`METRICS` (draws, 5) of log-odds (R, sides, K) of models without and with a record."""
    x, coin = log_odds.ravel(), np.broadcast_to([[0.0], [1.0]], log_odds.shape[1:])
    coin = np.broadcast_to(coin, log_odds.shape).ravel()
    order, bins = np.argsort(x, kind="stable"), np.empty(len(x), int)
    bins[order] = np.arange(len(x)) * BINS // len(x)
    one_hot, said = np.eye(BINS)[bins], expit(x)
    losses = np.logaddexp(0.0, np.where(coin > 0, -x, x))
    rows, size = [], x.std() or 1.0
    by, first = np.stack([x / size, np.ones_like(x)]), np.zeros(2)
    for weight in weights(draws, log_odds.shape):
        total = weight.sum()
        apart = np.abs(((coin - said) * weight) @ one_hot).sum() / total
        width = np.sqrt(weight @ (x - weight @ x / total) ** 2 / total)
        above = 100 * (weight * coin) @ (x > 0) / (weight @ coin)
        fitted = logistic(by, coin, weight, first)
        # Draws begin where the game itself ended, which is near.
        first = first if rows else fitted
        rows.append([fitted[0] / size, weight @ losses / total, apart, width, above])
    return np.array(rows)


def weights(draws: Draws, shape: tuple[int, ...]) -> FloatArray:
    """How often each model of each record counts, (draws, R * sides * K)."""
    models = np.empty((len(draws.models), *shape[1:]))
    # Played are those of the half that are no references.
    models[..., 1::2], models[..., ::2] = draws.models[:, 0], draws.models[:, 1]
    each = draws.records[:, :, None, None] * models[:, None]
    return each.reshape(len(each), -1)


def logistic(by: FloatArray, coin: FloatArray, weight: FloatArray, first: FloatArray) -> FloatArray:
    """Coefficients of a logistic regression on features (m, n), by Newton's steps."""
    found = first
    for _ in range(ROUNDS):
        chance = expit(found @ by)
        curvature = (by * (weight * chance * (1 - chance))) @ by.T
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(by)), by @ (weight * (coin - chance)))
        found = found + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-5:
            break
    return found
