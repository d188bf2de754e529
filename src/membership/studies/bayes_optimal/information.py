"""What all parameters add to one loss where training obeys Equation 2: the Gaussian mean.

The model is drawn from the posterior of a mean: theta ~ N(mean of the n' members, T / n'). Given a
record z, both the parameters and their loss on z have known laws, for a member and for others, so
that the best attack on either can be written down.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ncx2

from membership import metrics
from membership.arrays import FloatArray
from membership.exhibits.tidy import tidy

TEMPERATURES = (0.25, 1.0, 4.0)
# Dimensions a member, d / n'.
RATIOS = (0.15, 0.5, 1.5, 5.0)
N_MEMBERS = 20
GAMES = 200
DIFFERENCE = "parameters less loss"
COLDER = "parameters, colder less hotter"


def added_by_parameters(settings: Any) -> pd.DataFrame:
    """AUC of the best attack on the parameters and of the best on the record's own loss."""
    rows = []
    for ratio in RATIOS:
        found = {t: _games(settings.seed, round(ratio * N_MEMBERS), t) for t in TEMPERATURES}
        for temperature, (parameters, loss) in found.items():
            shown = {"parameters": parameters, "loss": loss, DIFFERENCE: parameters - loss}
            rows += [_row(ratio, temperature, name, values) for name, values in shown.items()]
        colder, hotter = found[min(TEMPERATURES)][0], found[max(TEMPERATURES)][0]
        rows.append(_row(ratio, np.nan, COLDER, colder - hotter))
    return tidy(rows, {"sizes": {"Games a cell": str(GAMES), "Members a game": str(N_MEMBERS)}})


def _row(ratio: float, temperature: float, attack: str, values: FloatArray) -> dict:
    key = {"ratio": ratio, "temperature": temperature, "attack": attack, "metric": "auc(%)"}
    return key | metrics.summary(100 * values)


def _games(seed: int, d: int, temperature: float) -> tuple[FloatArray, FloatArray]:
    """The AUCs of both attacks, (games,) each; every temperature takes the same draws."""
    rng = np.random.default_rng([seed, d])
    z = rng.standard_normal((GAMES, 2 * N_MEMBERS, d))
    noise = rng.standard_normal((GAMES, 1, d))
    theta = z[:, :N_MEMBERS].mean(axis=1, keepdims=True)
    theta = theta + noise * np.sqrt(temperature / N_MEMBERS)
    loss = ((z - theta) ** 2).sum(axis=2) / 2
    scores = (
        of_parameters(z, theta, temperature, N_MEMBERS),
        of_loss(z, loss, temperature, N_MEMBERS),
    )
    member = np.arange(2 * N_MEMBERS) < N_MEMBERS
    return tuple(np.array([metrics.auc(one, member) for one in score]) for score in scores)


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
