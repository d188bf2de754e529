"""What losses tell: when one is all that there is to know, what it costs, what many give away."""

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from membership import curvature, metrics, plots
from membership.arrays import FloatArray
from membership.book.exhibits.tidy import tidy
from membership.book.studies.loss_enough import exact_roc
from membership.book.studies.loss_enough.games import CONDITIONS, ENDS, named_sizes
from membership.book.studies.loss_enough.logistic import OPTIMISERS, LogisticGame
from membership.book.studies.loss_enough.mean import RECORDS, MeanGame
from membership.book.studies.loss_enough.names import (
    BEST_PARAMETERS,
    CONDITION,
    LOGISTIC,
    MALT,
    MEAN,
    POSTERIOR,
    RIDGE,
)
from membership.book.studies.loss_enough.ridge import SIZE, Noise, Recipe, RidgeGame
from membership.book.studies.loss_enough.settings import Settings
from membership.metrics import exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREAD = "largest spread of log-ratio + loss / T"
UNEXPLAINED = "share of the log-ratio's variance that the loss leaves (%)"
ERROR, SECOND = "largest error of the parameters", "smallest misfit of another solution"
SHARE = "share of the squared signal that the error keeps"
LEAST, MEDIAN = "least of any record", "median record of the ridge games"
_RARE = 1e-12


def sufficiency(settings: Settings) -> pd.DataFrame:
    """All others known: is log-ratio + loss / T one number, whatever the parameters?"""
    parts = [(MEAN, POSTERIOR, _mean_parts(settings))]
    for name, share in ENDS.items():
        parts.append((RIDGE, name, _ridge_parts(settings, share)))
    for optimiser in OPTIMISERS:
        parts.append((LOGISTIC, optimiser, _logistic_parts(settings, optimiser)))
    rows = []
    for game, optimiser, (ratio, loss, mass) in parts:
        key = {"game": game, "optimiser": optimiser}
        spread, left = _spread(ratio + loss, mass), _unexplained(ratio, loss, mass)
        rows.append({**key, "metric": SPREAD} | exactly(spread))
        rows.append({**key, "metric": UNEXPLAINED} | exactly(left))
    return tidy(rows, {"sizes": named_sizes(settings), "residue": 1e-6})


def _mean_parts(settings: Settings) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-ratio, loss / T and weights, (records, parameters), of the Gaussian mean."""
    game, rng = MeanGame(1.0, RECORDS - 1), np.random.default_rng([settings.seed, 1])
    z, known = rng.standard_normal((2, 20, 1, game.d))
    theta = rng.standard_normal((20, 200, game.d))
    known = known * np.sqrt(game.known)
    v0, v1 = game.variances
    without, within = known / (game.n - 1), (known + z) / game.n
    far, near = (np.square(theta - centre).sum(axis=2) for centre in (without, within))
    loss = np.square(theta - z).sum(axis=2) / (2 * game.temperature)
    return far / (2 * v0) - near / (2 * v1), loss, np.ones(loss.shape)


def _ridge_parts(settings: Settings, share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    games = [
        RidgeGame([settings.seed, place], settings.n_records, settings.n_draws)
        for place in range(settings.n_games)
    ]
    played = [(game.play(Noise(share), 1.0), game.temperature) for game in games]
    ratio = np.concatenate([scores[BEST_PARAMETERS] for scores, _ in played])
    loss = np.concatenate([-scores[MALT] / temperature for scores, temperature in played])
    return ratio, loss, np.ones(loss.shape)


def _logistic_parts(
    settings: Settings, optimiser: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    game = LogisticGame(settings.grid_points)
    without, within = game.laws(optimiser)
    out = np.broadcast_to(without[:, None], within.shape)
    size = within.shape[2]
    loss = np.broadcast_to(game.losses / game.temperature, within.shape)
    # What rounding leaves of a stationary law far out is no probability.
    kept = (within > _RARE) & (out > _RARE)
    ratio = np.where(kept, exact_roc.log_ratio(within, out), 0.0)
    parts = (ratio, loss, np.where(kept, (within + out) / 2, 0.0))
    return tuple(part.reshape(-1, size) for part in parts)


def _spread(values: FloatArray, mass: FloatArray) -> float:
    """The largest standard deviation over the parameters, of all records."""
    mass = mass / mass.sum(axis=1, keepdims=True)
    mean = np.sum(mass * values, axis=1, keepdims=True)
    return float(np.sqrt(np.sum(mass * (values - mean) ** 2, axis=1)).max())


def _unexplained(ratio: FloatArray, loss: FloatArray, mass: FloatArray) -> float:
    """What is left of the log-ratio's variance after a line in the loss, all records."""
    mass = mass / mass.sum(axis=1, keepdims=True)
    ratio, loss = (v - np.sum(mass * v, axis=1, keepdims=True) for v in (ratio, loss))
    cross, own, all_ = (
        np.sum(mass * a * b, axis=1) for a, b in ((ratio, loss), (loss, loss), (ratio, ratio))
    )
    explained = np.divide(cross**2, own, out=np.zeros_like(own), where=own > 0)
    return float(100 * (1 - explained.sum() / all_.sum()))


