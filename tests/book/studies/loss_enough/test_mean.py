import numpy as np
import pytest
from scipy.stats import f

from membership import attacks, metrics
from membership.book.studies.loss_enough.mean import MeanGame
from membership.book.studies.loss_enough.names import (
    BEST_LOSS,
    BEST_PARAMETERS,
    MALT,
    MAST,
    MATT,
    RESIDUAL,
)

GAMES = [MeanGame(1.0, 19), MeanGame(0.25, 0), MeanGame(4.0, 10)]


def play(game, member, draws, seed=0):
    """The game as it is told: (z, theta, sum of the known others), each (draws, d)."""
    rng = np.random.default_rng([seed, member])
    z = rng.standard_normal((draws, game.d))
    others = rng.standard_normal((draws, game.n - 1, game.d))
    known, everyone = others[:, : game.known].sum(axis=1), others.sum(axis=1)
    count = game.n - 1 + member
    theta = (everyone + member * z) / count
    theta = theta + np.sqrt(game.temperature / count) * rng.standard_normal(theta.shape)
    return z, theta, known


@pytest.mark.parametrize("game", GAMES)
def test_no_attack_beats_the_best_on_the_parameters(game):
    rates = dict(game.rates())
    best = rates.pop(BEST_PARAMETERS)
    for attack, found in rates.items():
        # The best on the loss is integrated over a grid.
        assert found[0] <= best[0] + 1e-4, attack
        assert found[1] <= best[1] + 2e-4, attack
    assert rates[BEST_LOSS][0] >= max(rates[MALT][0], rates[MAST][0]) - 1e-4


@pytest.mark.parametrize("game", GAMES)
def test_the_laws_are_those_of_played_games(game):
    drawn = [play(game, member, 4000) for member in (False, True)]
    z, theta, known = (np.concatenate(part) for part in zip(*drawn, strict=True))
    seen = np.arange(8000) >= 4000
    (v0, v1), m = game.variances, known / (game.n - 1)
    with_z = (known + z) / game.n
    scores = {
        BEST_PARAMETERS: ((theta - m) ** 2 / v0 - (theta - with_z) ** 2 / v1).sum(axis=1),
        MALT: attacks.malt(((theta - z) ** 2).sum(axis=1) / 2),
    }
    rates = game.rates()
    for attack, score in scores.items():
        assert metrics.auc(score, seen) == pytest.approx(rates[attack][0], abs=0.025), attack


@pytest.mark.parametrize("game", GAMES)
def test_forms_are_the_attacks_scores(game):
    """The variables are theta, z, the known sum and the reference; a coordinate is a game."""
    forms = game.forms()
    theta, z, known, reference = np.random.default_rng(0).standard_normal((4, 6))
    x = np.stack([theta, z, known, reference])

    def score(attack):
        return np.sum(x * (forms[attack] @ x), axis=0)

    matt = [
        attacks.matt([t], [r], [[r - a]])[0] for t, r, a in zip(theta, reference, z, strict=True)
    ]
    np.testing.assert_allclose(score(MATT), matt)
    others, gradient = ((game.n - 1) * theta - known) / game.n, theta - z
    residual = others**2 - (others + gradient / game.n) ** 2
    np.testing.assert_allclose(score(RESIDUAL), residual)
    # The threshold by brute force: losses of many models without the record.
    v0 = game.variances[0]
    models = known[0] / (game.n - 1) + np.sqrt(v0) * np.random.default_rng(1).standard_normal(
        400_000
    )
    losses = (models[:, None] - z) ** 2 / 2
    mast = attacks.mast((theta - z) ** 2 / 2, losses, temperature=game.temperature)
    x[2] = known[0]
    apart = score(MAST) - mast
    np.testing.assert_allclose(apart - apart.mean(), 0, atol=0.02)


def test_all_others_known_the_loss_is_the_best_there_is():
    rates = MeanGame(1.0, 19).rates()
    assert rates[MAST] == pytest.approx(rates[BEST_PARAMETERS], abs=1e-9)
    assert rates[BEST_LOSS] == pytest.approx(rates[BEST_PARAMETERS], abs=3e-4)


@pytest.mark.parametrize("temperature", [0.0625, 1.0, 50.0])
def test_with_only_the_law_known_the_best_is_a_distance_from_a_multiple_of_z(temperature):
    game = MeanGame(temperature, 0)
    form = game.forms()[BEST_PARAMETERS]
    form = (form + form.T) / 2
    c = game.n * (1 + temperature) / (2 * game.n - 1 + game.n * temperature)
    away = np.array([1.0, -c, 0, 0])
    same = form[0, 0] * np.outer(away, away)
    np.testing.assert_allclose((form - same)[0, :2], 0, atol=1e-9)


def test_malt_is_the_f_law_and_knows_no_others():
    for known in (0, 7, 19):
        game = MeanGame(1.0, known)
        n = game.n
        inside = (1 - 1 / n) ** 2 + (n - 1) / n**2 + 1 / n
        outside = 1 + 2 / (n - 1)
        expected = f.cdf(outside / inside, game.d, game.d)
        assert game.rates()[MALT][0] == pytest.approx(expected, abs=1e-6)


def test_a_finer_grid_moves_the_loss_little():
    game = MeanGame(1.0, 0)
    assert game.of_loss(30, 200) == pytest.approx(game.of_loss(60, 400), abs=3e-4)


def test_more_knowledge_and_less_noise_help_the_best():
    known = [MeanGame(1.0, k).rates()[BEST_PARAMETERS][0] for k in (0, 10, 19)]
    hotter = [MeanGame(t, 19).rates()[BEST_PARAMETERS][0] for t in (4.0, 1.0, 0.25)]
    assert known == sorted(known)
    assert hotter == sorted(hotter)
