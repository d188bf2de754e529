"""The best attacks on a Gaussian mean against the laws that they are made of."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from membership.studies.bayes_optimal import information


def test_the_ratio_of_parameters_is_that_of_two_normal_laws():
    rng = np.random.default_rng(0)
    z, theta, n, temperature = rng.normal(size=(4, 3)), rng.normal(size=3), 5, 2.0
    inside = [
        stats.multivariate_normal(one / n, ((n - 1) / n**2 + temperature / n) * np.eye(3))
        for one in z
    ]
    outside = stats.multivariate_normal(np.zeros(3), (1 + temperature) / n * np.eye(3))
    expected = [law.logpdf(theta) - outside.logpdf(theta) for law in inside]
    assert information.of_parameters(z, theta, temperature, n) == pytest.approx(expected)


def test_the_laws_are_those_of_games_played_out():
    """Mean and variance of theta given z for a member, over 100,000 games."""
    rng = np.random.default_rng(1)
    n, temperature, z, games = 4, 0.5, 1.7, 100_000
    others = rng.normal(size=(games, n - 1)).sum(axis=1)
    theta = (others + z) / n + rng.normal(size=games) * np.sqrt(temperature / n)
    inside, _ = information._variances(temperature, n)
    assert theta.mean() == pytest.approx(z / n, abs=4 * np.sqrt(inside / games))
    assert theta.var() == pytest.approx(inside, rel=4 * np.sqrt(2 / games))


def test_the_ratio_of_losses_is_what_histograms_of_losses_give():
    rng = np.random.default_rng(2)
    n, temperature, z, draws = 4, 1.0, np.array([[1.0, 0.5]]), 400_000
    inside, outside = information._variances(temperature, n)
    member = z / n + rng.normal(size=(draws, 2)) * np.sqrt(inside)
    other = rng.normal(size=(draws, 2)) * np.sqrt(outside)
    counts = [
        np.histogram(((theta - z) ** 2).sum(axis=1) / 2, bins=[0.2, 0.25])[0][0]
        for theta in (member, other)
    ]
    found = information.of_loss(z, np.array([0.225]), temperature, n)[0]
    assert found == pytest.approx(np.log(counts[0] / counts[1]), abs=0.05)


def test_a_colder_game_gives_more_away():
    table = information.added_by_parameters(SimpleNamespace(seed=0))
    colder = table[table["attack"] == information.COLDER]
    assert (colder["low"] > 1).all()
    assert set(table["n_repeats"]) == {information.GAMES}
