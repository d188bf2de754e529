"""What one loss costs by the shape of the curvature: the bound, and the records of the games."""

import numpy as np
import pandas as pd

from membership import curvature, metrics
from membership.exhibits.tidy import tidy
from membership.metrics import exactly
from membership.studies.loss_enough.games import CONDITIONS
from membership.studies.loss_enough.names import CONDITION, LEAST, MEDIAN, SHARE
from membership.studies.loss_enough.ridge import Recipe, RidgeGame
from membership.studies.loss_enough.settings import Settings

# Of the noise; the opposite exponents have the same shares.
EXPONENTS = (0.5, 1.0, 1.5)
NOTE = (
    "The condition number is that of the features' covariance; each game's Hessian has its own. "
    "Intervals are over games, of the median over their records."
)


def of_one_loss(settings: Settings) -> pd.DataFrame:
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


def _median(settings: Settings, game: int, condition: float, exponent: float) -> float:
    """Over the records of one game: of its own Hessian, without them."""
    played = RidgeGame([settings.seed, game], settings.n_records, 1, Recipe(condition=condition))
    values, axes = np.linalg.eigh(played.total(False))
    return float(np.median(curvature.loss_share(values, played.x_z @ axes, exponent)))
