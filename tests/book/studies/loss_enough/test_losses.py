"""The table of what one loss costs, against the games' own laws."""

import numpy as np
import pytest

from membership.book.studies.loss_enough import losses
from membership.book.studies.loss_enough.losses import LEAST, MEDIAN
from membership.book.studies.loss_enough.names import CONDITION
from membership.book.studies.loss_enough.ridge import Noise, Recipe, RidgeGame
from membership.book.studies.loss_enough.settings import Settings

SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.fixture(scope="module")
def table():
    return losses.price_of_one(SETTINGS).set_index([CONDITION, "exponent", "of"])


@pytest.mark.parametrize("exponent", losses.EXPONENTS)
@pytest.mark.parametrize("condition", [10.0, 1000.0])
def test_the_median_is_that_of_the_laws_of_the_game(table, condition, exponent):
    medians = []
    for game in range(SETTINGS.n_games):
        played = RidgeGame(
            [SETTINGS.seed, game], SETTINGS.n_records, 1, Recipe(condition=condition)
        )
        law = played.cloud(Noise(exponent=exponent), played.total(False))
        shares = []
        for x in played.x_z:
            shift = np.linalg.solve(played.total(False), x)
            seen = (x @ shift) ** 2 / (x @ law @ x)
            shares.append(seen / (shift @ np.linalg.solve(law, shift)))
        medians.append(np.median(shares))
    found = table.loc[(condition, exponent, MEDIAN), "value"]
    assert found == pytest.approx(np.mean(medians), rel=1e-6)


def test_the_bound_falls_with_the_condition_number_and_the_games_with_it(table):
    values = table["value"].unstack("of")
    for exponent in losses.EXPONENTS:
        part = values.xs(exponent, level="exponent")
        assert part[LEAST].is_monotonic_decreasing
        assert part[MEDIAN].iloc[-1] < part[MEDIAN].iloc[0] < 1