def all_losses(settings: Settings) -> pd.DataFrame:
    """The parameters of a ridge regression from the losses on D' and z alone."""
    errors, second_errors = zip(
        *(
            _from_losses(RidgeGame([settings.seed, game], 1, 1), game)
            for game in range(settings.n_games)
        ),
        strict=True,
    )
    rows = [
        {"game": RIDGE, "metric": ERROR} | exactly(max(errors)),
        {"game": RIDGE, "metric": SECOND} | exactly(min(second_errors)),
    ]
    note = "An error is the largest deviation of a residual's size from the one observed."
    return tidy(rows, {"sizes": {"Games": str(settings.n_games)}, "note": note, "residue": 1e-6})


def _from_losses(game: RidgeGame, seed: int) -> tuple[float, float]:
    """Error of the parameters found, and misfit of the next best: every choice of signs is tried.

    A loss is half a squared residual: it leaves the sign open. As many records as parameters are
    solved for under each choice; the other records tell which is right.
    """
    x, y = np.concatenate([game.x, game.x_z]), np.concatenate([game.y, game.y_z])
    w = np.random.default_rng([seed, 2]).standard_normal(SIZE)
    size = np.abs(x @ w - y)
    signs = np.array(list(product((1.0, -1.0), repeat=SIZE)))
    parameters = np.linalg.solve(x[:SIZE], (y[:SIZE] + signs * size[:SIZE]).T).T
    misfit = np.abs(np.abs(parameters @ x.T - y) - size).max(axis=1)
    order = np.argsort(misfit)
    return float(np.abs(parameters[order[0]] - w).max()), float(misfit[order[1]])


# Of the noise; the opposite exponents have the same shares.
EXPONENTS = (0.5, 1.0, 1.5)
NOTE = (
    "The condition number is that of the features' covariance; each game's Hessian has its own. "
    "Intervals are over games, of the median over their records."
)


def price_of_one(settings: Settings) -> pd.DataFrame:
    """The share of the squared signal that a record's error keeps, by condition and exponent."""
    rows = []
    for exponent in EXPONENTS:
        for condition in CONDITIONS:
            key = {CONDITION: condition, "exponent": exponent, "metric": SHARE}
            (least,) = curvature.least_loss_share([condition], exponent)
            rows.append({**key, "of": LEAST} | exactly(float(least)))
            shares = [
                _median(settings, game, condition, exponent) for game in range(settings.n_games)
            ]
            summed = metrics.summary(np.array(shares), lowest=0.0, highest=1.0)
            rows.append({**key, "of": MEDIAN} | summed)
    sizes = {"Games": str(settings.n_games), "Records a game": str(settings.n_records)}
    return tidy(rows, {"sizes": sizes, "note": NOTE})


def price_of_one_drawn(table: pd.DataFrame) -> "Figure":
    """Control 5: the bound and the games' records, a panel an exponent."""
    names = "share kept, exponent " + table["exponent"].map("{:g}".format)
    shown = table.assign(panel=names)
    return plots.lines_with_intervals(
        shown, x=CONDITION, by="of", panel="panel", log_x=True, same_scale=True
    )


def _median(settings: Settings, game: int, condition: float, exponent: float) -> float:
    """Over the records of one game: of its own Hessian, without them."""
    played = RidgeGame([settings.seed, game], settings.n_records, 1, Recipe(condition=condition))
    values, axes = np.linalg.eigh(played.total(False))
    return float(np.median(curvature.loss_share(values, played.x_z @ axes, exponent)))
