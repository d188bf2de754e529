"""The clean game by damping: solvers, the scores of the attacks, and the numbers that are kept."""

import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, curvature
from membership.book.studies.iha import (
    damped,
    expected,
    further_records,
    neighbours,
    probability,
    subjects,
    whole_game,
)
from membership.curvature.inverse import enough


@pytest.fixture(scope="module")
def found(settings):
    return damped.gathered(subjects.Subject(subjects.EMBEDDED), settings)


def _module(weight):
    layer = nn.Linear(len(weight) - 1, 1, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight[None, :-1]))
        layer.bias.copy_(torch.tensor(weight[-1:]))
    return layer


@pytest.mark.parametrize("schedule", subjects.SCHEDULES)
def test_scores_are_those_of_the_public_attack_at_the_mean_model(settings, schedule):
    """There its own Hessian is the one that serves all."""
    game = neighbours.set_up(subjects.EMBEDDED, settings, schedule)
    weights, config = neighbours.weights(game, settings), game.task.config
    centre = weights["without"].astype(float).mean(1, keepdims=True)
    r, z = 2, game.records(game.added[0][[2]], torch.float64)
    alike = {
        "without": np.concatenate([centre, centre], 1),
        "with": np.broadcast_to(centre[:, :, None], (1, 4, 2, centre.shape[-1])),
    }
    further = further_records.chosen(game, settings.seed)
    spectra = {schedule: damped.spectrum(game, alike["without"][0])}
    got = damped._of_seed({schedule: game}, {schedule: alike}, spectra, further, [schedule, 1])
    base = game.records(game.base[0], torch.float64)
    model = _module(centre[0, 0])
    values = curvature.hessian(model, config.loss_of, *base)
    values = np.linalg.eigvalsh(values)
    least = config.loss_of(model(base[0]), base[1]).mean().item()
    factor = config.batch_size * (1 - config.momentum) / (2 * game.size.n_train * least)
    recipe = (config.learning_rate, config.momentum, config.weight_decay)
    for side in (0, 1):
        for place, stationarity in enumerate(damped.STATIONARITIES.values()):
            for at, damping in enumerate(damped.DAMPINGS):
                arguments = (model, config.loss_of, base, z, [False], *recipe)
                how = {"damping": enough(values, damping), "stationarity": stationarity}
                score = attacks.iha(*arguments, **how).score
                assert got["score"][at, place, r, side] == pytest.approx(score[0], rel=1e-4)
        assert got["factor"][r, side] == pytest.approx(factor, rel=1e-6)


def test_a_direction_without_curvature_is_no_division_by_zero():
    plain, regularised = damped.by_damping(torch.tensor([0.0, 5.0], dtype=torch.float64), 0.01)
    np.testing.assert_allclose(plain[-1], [0.0, 0.2])
    np.testing.assert_allclose(regularised[-1], [0.0, 1 / 5.01])
    np.testing.assert_allclose(plain[0], [1000.0, 1 / 5.001])


def test_without_components_it_is_lira_l_of_the_other_evidence(games, found):
    for game, schedule in zip(games, subjects.SCHEDULES, strict=True):
        draws = whole_game.draws_of(4, 8, game.attrs["seed"], damped.DRAWS)
        lira = whole_game.measured(whole_game.scored(game)["loss ratio"], draws)
        plain = found["answered"].sel(schedule=schedule, components=0).values.T
        # Two answers that agree to rounding may change places.
        np.testing.assert_allclose(plain, lira, atol=0.02)


def test_shared_noise_is_taken_away_and_the_record_stays():
    rng = np.random.default_rng(5)
    records, models, count = 30, 40, 12
    shared = rng.normal(size=(records + 1, 2, 3, models))
    shared[:, 0] = shared[0, 0]
    loads = rng.normal(size=(records, 3))
    there = rng.normal(size=(count, 3))
    own = np.einsum("rc,rsck->rsk", loads, shared[1:]) + rng.normal(size=(records, 2, models)) * 0.3
    own[:, 1] += 0.3
    without = there @ shared[0, 0]
    having = np.einsum("fc,rck->rfk", there, shared[1:, 1])
    whole = whole_game.Draws(np.ones((1, records)), np.ones((1, 2, 2, models // 2)))
    numbers = further_records.numbers(own, without, having, whole)
    by_count = dict(zip(further_records.COMPONENTS, numbers[:, 1, 0], strict=True))
    assert by_count[3] > by_count[0] + 0.1
    # Two normal laws one standard deviation apart are told apart with this AUC.
    assert by_count[3] == pytest.approx(0.76, abs=0.04)
    np.testing.assert_array_equal(further_records.cleaned(own, without, having, 0, 0), own)


def test_a_right_probability_has_slope_one_and_is_near_the_share():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(50, 2, 40)) * 2**0.5
    x[:, 1] += 1.0
    x[:, 0] -= 1.0
    # Laws of variance 2 and means -1, 1: the log-ratio is x itself.
    whole = whole_game.Draws(np.ones((1, 50)), np.ones((1, 2, 2, 20)))
    for factor in (1.0, 0.1):
        (row,) = probability.numbers(factor * x, whole)
        got = dict(zip(probability.METRICS, row, strict=True))
        assert got[probability.SLOPE] == pytest.approx(1 / factor, rel=0.1)
        assert (got[probability.OFF] < 0.03) == (factor == 1)
        coin = np.repeat([[0.0], [1.0]], 40, 1)
        by_hand = np.logaddexp(0, np.where(coin > 0, -factor * x, factor * x)).mean()
        assert got[probability.LOG_LOSS] == pytest.approx(by_hand)


def test_a_draw_counts_models_as_often_as_they_were_drawn():
    rng = np.random.default_rng(9)
    log_odds = rng.normal(size=(3, 2, 4))
    draws = whole_game.Draws(
        np.array([[2.0, 1.0, 0.0]]),
        np.array([[[[2.0, 0.0], [1.0, 1.0]], [[0.0, 2.0], [1.0, 1.0]]]]),
    )
    (weight,) = probability.weights(draws, log_odds.shape)
    # Half 0 plays the models 1 and 3, half 1 the models 0 and 2.
    np.testing.assert_array_equal(weight.reshape(3, 2, 4)[0], [[0, 4, 4, 0], [2, 2, 2, 2]])
    assert weight.reshape(3, 2, 4)[2].sum() == 0


def test_what_is_expected_is_set_beside_the_record_it_is_of(games):
    table = expected.control_27(games, games)
    theory, seen = expected.expected(games[1]), expected.found(games[1])
    points = table[
        (table["metric"] == expected.ONE)
        & (table["schedule"] == whole_game.CONSTANT)
        & (table["reads"] == "outputs")
    ]
    np.testing.assert_array_equal(points["record"], games[1]["record"].values)
    np.testing.assert_allclose(points[expected.EXPECTED], expected.auc_of(theory["outputs"]))
    np.testing.assert_allclose(points["value"], seen["outputs"])
    share = table[table["metric"] == expected.SHARE]["value"].to_numpy()
    assert ((share > 0) & (share <= 1)).all()
