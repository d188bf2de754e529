"""The picture of clouds, against the law that it is of."""

import numpy as np
import pytest
from matplotlib.path import Path

from membership.book.studies.loss_enough import clouds
from membership.book.studies.loss_enough.settings import Settings
from membership.curvature import noise

SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.mark.parametrize("exponent", clouds.EXPONENTS_IN_WORDS)
def test_a_clouds_line_is_where_the_best_measure_is_constant(exponent):
    """w' K^(1 - exponent) w: the distance, the loss, and the gradient's length, squared."""
    table = clouds.three_clouds(SETTINGS)
    line = table[(table["exponent"] == exponent) & (table["series"] == clouds.MEASURED)]
    w, k = line[["x", "y"]].to_numpy(), np.diag(clouds.CURVATURE)
    measure = {1.0: w**2, 0.0: k * w**2, -1.0: (k * w) ** 2}[exponent].sum(axis=1)
    # Steps of finite size leave a cloud that is off by as little.
    assert measure.max() / measure.min() < 1 + clouds.RECIPE.learning_rate * np.ptp(k)
    simulated = noise.simulated_covariance(
        *(clouds.RECIPE, clouds.CURVATURE, _noise(exponent)), chains=4000, steps=400, seed=0
    )
    assert simulated == pytest.approx(clouds.covariance(exponent), abs=0.15)


def _noise(exponent):
    power = np.diag(clouds.CURVATURE) ** exponent
    return clouds.AMOUNT * np.diag(power / power.sum())


def test_models_within_a_line_are_those_within_the_polygon_that_is_drawn():
    table = clouds.three_clouds(SETTINGS)
    share = clouds.inside(table)
    assert len(share) == len(clouds.EXPONENTS_IN_WORDS)
    for exponent, part in table.groupby("exponent"):
        line, models = (
            part.loc[part["series"] == name, ["x", "y"]] for name in (clouds.MEASURED, clouds.DRAWS)
        )
        within = Path(line.to_numpy()).contains_points(models.to_numpy()).mean()
        # A polygon cuts off less than a model in a hundred.
        assert share[exponent] == pytest.approx(100 * within, abs=1)
