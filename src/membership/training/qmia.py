"""The regression of QMIA: how a non-member's score is distributed, given its features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from membership.arrays import FloatArray, as_float64, one_of
from membership.errors import InputError
from membership.training.conditional import ConditionalNormal, ConditionalQuantiles
from membership.training.regression import (
    LEAST_LOG_SIGMA,
    MOST_LOG_SIGMA,
    Schedule,
    fit_network,
    fit_trees,
)

HEADS = ("gaussian", "pinball", "boosted")
# 1 - 10^-4, ..., 1 - 10^-0.1. The released code's 41st level is 0, which has no finite quantile.
PINBALL_LEVELS = 1 - np.logspace(-0.1, -4, 40)
BOOSTED_LEVELS = np.array([0.5, 0.75, 0.9, 0.95, 0.99])
# Least distance of neighbouring quantiles, in standard deviations of the score.
_GAP = 1e-6


def fit_qmia(
    public_x: Any,
    public_score: Any,
    head: str = "gaussian",
    *,
    hidden: Sequence[int] = (128, 128),
    epochs: int = 60,
    batch_size: int = 256,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-4,
    trees: int = 200,
    held_out: float = 0.1,
    seed: int = 0,
) -> ConditionalNormal | ConditionalQuantiles:
    """Fit the regression of `membership.attacks.qmia` once, for any number of queries.

    Parameters
    ----------
    public_x, public_score
        As in `membership.attacks.qmia`; 20 records or more, and scores that differ.
    head : {"gaussian", "pinball", "boosted"}
        "gaussian": a network gives mu and log sigma, fitted by log sigma + (s - mu)^2 / 2 sigma^2.
        "pinball": a network gives the quantiles of the 40 levels 1 - 10^-4, ..., 1 - 10^-0.1,
        fitted by the pinball loss and sorted where they cross (Chernozhukov et al. 2010).
        "boosted": scikit-learn's `HistGradientBoostingRegressor` at five levels, 0.5 to 0.99, for
        tabular records. A leaf holds at least five records above its quantile, so that a high
        level falls back on larger leaves, and in the end on the marginal quantile, where records
        are too few; beyond 0.99 the tail is extrapolated. The paper used CatBoost.
    hidden : sequence of int
        Units of the network's hidden layers.
    epochs, batch_size : int
        Most passes over the public records; records a step. The epoch with the least loss on
        the records held out is kept, the state before the first epoch included, which is the
        marginal distribution and ranks as Attack-P.
    learning_rate, weight_decay : float
        Of AdamW.
    trees : int
        Most trees a level; fewer where ten more do not lower the loss on the records held out.
    held_out : float
        Share of the public records, in (0, 0.5].
    seed : int
        Decides the split, the initial weights and the order of records. Same seed, same numbers.

    Returns
    -------
    ConditionalNormal or ConditionalQuantiles
        With `score(x, target_score)` and `threshold(x, fpr)`, each of shape (records,).

    Raises
    ------
    InputError
        Shapes disagree, entries are not finite, too few records, scores all equal, or an option
        is outside its range.

    Notes
    -----
    The released code searches learning rates and architectures (ConvNeXt for images); here one
    multilayer perceptron or one set of trees is fitted, with its stopping point chosen on records
    held out.
    """
    x, y = as_float64("public_x", public_x, 2), as_float64("public_score", public_score, 1)
    if len(x) != y.size:
        raise InputError(f"public_x has {len(x)} records and public_score {y.size}; give as many")
    one_of("head", head, HEADS)
    units = tuple(np.atleast_1d(hidden).tolist())
    how = Schedule(units, epochs, batch_size, learning_rate, weight_decay, trees, held_out, seed)
    if y.size < 20 or y.min() == y.max():
        raise InputError(
            f"public_score has {y.size} records from {y.min():g} to {y.max():g}; "
            "give 20 or more, not all equal"
        )
    centre, unit = y.mean(), y.std()
    standard = (y - centre) / unit
    if head == "gaussian":
        network = fit_network(x, standard, None, how)

        def normal(query: FloatArray) -> tuple[FloatArray, FloatArray]:
            mean, log_sigma = network(query).T
            return centre + unit * mean, unit * np.exp(
                np.clip(log_sigma, LEAST_LOG_SIGMA, MOST_LOG_SIGMA)
            )

        return ConditionalNormal(x.shape[1], normal)
    levels = PINBALL_LEVELS if head == "pinball" else BOOSTED_LEVELS
    predict = (fit_network if head == "pinball" else fit_trees)(x, standard, levels, how)

    def quantiles(query: FloatArray) -> FloatArray:
        rising = np.sort(predict(query), axis=1) + _GAP * np.arange(levels.size)
        return centre + unit * rising

    return ConditionalQuantiles(x.shape[1], levels, quantiles)
