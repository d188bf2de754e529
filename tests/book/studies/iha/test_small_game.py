"""A game on a few records in which no score can read the coin."""

from types import SimpleNamespace

import numpy as np
import pytest

from membership import attacks, data, metrics
from membership.book.exhibits.files import read_back
from membership.book.exhibits.panels import one_by_one
from membership.book.studies.iha import clean_game, left_out, small_game
from membership.book.studies.iha.left_out import Experiment, small_task
from membership.book.studies.iha.scores import PAIRED


def test_no_score_of_the_game_reads_the_coin(experiment):
    """With every membership bit turned round, the scores stay as they are."""
    blind = Experiment(
        experiment.outputs.assign(member=~experiment.outputs["member"]),
        experiment.forms.assign(member=~experiment.forms["member"]),
    )
    truth, coin = small_game.scored(experiment)
    found, _ = small_game.scored(blind)
    assert all(np.array_equal(found[name], truth[name]) for name in truth)
    assert coin.tolist() == [False] * 3 + [True] * 3


def test_the_games_attacks_are_those_on_a_record_outside(experiment, retrained, settings):
    """From evidence as from the model itself, for one model on D and one on D + z."""
    models = retrained.groups["targets"][0], retrained.groups["with"][1, 4]
    task = retrained.task
    config, pool = task.config, task.pool
    scores, _ = small_game.scored(experiment)
    for column, model in zip((0, 4), models, strict=True):
        z = retrained.outside[[1]]
        arguments = (
            retrained.ensemble.module(int(model)),
            config.loss_of,
            (pool.x[retrained.base], pool.y[retrained.base]),
            (pool.x[z], pool.y[z]),
        )
        how = (config.learning_rate, config.momentum, config.weight_decay, settings.damping)
        for name, stationarity in (("IHA", "published"), ("IHA*", "regularised")):
            public = attacks.iha(*arguments, [False], *how, stationarity=stationarity)
            np.testing.assert_allclose(scores[name][1, column], public.score[0], rtol=1e-5)
        public = attacks.sif(*arguments, settings.damping)
        np.testing.assert_allclose(scores["SIF"][1, column], public[0], rtol=1e-6)
        for statistic in ("norm", "cosine"):
            public = attacks.residual(*arguments, [False], config.weight_decay, statistic)
            found = scores[f"residual {statistic}"][1, column]
            np.testing.assert_allclose(found, public[0], rtol=1e-5)


def test_the_targets_are_not_among_the_references(experiment):
    scores, coin = small_game.scored(experiment)
    half = len(coin) // 2
    out = experiment.groups["targets"][:half]
    retrained = experiment.groups["with"][0]
    references = np.concatenate([experiment.groups["references"], retrained[:half]])
    z = experiment.outside[0]
    member = experiment.outputs["member"].values
    for column, model in enumerate([*out, *retrained[half : 2 * half]]):
        assert model not in references
        phi = experiment.scaled[:, [z]]
        expected = attacks.lira(phi[model], phi[references], member[references, z][:, None])
        assert scores["loss ratio"][0, column] == pytest.approx(expected[0])
        assert coin[column] == member[model, z]


def test_pooled_and_record_by_record_are_what_they_are_called():
    rng = np.random.default_rng(1)
    coin = np.array([False, False, True, True])
    score = rng.normal(size=(5, 4)) + coin + np.arange(5)[:, None]
    pooled, each = small_game._rows({}, small_game.redrawn(score, coin, 0), len(score))
    assert pooled["value"] == pytest.approx(metrics.auc(score.ravel(), np.tile(coin, 5)))
    assert each["value"] == pytest.approx(np.mean([metrics.auc(row, coin) for row in score]))
    assert pooled["low"] <= pooled["value"] <= pooled["high"]
    assert each["low"] <= each["value"] <= each["high"]


def test_the_interval_allows_for_the_shared_models_of_the_base():
    """With many records and two models on D', one much the lower, these decide the value."""
    rng = np.random.default_rng(3)
    base = np.repeat([[-9.0, 9.0]], 60, axis=0)
    score = np.concatenate([base, rng.normal(size=(60, 2))], axis=1)
    numbers = small_game.redrawn(score, np.array([False, False, True, True]), 0)
    for row in small_game._rows({}, numbers, len(score)):
        assert (row["low"], row["value"], row["high"]) == pytest.approx((0.0, 0.5, 1.0))


@pytest.fixture(scope="module")
def some(source):
    return left_out.experiments(source)


@pytest.fixture(scope="module")
def table(some, settings):
    return small_game.control_10(some, settings)


def test_the_value_is_the_auc_among_the_models_of_one_record(some, table):
    for one in some:
        scores, trained_on = small_game.scored(one)
        for r, record in enumerate(one.outputs.attrs["outside"]):
            for name in small_game.ATTACKS:
                part = table[(table["dataset"] == one.label) & (table["attack"] == name)]
                (said,) = part.loc[part["record"] == record, "value"]
                assert said == pytest.approx(metrics.auc(scores[name][r], trained_on))


def test_pictures_are_those_of_the_embedded_records(some, table, settings):
    digits = table[table["dataset"] == "Digits"]
    pool = small_task("digits", settings).pool
    for row in digits.to_dict("records"):
        x, y = pool.x[row["record"]], pool.y[row["record"]]
        assert row["label"] == f"digit {y}"
        levels = np.array(row["pixels"].split(), float).reshape(x.shape)
        np.testing.assert_allclose(levels / 255, x, atol=0.5 / 255 + 1e-6)
    whole = data.load("digits")
    assert {tuple(x.ravel()) for x in pool.x} <= {tuple(x.ravel()) for x in whole.x}
    assert set(table.loc[table["dataset"] != "Digits", "pixels"]) == {""}


def test_a_reader_sees_each_pictured_record_with_all_attacks(table):
    found = one_by_one(small_game.one_by_one(read_back(table)))
    digits = table[table["dataset"] == "Digits"]
    assert found["measures"] == list(small_game.ATTACKS)
    assert len(found["records"]) == digits["record"].nunique()
    best = digits[(digits["attack"] == "IHA") & (digits["column"] == 1)]["record"].item()
    (shown,) = [one for one in found["records"] if one["label"].endswith(f" {best}")]
    assert shown["ranks"][found["measures"].index("IHA")] == 1


def test_the_game_pairs_its_draws(experiment):
    table = small_game.play([experiment], SimpleNamespace(seed=0)).set_index(["attack", "metric"])
    for metric, word in zip(clean_game.METRICS, clean_game.COUNTED, strict=True):
        auc_of = table["value"].xs(metric, level="metric")
        row = table.loc[f"IHA less LOSS, {word}", PAIRED]
        assert row["value"] == pytest.approx(auc_of["IHA"] - auc_of["LOSS"])
        assert row["low"] < row["value"] < row["high"]
    scores, trained_on = small_game.scored(experiment)
    numbers = small_game.redrawn(scores["IHA"], trained_on, 0)
    same = small_game._less(numbers, numbers, "IHA less IHA", 0, len(numbers))
    assert same.difference == same.standard_error == 0.0
