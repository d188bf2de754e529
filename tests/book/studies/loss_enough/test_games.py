"""The chapter's tables at `tiny`: what is exact is exact, and pairs are pairs."""

import pandas as pd
import pytest

from membership.book.studies.loss_enough import games, losses
from membership.book.studies.loss_enough.losses import ERROR, SPREAD, UNEXPLAINED
from membership.book.studies.loss_enough.names import (
    POSTERIOR,
    SGD,
)
from membership.book.studies.loss_enough.settings import Settings

SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.fixture(scope="module")
def shares():
    return games.shares(SETTINGS)


def test_every_setting_plays_the_same_games(shares):
    exponents = games.exponents(SETTINGS).query("exponent == 0").set_index(["attack", "metric"])
    posterior = shares.query("share == 0").set_index(["attack", "metric"])
    columns = ["value", "low", "high"]
    pd.testing.assert_frame_equal(exponents[columns], posterior[columns])


def test_the_loss_is_sufficient_for_the_posterior_only():
    table = losses.sufficiency(SETTINGS).set_index(["optimiser", "metric"])["value"]
    assert table[POSTERIOR, SPREAD].max() < 1e-8
    assert table[POSTERIOR, UNEXPLAINED].max() < 1e-6
    assert table[SGD, UNEXPLAINED].min() > 1


def test_losses_give_the_parameters_back_and_no_others():
    value = losses.all_losses(SETTINGS).set_index("metric")["value"]
    assert value[ERROR] < 1e-9
    assert value.drop(ERROR).min() > 1e-3
