"""The Gaussian game."""

import numpy as np
import pytest
from scipy import stats

from membership.data import gaussian_game
from membership.errors import InputError


def test_theta_is_the_mean_of_the_members():
    game = gaussian_game(100, 20, seed=0)
    assert game.z.shape == (100, 20)
    slow = sum(game.z[i] for i in range(100) if game.member[i]) / game.member.sum()
    np.testing.assert_allclose(game.theta, slow, atol=1e-14)
    np.testing.assert_array_equal(game.mu, np.zeros(20))


def test_records_are_standard_normal_and_membership_a_fair_coin():
    game = gaussian_game(2000, 50, seed=1)
    assert stats.kstest(game.z.ravel(), "norm").pvalue > 0.001
    assert stats.binomtest(int(game.member.sum()), 2000).pvalue > 0.001


def test_a_game_always_has_a_member():
    sizes = [gaussian_game(2, 1, seed).member.sum() for seed in range(200)]
    assert min(sizes) == 1
    # Given that it is not 0, n' of two coins is 1 with probability 2/3.
    assert stats.binomtest(sizes.count(1), 200, 2 / 3).pvalue > 0.001


def test_seed_repeats():
    np.testing.assert_array_equal(gaussian_game(9, 3, 5).z, gaussian_game(9, 3, 5).z)


@pytest.mark.parametrize(("n", "d"), [(1, 5), (0, 5), (5, 0)])
def test_sizes_out_of_range_are_refused(n, d):
    with pytest.raises(InputError, match=f"n={n}, d={d}"):
        gaussian_game(n, d, 0)
