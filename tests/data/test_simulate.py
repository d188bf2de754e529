"""Purchase-like records and the Gaussian game against slow simulations of them."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from membership.data import gaussian_game, record_digest, simulate, simulate_purchase
from membership.errors import InputError


def test_form_and_repeatability():
    dataset = simulate_purchase(400, seed=0)
    assert dataset.x.shape == (400, 600)
    assert set(np.unique(dataset.x)) == {0.0, 1.0}
    assert dataset.n_classes == 100
    assert "Simulated" in dataset.source
    assert not dataset.verified
    again = simulate_purchase(400, seed=0)
    assert again.digest == dataset.digest == record_digest(dataset.x.astype(np.uint8), dataset.y)
    assert simulate_purchase(400, seed=1).digest != dataset.digest


def test_two_seeds_draw_from_one_world():
    """Every product sells equally often under both seeds, up to sampling error."""
    first, second = (simulate_purchase(4000, seed).x for seed in (0, 1))
    counts = np.stack([first.sum(axis=0), second.sum(axis=0)]).astype(int)
    p = [stats.fisher_exact([[a, 4000 - a], [b, 4000 - b]]).pvalue for a, b in counts.T[::30]]
    assert min(p) > 0.001 / len(p)


def test_a_product_sells_as_often_as_the_latent_model_says():
    """P(x_j = 1) is the mean of sigmoid(b + s e) over a normal e, s = 4.5 ||a||."""
    loadings, offsets = simulate._products()
    assert loadings.shape == (600, 25)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    spread = 4.5 * np.linalg.norm(loadings, axis=1)
    logits = offsets[:, None] + spread[:, None] * nodes
    expected = (1 / (1 + np.exp(-logits))) @ (weights / weights.sum())
    n = 4000
    share = simulate_purchase(n, seed=2).x.mean(axis=0)
    standard_error = np.sqrt(expected * (1 - expected) / n)
    assert np.max(np.abs(share - expected) / standard_error) < 5


def test_labels_are_the_nearest_centres():
    dataset = simulate_purchase(300, seed=3)
    centres = simulate._centres(100)
    np.testing.assert_array_equal(dataset.y, cdist(dataset.x, centres).argmin(axis=1))


def test_centres_are_those_of_plain_lloyd(monkeypatch):
    monkeypatch.setattr(simulate, "CENTRE_RECORDS", 300)
    centres = simulate._centres.__wrapped__(7)
    x = simulate._draw(300, np.random.default_rng([3, simulate.WORLD_SEED])).astype(float)
    slow = x[:7].copy()
    for _ in range(simulate.LLOYD_ITERATIONS):
        label = cdist(x, slow).argmin(axis=1)
        slow = np.stack([x[label == k].mean(axis=0) for k in range(7)])
    np.testing.assert_allclose(centres, slow, atol=1e-12)


def test_chunks_leave_no_seam(monkeypatch):
    """Records before the last chunk do not depend on how many follow."""
    monkeypatch.setattr(simulate, "CHUNK", 50)
    np.testing.assert_array_equal(
        simulate_purchase(100, seed=0).x, simulate_purchase(150, seed=0).x[:100]
    )


@pytest.mark.parametrize("sizes", [{"n": 0}, {"seed": -1}, {"n_classes": 1}, {"n_classes": 20_001}])
def test_sizes_out_of_range_are_refused(sizes):
    with pytest.raises(InputError, match="simulate_purchase"):
        simulate_purchase(**{"n": 10, "seed": 0, "n_classes": 100, **sizes})


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
def test_a_game_of_no_size_is_refused(n, d):
    with pytest.raises(InputError, match=f"n={n}, d={d}"):
        gaussian_game(n, d, 0)
