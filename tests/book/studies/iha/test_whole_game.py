"""The clean game at the paper's size: draws, attacks of its own, contrasts."""

import numpy as np
import pytest
import torch

from membership import metrics
from membership.book.studies.iha import clean_game, neighbours, subjects, whole_game
from membership.book.studies.iha.scores import Compared


@pytest.fixture(scope="module")
def table(games):
    return whole_game.control_20(games)


def test_both_schedules_play_for_the_same_records(settings):
    falling, constant = (
        neighbours.set_up(subjects.EMBEDDED, settings, schedule) for schedule in subjects.SCHEDULES
    )
    np.testing.assert_array_equal(falling.base, constant.base)
    np.testing.assert_array_equal(falling.added, constant.added)
    rates = [game.task.config.learning_rate_at(5) for game in (falling, constant)]
    assert rates[0] < rates[1] == constant.task.config.learning_rate


def test_draws_at_once_are_draws_one_by_one():
    rng = np.random.default_rng(4)
    score = np.round(rng.normal(size=(2, 5, 2, 6)), 1)
    records = np.concatenate([np.ones((1, 5)), rng.multinomial(5, np.full(5, 0.2), size=7)])
    records[-1] = [5, 0, 0, 0, 0]
    models = rng.multinomial(6, np.full(6, 1 / 6), size=(8, 2, 2)).astype(float)
    at_once = whole_game.measured(score, whole_game.Draws(records, models))
    for b in range(8):
        halves = []
        for half in (0, 1):
            without, having = models[b, half]
            compared = Compared(score[half, :, 0], score[half, :, 1])
            halves.append(compared.numbers(records[b], np.tile(having, (5, 1)), without))
        np.testing.assert_allclose(at_once[b], np.mean(halves, axis=0))


def test_the_first_draw_is_the_game_itself(games):
    draws = whole_game.drawn(games[0])
    scores = whole_game.scored(games[0])["IHA"]
    member = np.broadcast_to(np.array([False, True])[:, None], scores[0].shape[1:]).ravel()
    pooled = [metrics.auc(half.ravel(), np.tile(member, len(half))) for half in scores]
    each = [np.mean([metrics.auc(part.ravel(), member) for part in half]) for half in scores]
    numbers = whole_game.measured(scores, draws)
    np.testing.assert_allclose(numbers[0], [np.mean(pooled), np.mean(each)])
    assert len(numbers) == clean_game.RESAMPLES + 1


@pytest.mark.slow
def test_the_error_is_the_spread_over_games():
    """Records of their own difficulty, models of one seed alike over records."""
    rng = np.random.default_rng(12)
    values, errors = [], []
    for _ in range(60):
        level, shift = rng.normal(size=(40, 1, 1)), np.array([0.0, 0.6])[:, None]
        shared = 0.3 * rng.normal(size=(1, 2, 16))
        score = level + shift + shared + rng.normal(size=(40, 2, 16))
        halves = np.stack([score[:, :, 1::2], score[:, :, ::2]])
        models = rng.multinomial(8, np.full(8, 1 / 8), size=(200, 2, 2)).astype(float)
        records = rng.multinomial(40, np.full(40, 1 / 40), size=200).astype(float)
        whole = np.ones((1, 40)), np.ones((1, 2, 2, 8))
        draws = whole_game.Draws(
            np.concatenate([whole[0], records]), np.concatenate([whole[1], models])
        )
        numbers = whole_game.measured(halves, draws)
        values.append(numbers[0])
        errors.append(numbers[1:].std(0, ddof=1))
    # Three standard errors of a standard deviation over sixty games.
    np.testing.assert_allclose(np.std(values, axis=0, ddof=1), np.mean(errors, axis=0), rtol=0.3)


def test_the_l_attack_is_the_loss_for_one_record_and_calibrated_over_records(games):
    scores = whole_game.scored(games[0])
    ranks, losses = scores["L-attack"], scores["LOSS"]
    for half in range(2):
        for rank, loss in zip(ranks[half], losses[half], strict=True):
            order = np.argsort(loss, axis=None)
            assert (np.diff(rank.ravel()[order]) >= 0).all()
    assert not np.array_equal(np.argsort(ranks, axis=None), np.argsort(losses, axis=None))


def test_one_gradient_for_all_is_over_the_training_set(games, settings):
    """The forms' sum, against gradients over D' + z themselves."""
    game = neighbours.set_up(subjects.EMBEDDED, settings, "cosine")
    weights = neighbours.weights(game, settings)["with"][0, 1, 3]

    def gradient(rows):
        toy = neighbours.Logistic.of(*game.records(rows, torch.float64))
        return toy.mean_gradient(torch.tensor(weights).double()[None])[0].numpy(), toy

    over_others, toy = gradient(game.base[0])
    over_all, _ = gradient(np.append(game.base[0], game.added[0][1]))
    own, _ = gradient(game.added[0][[1]])
    hessian = toy.hessian(torch.tensor(weights).double()).numpy()
    inverse = np.linalg.inv(hessian + games[0].attrs["damping"][0] * np.eye(len(hessian)))
    forms = {
        term: float(clean_game.form_of(games[0], 0, term)[1, 1, 3])
        for term in ("own2", "own3", "mean2", "mean3")
    }
    count = len(game.base[0])
    for power in (2, 3):
        power_of = np.linalg.matrix_power(inverse, power)
        changed = (count * forms[f"mean{power}"] + forms[f"own{power}"]) / (count + 1)
        assert changed == pytest.approx(own @ power_of @ over_all, rel=1e-3)
        assert forms[f"mean{power}"] == pytest.approx(own @ power_of @ over_others, rel=1e-3)


def test_knowledge_of_the_others_is_all_that_one_gradient_takes_away(games):
    """Models without the record keep their scores."""
    scores = whole_game.scored(games[0])
    np.testing.assert_allclose(scores[whole_game.SAME_GRADIENT][:, :, 0], scores["IHA"][:, :, 0])
    assert (scores[whole_game.SAME_GRADIENT][:, :, 1] != scores["IHA"][:, :, 1]).all()


def test_half_of_the_models_are_played_by_themselves(games, table):
    few = games[0].isel(replicate=slice(0, 4))
    scores = whole_game.scored(few)
    numbers = {
        name: whole_game.measured(score, whole_game.drawn(few))[0] for name, score in scores.items()
    }
    rows = table[table["attack"] == whole_game.HALVED].set_index("metric")["value"]
    apart = numbers["projection"] - numbers["loss ratio"]
    np.testing.assert_allclose(rows[list(clean_game.DIFFERENCES)], apart)
