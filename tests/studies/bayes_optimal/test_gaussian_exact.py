import numpy as np
import pytest
from scipy.stats import norm

from membership.studies.bayes_optimal import gaussian_exact as exact

DRAWS = 200_000


def draw(n_members, d, seed):
    """One member and one non-member a game, from the definition of the game."""
    rng = np.random.default_rng(seed)
    records = rng.standard_normal((DRAWS // n_members, n_members, d))
    theta = records.mean(axis=1)
    theta0 = rng.standard_normal((DRAWS // n_members, n_members, d)).mean(axis=1)
    return theta, theta0, {True: records[:, 0], False: rng.standard_normal(theta.shape)}


def slow_score(attack, z, theta, theta0, n_members):
    d = z.shape[1]
    loss = ((z - theta) ** 2).sum(axis=1) / 2
    if attack == "malt":
        return -loss
    if attack == "mast":
        tau = n_members / (2 * (n_members + 1)) * (z**2).sum(axis=1)
        return tau + d / 2 * np.log((n_members + 1) / n_members) - loss
    if attack == "matt":
        return -((theta - theta0) * (theta0 - z)).sum(axis=1)
    variance = 1 - 1 / n_members
    inside = -((z - theta) ** 2).sum(axis=1) / (2 * variance) - d / 2 * np.log(variance)
    return inside + (z**2).sum(axis=1) / 2


@pytest.mark.slow
@pytest.mark.parametrize("size", [(5, 20), (3, 4), (20, 30)])
@pytest.mark.parametrize("attack", ["malt", "mast", "likelihood_ratio", "matt"])
def test_accuracy_at_the_threshold_agrees_with_simulation(attack, size):
    n_members, d = size
    theta, theta0, z = draw(n_members, d, seed=7)
    decision = getattr(exact, attack)(n_members, d)
    rates = [
        np.mean((slow_score(attack, z[m], theta, theta0, n_members) >= decision.threshold) == m)
        for m in (True, False)
    ]
    error = np.sqrt(sum(rate * (1 - rate) for rate in rates) / len(theta)) / 2
    assert abs(np.mean(rates) - decision.accuracy) < 4 * error


@pytest.mark.parametrize("attack", ["malt", "mast", "likelihood_ratio", "matt"])
def test_no_other_threshold_does_better(attack):
    n_members, d = 5, 20
    theta, theta0, z = draw(n_members, d, seed=8)
    decision = getattr(exact, attack)(n_members, d)
    scores = {m: slow_score(attack, z[m], theta, theta0, n_members) for m in z}
    for shift in (-1.5, -0.7, 0.7, 1.5):
        other = [np.mean((scores[m] >= decision.threshold + shift) == m) for m in (True, False)]
        error = np.sqrt(sum(rate * (1 - rate) for rate in other) / len(theta)) / 2
        assert np.mean(other) < decision.accuracy + 4 * error


def test_figure_1_has_the_accuracies_the_theory_gives():
    assert exact.malt(50, 2000).accuracy == pytest.approx(0.7365, abs=5e-5)
    assert exact.mast(50, 2000).accuracy == pytest.approx(0.9993, abs=5e-5)
    assert exact.likelihood_ratio(50, 2000).accuracy == pytest.approx(0.9993, abs=5e-5)
    # The normal approximation, 0.9873, leaves out that |theta - theta0| varies between games.
    assert exact.matt(50, 2000).accuracy == pytest.approx(0.987, abs=2e-3)


@pytest.mark.parametrize("size", [(2, 1), (3, 4), (5, 20), (50, 2000), (500, 2000)])
def test_nothing_beats_the_likelihood_ratio(size):
    best = exact.likelihood_ratio(*size).accuracy
    for attack in (exact.malt, exact.mast, exact.matt):
        assert 0.5 < attack(*size).accuracy <= best + 1e-9


def test_large_sizes_approach_the_normal_limits():
    n_members, d = 400, 10_000
    assert exact.malt(n_members, d).accuracy == pytest.approx(
        norm.cdf(np.sqrt(d / 2) / n_members), abs=1e-3
    )
    assert exact.mast(n_members, d).accuracy == pytest.approx(
        norm.cdf(np.sqrt(d / n_members) / 2), abs=1e-3
    )
    assert exact.matt(n_members, d).accuracy == pytest.approx(
        norm.cdf(np.sqrt(d / (2 * n_members)) / 2), abs=2e-3
    )


def test_auc_of_malt_agrees_with_simulation():
    theta, _, z = draw(5, 20, seed=9)
    loss = {m: ((z[m] - theta) ** 2).sum(axis=1) for m in z}
    wins = np.mean(loss[True] < loss[False])
    error = np.sqrt(wins * (1 - wins) / len(theta))
    assert abs(wins - exact.malt_auc(5, 20)) < 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("size", [(4, 3), (50, 2000)])
@pytest.mark.parametrize("member", [True, False])
def test_densities_are_those_of_the_scores_given_the_game(size, member):
    n_members, d = size
    rng = np.random.default_rng(3)
    theta = rng.standard_normal(d) / np.sqrt(n_members)
    r2 = float(theta @ theta)
    noise = rng.standard_normal((4_000, d))
    z = theta + np.sqrt(1 - 1 / n_members) * noise if member else noise
    loss = slow_score("malt", z, theta, theta, n_members) * -1
    score = slow_score("mast", z, theta, theta, n_members)
    for drawn, density in ((loss, exact.malt_density), (score, exact.mast_density)):
        span = np.ptp(drawn)
        grid = np.linspace(drawn.min() - span, drawn.max() + span, 40_001)
        curve = density(grid, member, r2, n_members, d)
        assert np.trapezoid(curve, grid) == pytest.approx(1, abs=1e-3)
        mean = np.trapezoid(curve * grid, grid)
        variance = np.trapezoid(curve * (grid - mean) ** 2, grid)
        assert abs(mean - drawn.mean()) < 4 * drawn.std() / np.sqrt(drawn.size)
        fourth = np.mean((drawn - drawn.mean()) ** 4)
        error = np.sqrt((fourth - drawn.var() ** 2) / drawn.size)
        assert abs(variance - drawn.var()) < 4 * error
