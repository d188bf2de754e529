"""Records that differ, against minimisation and simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize

from membership import privacy

RATES = np.array([0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0])
GRID = np.unique(np.r_[0, np.logspace(-8, 0, 6000), 1 - np.logspace(-8, -0.01, 6000), 1])


def test_equal_levels_compose_to_themselves():
    found = privacy.gaussian_mixture_tradeoff(RATES, np.full(7, 1.3))
    np.testing.assert_allclose(found, privacy.gaussian_tradeoff(RATES, 1.3), atol=1e-5)


def test_two_levels_against_direct_minimisation():
    levels, alpha = (0.4, 2.5), 0.05

    def fnr(first):
        rates = np.array([first[0], 2 * alpha - first[0]])
        return np.mean(
            [float(privacy.gaussian_tradeoff(r, m)) for r, m in zip(rates, levels, strict=True)]
        )

    best = minimize(fnr, [0.02], bounds=[(0, 2 * alpha)], method="Nelder-Mead").fun
    found = float(privacy.gaussian_mixture_tradeoff(alpha, levels))
    assert found == pytest.approx(best, abs=1e-5)


def test_a_rate_is_reached_as_on_the_whole_curve():
    levels = np.exp(np.random.default_rng(3).normal(size=50))
    curve = privacy.gaussian_mixture_tradeoff(GRID, levels)
    for place in (0, 1, 3000, 6001, len(GRID) - 2, len(GRID) - 1):
        assert privacy.gaussian_mixture_tradeoff(GRID[place], levels) == curve[place]


def test_the_best_attack_beats_one_rate_for_all():
    levels = np.exp(np.random.default_rng(1).normal(size=300))
    best = privacy.gaussian_mixture_tradeoff(RATES[1:-1], levels)
    constant = privacy.constant_rate_tradeoff(RATES[1:-1], levels)
    assert (best < constant - 1e-3).all()


def test_the_best_attack_is_the_one_played():
    """Simulate it: one threshold on the log-likelihood ratio of records of different levels."""
    rng = np.random.default_rng(2)
    distinct = np.exp(0.7 * rng.normal(size=1000))
    levels = np.tile(distinct, 200)
    out, inside = rng.standard_normal((2, levels.size))
    ratio = {False: levels * out - levels**2 / 2, True: levels * inside + levels**2 / 2}
    threshold = np.quantile(ratio[False], 0.9)
    fnr = (ratio[True] <= threshold).mean()
    expected = float(privacy.gaussian_mixture_tradeoff(0.1, distinct))
    # Four standard errors of 200,000 draws.
    assert fnr == pytest.approx(expected, abs=0.006)


def test_one_step_composes_to_itself():
    levels = np.array([0.3, 0.8, 1.5, 3.0])
    found = privacy.composed_mixture_tradeoff(RATES, levels, 100, 100, 1)
    np.testing.assert_allclose(found, privacy.gaussian_mixture_tradeoff(RATES, levels), atol=1e-5)


def test_equal_records_compose_as_one():
    found = privacy.composed_mixture_tradeoff(RATES, [1.0, 1.0], 50, 1000, 40, grid=16)
    low, high = privacy.numerical_tradeoff(RATES, 1.0, 50, 1000, 40)
    assert (found <= high + 1e-6).all()
    np.testing.assert_allclose(found, low, atol=2e-4)
