import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from membership import attacks, metrics
from membership.book.studies.loss_enough.names import (
    BEST_LOSS,
    BEST_PARAMETERS,
    IHA,
    IHA_STAR,
    MALT,
    MAST,
    MATT,
    RESIDUAL,
)
from membership.book.studies.loss_enough.ridge import (
    BATCH,
    SIGMA,
    SIZE,
    Law,
    Noise,
    Recipe,
    RidgeGame,
)
from membership.curvature.noise import Sgd, stationary_covariance

POSTERIOR, SGD = Noise(), Noise(share=1.0)
# A weight decay that is not small, so that a formula without it is seen.
DECAYED = Recipe(weight_decay=0.05)
RATE, WEIGHT_DECAY = DECAYED.rate, DECAYED.weight_decay


@pytest.fixture(scope="module")
def game():
    return RidgeGame([0, 0], 8, 400, DECAYED)


def isotropic(game, member, z):
    """The noise that leaves the posterior where it is, at one temperature for both worlds."""
    total = game.total(member)[z] if member else game.total(False)
    return game.temperature / game.n * (2 / RATE * np.eye(SIZE) - total)


@pytest.mark.parametrize("member", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_cloud_solves_the_lyapunov_equation(game, member, share):
    z = 3
    total = game.total(member)[z] if member else game.total(False)
    hessian = total - WEIGHT_DECAY * np.eye(SIZE)
    own = SIGMA**2 / BATCH * hessian
    noise = (1 - share) * isotropic(game, member, z) + share * own
    expected = stationary_covariance(Sgd(RATE, 0.0, WEIGHT_DECAY), hessian, noise)
    np.testing.assert_allclose(game.cloud(Noise(share), total), expected, rtol=1e-9, atol=1e-14)


def test_the_posterior_is_the_gibbs_law_of_the_summed_loss(game):
    precision = np.linalg.inv(game.cloud(POSTERIOR, game.total(True)))
    np.testing.assert_allclose(precision, game.n / game.temperature * game.total(True), rtol=1e-9)
    np.testing.assert_allclose(
        game.cloud(Noise(exponent=0.0), game.total(True)), np.linalg.inv(precision), rtol=1e-9
    )


@pytest.mark.parametrize("exponent", [-1.0, 0.5, 1.0])
def test_all_noises_have_one_trace(game, exponent):
    total = game.total(False)
    cloud, one = game.cloud(Noise(exponent=exponent), total), np.eye(SIZE)
    move = one - RATE * total
    noise = (cloud - move @ cloud @ move) / RATE**2
    assert np.trace(noise) == pytest.approx(SIGMA**2 / BATCH * np.trace(game.hessian))


@pytest.mark.parametrize("known", [0.0, 0.5, 1.0])
def test_the_laws_are_those_of_models_of_drawn_labels(game, known):
    rng, z, count = np.random.default_rng(0), 2, round(known * 49)
    without, within = game.laws(SGD, known)
    labels = game.x @ game.truth + rng.standard_normal((20_000, 49))
    labels[:, :count] = game.y[:count]
    pulled = labels @ game.x / game.n
    for law, add in ((without, 0.0), (Law(within.mean[z], within.covariance[z]), 1.0)):
        total = game.total(True)[z] if add else game.total(False)
        minima = np.linalg.solve(total, (pulled + add * game.x_z[z] * game.y_z[z] / game.n).T).T
        spread = np.cov(minima.T) + game.cloud(SGD, total)
        np.testing.assert_allclose(law.mean, minima.mean(axis=0), atol=0.01)
        np.testing.assert_allclose(law.covariance, spread, atol=0.05 * np.abs(spread).max())


def test_densities_are_scipys(game):
    _, within = game.laws(SGD, 0.5)
    w = within.draws(game.normals[0])
    for z in (0, 5):
        exact = multivariate_normal(within.mean[z], within.covariance[z]).logpdf(w[z])
        apart = within.log_density(w)[z] - exact
        np.testing.assert_allclose(apart, apart[0], atol=1e-9)
        assert apart[0] == pytest.approx(SIZE / 2 * np.log(2 * np.pi))


def test_scores_are_those_of_the_attacks(game):
    z, scores = 1, game.play(SGD, 1.0)
    without, within = game.laws(SGD, 1.0)
    w = np.concatenate([without.draws(game.normals[0]), within.draws(game.normals[1])], axis=1)[z]
    x, y = game.x_z[z], game.y_z[z]
    loss = (w @ x - y) ** 2 / 2
    np.testing.assert_allclose(scores[MALT][z], attacks.malt(loss))
    reference = without.draws(game.reference)[0, 0]
    gradient = (reference @ x - y) * x
    expected = [attacks.matt(each, reference, gradient[None])[0] for each in w]
    np.testing.assert_allclose(scores[MATT][z], expected)
    models = without.draws(np.random.default_rng(0).standard_normal((1, 200_000, SIZE)))[0]
    losses = np.tile(((models @ x - y) ** 2 / 2)[:, None], loss.size // 80)
    mast = attacks.mast(loss[: losses.shape[1]], losses, temperature=game.temperature)
    np.testing.assert_allclose(scores[MAST][z][: mast.size], mast, atol=0.01)
    others = (w @ game.x.T - game.y) @ game.x / game.n + WEIGHT_DECAY * w
    own = (w @ x - y)[:, None] * x / game.n
    norms = np.square(others).sum(axis=1) - np.square(others + own).sum(axis=1)
    np.testing.assert_allclose(scores[RESIDUAL][z], norms, rtol=1e-9)


def test_the_ratio_of_the_loss_is_that_of_folded_normals(game):
    scores, (without, within) = game.play(SGD, 0.5), game.laws(SGD, 0.5)
    size = np.sqrt(-2 * scores[MALT])
    z, e = 4, size[4, :5]
    density = []
    for law in (within, without):
        mean, variance = (one.ravel()[z] for one in law.along(game.x_z))
        laws = norm(mean - game.y_z[z], np.sqrt(variance))
        density.append(
            laws.cdf(e + 1e-5) - laws.cdf(e - 1e-5) + laws.cdf(1e-5 - e) - laws.cdf(-1e-5 - e)
        )
    np.testing.assert_allclose(scores[BEST_LOSS][z, :5], np.log(density[0] / density[1]), rtol=1e-4)


def test_the_posteriors_ratio_is_a_constant_less_the_loss(game):
    scores = game.play(POSTERIOR, 1.0)
    found = scores[BEST_PARAMETERS] - scores[MALT] / game.temperature
    np.testing.assert_allclose(found, found[:, :1] + 0 * found, atol=1e-10)
    mast = scores[MAST] / game.temperature
    np.testing.assert_allclose(scores[BEST_PARAMETERS], mast, atol=1e-10)
    np.testing.assert_allclose(scores[BEST_LOSS], mast, atol=1e-10)


def areas(game, noise, known=1.0):
    return pooled(game.play(noise, known))


def pooled(scores):
    seen = np.arange(scores[MALT].shape[1]) >= scores[MALT].shape[1] // 2
    seen = np.broadcast_to(seen, scores[MALT].shape).ravel()
    return {name: metrics.auc(score.ravel(), seen) for name, score in scores.items()}


def test_with_equal_clouds_the_best_area_is_a_normal_law(game):
    without, own = game.laws(SGD, 1.0)
    within = Law(own.mean, np.broadcast_to(without.covariance, own.covariance.shape))
    normals = np.random.default_rng(0).standard_normal((2, 8, 5000, SIZE))
    w = np.concatenate([without.draws(normals[0]), within.draws(normals[1])], axis=1)
    score = within.log_density(w) - without.log_density(w)
    seen = np.arange(10_000) >= 5000
    for z in range(8):
        away = within.mean[z] - without.mean
        distance = np.sqrt(away @ np.linalg.solve(without.covariance, away))
        expected = norm.cdf(distance / np.sqrt(2))
        assert metrics.auc(score[z], seen) == pytest.approx(expected, abs=0.025)


@pytest.mark.parametrize("noise", [POSTERIOR, SGD, Noise(exponent=-1.0)])
@pytest.mark.parametrize("known", [0.0, 1.0])
def test_the_best_is_above_every_other(noise, known):
    game = RidgeGame([1, 0], records=20, draws=1000)
    found = areas(game, noise, known)
    best = found.pop(BEST_PARAMETERS)
    assert max(found.values()) <= best + 0.004
    assert found[BEST_LOSS] >= max(found[MALT], found[MAST]) - 0.004


@pytest.mark.parametrize(("exponent", "attack"), [(-1, RESIDUAL), (0, BEST_LOSS), (1, IHA_STAR)])
def test_each_test_is_nearest_to_the_best_at_its_own_noise(exponent, attack):
    game = RidgeGame([2, 0], records=20, draws=500)
    found = {one: areas(game, Noise(exponent=float(one))) for one in (-1, 0, 1)}
    behind = {one: each[BEST_PARAMETERS] - each[attack] for one, each in found.items()}
    assert min(behind, key=behind.get) == exponent
    assert behind[exponent] < 0.01


def test_without_weight_decay_iha_has_nothing_to_correct():
    scores = RidgeGame([0, 0], 3, 20, Recipe(weight_decay=0.0)).play(SGD, 1.0)
    np.testing.assert_allclose(scores[IHA], scores[IHA_STAR], rtol=1e-9)


def test_the_features_have_the_condition_that_is_asked_for():
    game = RidgeGame([0, 0], 20_000, 1, Recipe(condition=1000.0))
    values = np.linalg.eigvalsh(np.cov(game.x_z.T))
    assert values[-1] / values[0] == pytest.approx(1000.0, rel=0.1)


@pytest.mark.parametrize("recipe", [Recipe(condition=1e4), Recipe(rate=0.5, condition=1000.0)])
def test_the_best_is_above_every_other_with_other_recipes(recipe):
    found = areas(RidgeGame([4, 0], 20, 1000, recipe), SGD)
    best = found.pop(BEST_PARAMETERS)
    assert max(found.values()) <= best + 0.004


def test_where_no_model_has_seen_the_record_attacks_find_nothing():
    game = RidgeGame([3, 0], records=20, draws=1000)
    without, within = game.laws(SGD, 1.0)
    w = np.concatenate([without.draws(normals) for normals in game.normals], axis=1)
    found = pooled(game.scores(w, without, within, 1.0))
    # 20,000 scores a side: a standard error of 0.003.
    assert max(abs(area - 0.5) for area in found.values()) < 0.012
