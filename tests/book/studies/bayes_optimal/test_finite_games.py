"""The small games against slower sums, and against rules that are wrong."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit

from membership.book.studies.bayes_optimal import finite_games


def slow_exact(game, model, kind):
    """Bayes' rule over every state of the others, record by record."""
    weight = {0: 0.0, 1: 0.0}
    states = itertools.product(itertools.product(range(finite_games.N_KINDS), (0, 1)), repeat=3)
    for state in states:
        chance = np.prod([game.chance[k] * (game.rate if m else 1 - game.rate) for k, m in state])
        for own in (0, 1):
            total = sum((game.loss[:, k] for k, m in state if m), np.zeros(len(game.loss)))
            law = np.exp(-(total + own * game.loss[:, kind]) / game.temperature)
            prior = game.rate if own else 1 - game.rate
            weight[own] += prior * chance * law[model] / law.sum()
    return weight[1] / (weight[0] + weight[1])


def test_the_exact_probability_is_bayes_rule():
    game = finite_games.random_game(np.random.default_rng(1), 0.3)
    found = finite_games.solve(game).exact
    for model, kind in ((0, 0), (3, 1), (5, 2)):
        assert found[model, kind] == pytest.approx(slow_exact(game, model, kind), abs=1e-12)


def test_theorem_2_holds_given_the_parameters_and_not_by_the_prior():
    rng = np.random.default_rng(2)
    answers = [finite_games.solve(finite_games.random_game(rng)) for _ in range(20)]
    assert max(abs(one.theorem - one.exact).max() for one in answers) < 1e-12
    assert min(abs(one.prior - one.exact).max() for one in answers) > 1e-4


def test_the_private_game_is_private():
    """No record moves the log-probability of a model by more than epsilon."""
    game = finite_games.private_game(np.random.default_rng(3), 0.5, 0.7)
    _, without, with_record = finite_games._others(game)
    assert abs(with_record - without[:, :, None]).max() <= 0.7
    largest = expit(0.7 + logit(0.5))
    assert 0.5 < finite_games.solve(game).exact.max() < largest


def test_the_excess_of_property_2_is_that_of_a_loop_over_epsilon():
    game = finite_games.random_game(np.random.default_rng(4))
    chance, log_out, log_in = finite_games._others(game)
    worst = -np.inf
    for model, kind in itertools.product(range(6), range(3)):
        exact = slow_exact(game, model, kind)
        inside, outside = np.exp(log_in[:, model, kind]), np.exp(log_out[:, model])
        weight = chance * (game.rate * inside + (1 - game.rate) * outside)
        gap = np.exp(log_out) @ game.loss[:, kind] - game.loss[model, kind]
        for epsilon in np.maximum(gap, 0):
            delta = weight[gap > epsilon + 1e-12].sum() / weight.sum()
            worst = max(worst, exact - (game.rate + epsilon / (4 * game.temperature) + delta))
    assert finite_games.property_2_excess(game) == pytest.approx(worst, abs=1e-12)
    assert worst < 0


BOTH = (True, False)


def test_the_corrected_sum_is_exact_and_the_printed_one_is_not_either_way():
    rng = np.random.default_rng(5)
    for _ in range(5):
        laws = finite_games.random_laws(rng)
        exact = finite_games.log_ratio(laws)
        assert finite_games.corrected(laws) == pytest.approx(exact, abs=1e-10)
        for way in BOTH:
            found = finite_games.printed(laws, exact_less_approximate=way)
            assert abs(found - exact) > 1e-3


def test_a_log_ratio_by_hand_in_one_dimension():
    """Precisions 1 and 2, modes 0 and -1/2, theta = 2."""
    one = np.ones((1, 1))
    laws = finite_games.Laws(np.full(1, 2.0), np.zeros(1), np.full(1, -0.5), one, 2 * one)
    found = np.log(2) / 2 - 2 * 2.5**2 / 2 + 2**2 / 2
    assert finite_games.log_ratio(laws) == pytest.approx(found)
    assert finite_games.corrected(laws) == pytest.approx(found)
    for way in BOTH:
        assert finite_games.printed(laws, exact_less_approximate=way) != pytest.approx(
            found, abs=0.1
        )


def test_delta_1_is_as_printed_where_the_exact_is_taken_from_the_approximate():
    """With the parameters at the new mode the rest of the remainder vanishes."""
    laws = finite_games.random_laws(np.random.default_rng(6))
    laws = laws._replace(theta=laws.mode_1)
    far = laws.theta - laws.mode_0
    approximate = far @ laws.precision_0 @ far / 2
    ratio = np.linalg.det(laws.precision_1) / np.linalg.det(laws.precision_0)
    assert approximate - finite_games.log_ratio(laws) == pytest.approx(
        -np.log(ratio) / 2, abs=1e-10
    )
