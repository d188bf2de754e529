"""What the pictures and sentences say is of their tables, whatever comes out."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from membership.curvature import noise
from membership.exhibits import declared
from membership.exhibits.source import Source
from membership.studies.loss_enough import clouds, losses, names
from membership.studies.loss_enough.settings import Settings

SETTINGS = Settings.from_values({"profile": "tiny"})
EXHIBITS = declared("loss_enough")


@pytest.fixture(scope="module")
def source():
    return Source(SETTINGS, EXHIBITS, gather=False)


ATTACKS = (*names.DRAWN, names.MALT, names.MAST, names.MATT)


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda one: one.id)
def test_every_exhibit_says_something_and_draws_known_attacks(exhibit, source):
    table = exhibit.compute(source)
    assert exhibit.says(table).endswith(".")
    assert table.attrs["sizes"]
    if exhibit.draw:
        assert "nan" not in exhibit.described(table)
        figure = exhibit.draw(table)
        (legend,) = figure.legends
        drawn = {*table.get("series", [])}, {"minimum"}, {*ATTACKS, losses.LEAST, losses.MEDIAN}
        assert {one.get_text() for one in legend.get_texts()} <= set().union(*drawn)
        plt.close(figure)


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
