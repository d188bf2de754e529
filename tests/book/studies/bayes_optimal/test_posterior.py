from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom, norm

from membership.book.studies.bayes_optimal import posterior


def settings(draws=100_000, seed=0):
    return SimpleNamespace(posterior_draws=draws, seed=seed)


def slow_theorem_1(theta, z, over_posterior):
    """Equation 4 by Gauss-Hermite quadrature over the other members' sum, given their number."""
    node, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()
    top = bottom = 0.0
    for count in range(posterior.N_RECORDS):
        q = count + posterior.REGULARISER
        total = np.sqrt(count) * node
        inside = norm.pdf(theta, (total + z) / (q + 1), np.sqrt(1 / (q + 1)))
        outside = norm.pdf(theta, total / q, np.sqrt(1 / q))
        mass = binom.pmf(count, posterior.N_RECORDS - 1, 0.5) * weight
        if over_posterior:
            mass = mass * (inside + outside)
        log_ratio = norm.logpdf(theta, (total + z) / (q + 1), np.sqrt(1 / (q + 1))) - norm.logpdf(
            theta, total / q, np.sqrt(1 / q)
        )
        top += mass @ (1 / (1 + np.exp(-log_ratio)))
        bottom += mass.sum()
    return top / bottom


@pytest.mark.parametrize(("theta", "z"), posterior.CASES)
def test_exact_posterior_is_theorem_1_over_the_posterior(theta, z):
    found = posterior.exact_posterior(theta, z)
    assert found == pytest.approx(slow_theorem_1(theta, z, over_posterior=True), abs=1e-9)


@pytest.mark.parametrize(("theta", "z"), posterior.CASES)
def test_exact_posterior_agrees_with_games_played_out(theta, z):
    rng = np.random.default_rng(4)
    games = 400_000
    member = rng.random((games, posterior.N_RECORDS)) < 0.5
    records = rng.standard_normal((games, posterior.N_RECORDS))
    records[:, 0] = z
    q = member.sum(axis=1) + posterior.REGULARISER
    model = (member * records).sum(axis=1) / q + rng.standard_normal(games) / np.sqrt(q)
    near = abs(model - theta) < 0.05
    share = member[near, 0].mean()
    error = np.sqrt(share * (1 - share) / near.sum())
    # Averaging over the window costs less than its half width squared.
    assert abs(share - posterior.exact_posterior(theta, z)) < 4 * error + 0.05**2


def test_posterior_expectation_is_exact_and_prior_expectation_is_not():
    table = posterior.theorem_1(settings())
    for (theta, z), case in table.groupby(["theta", "z"]):
        case = case.set_index("expectation")
        exact = case.value["exact"]
        half = (case.high - case.low) / 2
        error = half / 1.96
        assert abs(case.value["posterior"] - exact) < 4 * error["posterior"]
        expected = slow_theorem_1(theta, z, over_posterior=False)
        assert abs(case.value["prior"] - expected) < 4 * error["prior"]
        # At the mode of the prior the two readings happen to meet.
        if (theta, z) != (0.0, 1.0):
            assert abs(case.value["prior"] - exact) > 10 * half["prior"]
    assert table.attrs["deviations"]


def test_theorem_1_repeats_with_its_seed():
    first = posterior.theorem_1(settings(1000))
    assert first.equals(posterior.theorem_1(settings(1000)))
    assert not first.equals(posterior.theorem_1(settings(1000, seed=1)))


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_theorem_2s_score_is_theorem_1s_log_ratio(temperature):
    count, total = np.array([0.0, 3.0, 11.0]), np.array([0.0, -1.0, 4.0])
    inside, outside = posterior._log_likelihoods(
        0.4, 1.1, posterior.Others(count, total), temperature
    )
    precision = count + posterior.REGULARISER
    score = posterior._score(
        0.4, 1.1, total / precision, temperature / precision, np.full(3, temperature)
    )
    assert score == pytest.approx(inside - outside)


