"""Where SGD comes to rest about a minimum in two dimensions, for three shapes of its noise."""

import numpy as np
import pandas as pd
from scipy import stats

from membership.arrays import FloatArray
from membership.book.exhibits.sentences import span
from membership.book.exhibits.tidy import tidy
from membership.book.studies.loss_enough.settings import Settings
from membership.curvature.noise import Sgd, stationary_covariance

# The series of the schematic, and what each shape of noise asks for.
DRAWS, MEASURED, HEIGHTS = "models after training", "line of equal measure", "one height of loss"
EXPONENTS_IN_WORDS = {
    1.0: ("noise like the curvature", "how far?"),
    0.0: ("the same noise everywhere", "how high?"),
    -1.0: ("noise along the flat", "how steep?"),
}
# A long valley: flat along the first axis, steep across; the noise has this trace.
CURVATURE, AMOUNT = np.diag([0.5, 2.0]), 250.0
RECIPE = Sgd(learning_rate=0.02, momentum=0.0, weight_decay=0.0)
N_DRAWS = 200
INSIDE = 0.9
"""The share of models that the line of equal measure holds."""
LEVELS = (0.5, 2.0, 4.5)
"""Heights of the loss whose lines are drawn."""
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 97)


def three_clouds(settings: Settings) -> pd.DataFrame:
    """Draws, the line on which the best measure is constant, and lines of equal loss."""
    rng = np.random.default_rng([settings.seed, 2])
    parts = []
    for exponent, (cloud, measure) in EXPONENTS_IN_WORDS.items():
        key = {"exponent": exponent, "panel": f"{cloud}:\n{measure}"}
        spread = covariance(exponent)
        draws = rng.multivariate_normal(np.zeros(2), spread, N_DRAWS)
        size = stats.chi2.ppf(INSIDE, 2)
        parts.append(_rows(key, DRAWS, 0, draws))
        parts.append(_rows(key, MEASURED, 0, _ellipse(spread * size)))
        for i, level in enumerate(LEVELS):
            # Half of w' K w is the height.
            line = _ellipse(2.0 * level * np.linalg.inv(CURVATURE))
            parts.append(_rows(key, HEIGHTS, i, line))
    sizes = {"Models a cloud": str(N_DRAWS), "Curvature along and across": "0.5 and 2"}
    return tidy(parts, {"sizes": sizes})


def covariance(exponent: float) -> FloatArray:
    """The cloud's covariance under noise that is a power of the curvature, of the one amount."""
    power = np.diag(np.diag(CURVATURE) ** exponent)
    noise = AMOUNT * power / np.trace(power)
    return stationary_covariance(RECIPE, CURVATURE, noise)


def inside(table: pd.DataFrame) -> pd.Series:
    """The share of each cloud's models that lie within its line, in percent."""
    draws = table[table["series"] == DRAWS]
    shares = {}
    for exponent, part in draws.groupby("exponent", sort=False):
        precision = np.linalg.inv(covariance(float(exponent)))
        points = part[["x", "y"]].to_numpy()
        measure = np.einsum("ni,ij,nj->n", points, precision, points)
        shares[exponent] = 100 * np.mean(measure < stats.chi2.ppf(INSIDE, 2))
    return pd.Series(shares)


def three_clouds_said(table: pd.DataFrame) -> str:
    """The same in a sentence."""
    return f"Of the models of a cloud {span(inside(table))} lie within its line."


def _ellipse(form: FloatArray) -> FloatArray:
    """The points on which the inverse form is one."""
    circle = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
    return circle @ np.linalg.cholesky(form).T


def _rows(key: dict, series: str, line: int, points: FloatArray) -> pd.DataFrame:
    return pd.DataFrame({"x": points[:, 0], "y": points[:, 1]}).assign(
        **key, series=series, line=line
    )[[*key, "series", "line", "x", "y"]]
