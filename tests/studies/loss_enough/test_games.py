"""The chapter's tables at `tiny`: what is exact is exact, and pairs are pairs."""

import pandas as pd
import pytest

from membership.studies.loss_enough import games, losses
from membership.studies.loss_enough.games import APART_BY, BEHIND, COMPARED, KNOWLEDGE_LESS_ACCESS
from membership.studies.loss_enough.losses import ERROR, SPREAD, UNEXPLAINED
from membership.studies.loss_enough.names import (
    ALL,
    AUC,
    BEST_LOSS,
    BEST_PARAMETERS,
    IHA_STAR,
    LOGISTIC,
    MEAN,
    POPULATION,
    POSTERIOR,
    RESIDUAL,
    RIDGE,
    SGD,
)
from membership.studies.loss_enough.settings import Settings

SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.fixture(scope="module")
def shares():
    return games.shares(SETTINGS)


def test_every_setting_plays_the_same_games(shares):
    exponents = games.exponents(SETTINGS).query("exponent == 0").set_index(["attack", "metric"])
    posterior = shares.query("share == 0").set_index(["attack", "metric"])
    columns = ["value", "low", "high"]
    pd.testing.assert_frame_equal(exponents[columns], posterior[columns])


def test_what_an_attack_is_behind_is_paired(shares):
    rows = shares.query("share == 1").set_index(["attack", "metric"])
    for attack in (BEST_LOSS, IHA_STAR, RESIDUAL):
        behind = rows.loc[(attack, BEHIND)]
        best, own = rows.loc[(BEST_PARAMETERS, AUC)], rows.loc[(attack, AUC)]
        assert behind["value"] == pytest.approx(best["value"] - own["value"])
    posterior = shares.query("share == 0").set_index(["attack", "metric"])
    assert posterior.loc[(BEST_LOSS, BEHIND), "value"] == pytest.approx(0, abs=1e-9)
    assert (rows["n_repeats"] == SETTINGS.n_games).all()


def test_the_two_by_two_has_all_games_and_its_contrasts():
    table = games.all_games(SETTINGS)
    assert list(dict.fromkeys(table["game"])) == [MEAN, RIDGE, LOGISTIC]
    for _, rows in table.groupby(["game", "optimiser"]):
        rows = rows[rows["metric"].isin([AUC, APART_BY])]
        value = rows.set_index(["others", "attack"])["value"]
        expected = value[ALL, BEST_LOSS] - value[POPULATION, BEST_PARAMETERS]
        assert value[COMPARED, KNOWLEDGE_LESS_ACCESS] == pytest.approx(expected)


def test_the_loss_is_sufficient_for_the_posterior_only():
    table = losses.sufficiency(SETTINGS).set_index(["optimiser", "metric"])["value"]
    assert table[POSTERIOR, SPREAD].max() < 1e-8
    assert table[POSTERIOR, UNEXPLAINED].max() < 1e-6
    assert table[SGD, UNEXPLAINED].min() > 1


def test_losses_give_the_parameters_back_and_no_others():
    value = losses.all_losses(SETTINGS).set_index("metric")["value"]
    assert value[ERROR] < 1e-9
    assert value.drop(ERROR).min() > 1e-3