def test_temperature_lowers_positive_scores_only():
    table = posterior.temperature()
    score = table[table.metric == "score"].pivot(
        index="temperature", columns=["law", "z"], values="value"
    )
    fixed = score["held fixed"]
    assert (np.diff(fixed[0.4]) < 0).all()
    assert (np.diff(fixed[-1.5]) > 0).all()
    # Slightly below tau: rises while it is negative, then falls towards 0.
    assert fixed[1.0].iloc[0] < 0 < fixed[1.0].iloc[-1] < fixed[1.0].max()
    widened = score["Equation 12"]
    limit = np.log1p(1 / (6 + posterior.REGULARISER)) / 2
    assert (widened.iloc[-1] - limit).abs().max() < 0.02
    probability = table[(table.metric == "P(member)") & (table.law == "held fixed")]
    hottest = probability[probability.temperature == probability.temperature.max()]
    assert hottest.value.to_numpy() == pytest.approx([0.5] * 3, abs=2e-3)


def test_the_exact_probability_is_no_function_of_the_loss_alone():
    """Equal losses, and Equation 2 holds exactly; the parameters say more through the others."""
    loss = [(z - theta) ** 2 / 2 for theta, z in posterior.CASES[-2:]]
    assert loss[0] == loss[1]
    near, far = (posterior.exact_posterior(theta, z) for theta, z in posterior.CASES[-2:])
    assert near - far > 0.05
    prior = posterior.theorem_1(settings()).query("expectation == 'prior'").tail(2)["value"]
    assert prior.iloc[0] == pytest.approx(prior.iloc[1], abs=1e-12)


def test_with_a_logistic_loss_the_score_rises_with_temperature_and_then_falls():
    """Equation 12 integrated on a grid: no sign says which way the score goes."""
    t = np.linspace(-60, 60, 60_001)
    others = sum(np.logaddexp(0, -a * t) for a in (1.0, -0.7, 0.5, -1.2)) + 0.05 * t**2
    own, theta = np.logaddexp(0, 3 * t), -0.4

    def score(temperature):
        weight = np.exp(-(others - others.min()) / temperature)
        tau = -temperature * np.log((weight * np.exp(-own / temperature)).sum() / weight.sum())
        return (tau - np.logaddexp(0, 3 * theta)) / temperature

    cold, middle, hot = (score(temperature) for temperature in (0.05, 2.0, 20.0))
    assert cold < 0 < hot < middle - 0.01


def test_the_ratio_of_parameters_is_that_of_two_normal_laws():
    rng = np.random.default_rng(0)
    z, theta, n, temperature = rng.normal(size=(4, 3)), rng.normal(size=3), 5, 2.0
    inside = [
        stats.multivariate_normal(one / n, ((n - 1) / n**2 + temperature / n) * np.eye(3))
        for one in z
    ]
    outside = stats.multivariate_normal(np.zeros(3), (1 + temperature) / n * np.eye(3))
    expected = [law.logpdf(theta) - outside.logpdf(theta) for law in inside]
    assert posterior.of_parameters(z, theta, temperature, n) == pytest.approx(expected)


def test_the_laws_are_those_of_games_played_out():
    """Mean and variance of theta given z for a member, over 100,000 games."""
    rng = np.random.default_rng(1)
    n, temperature, z, games = 4, 0.5, 1.7, 100_000
    others = rng.normal(size=(games, n - 1)).sum(axis=1)
    theta = (others + z) / n + rng.normal(size=games) * np.sqrt(temperature / n)
    inside, _ = posterior._variances(temperature, n)
    assert theta.mean() == pytest.approx(z / n, abs=4 * np.sqrt(inside / games))
    assert theta.var() == pytest.approx(inside, rel=4 * np.sqrt(2 / games))


def test_the_ratio_of_losses_is_what_histograms_of_losses_give():
    rng = np.random.default_rng(2)
    n, temperature, z, draws = 4, 1.0, np.array([[1.0, 0.5]]), 400_000
    inside, outside = posterior._variances(temperature, n)
    member = z / n + rng.normal(size=(draws, 2)) * np.sqrt(inside)
    other = rng.normal(size=(draws, 2)) * np.sqrt(outside)
    counts = [
        np.histogram(((theta - z) ** 2).sum(axis=1) / 2, bins=[0.2, 0.25])[0][0]
        for theta in (member, other)
    ]
    found = posterior.of_loss(z, np.array([0.225]), temperature, n)[0]
    assert found == pytest.approx(np.log(counts[0] / counts[1]), abs=0.05)
