import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from membership import privacy

ALPHA = np.array([0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])


def test_gaussian_tradeoff_is_definition_4_3():
    expected = stats.norm.cdf(stats.norm.ppf(1 - ALPHA) - 1.3)
    np.testing.assert_allclose(privacy.gaussian_tradeoff(ALPHA, 1.3), expected, rtol=1e-12)
    np.testing.assert_allclose(privacy.gaussian_tpr(ALPHA, 1.3), 1 - expected, rtol=1e-12)


def test_gaussian_tpr_keeps_its_precision_in_the_tail():
    with mp.workdps(50):
        quantile = mp.findroot(lambda z: mp.log(mp.ncdf(z)) + 200 * mp.log(10), -30)
        expected = float(mp.ncdf(quantile + mp.mpf(2)))
    assert float(privacy.gaussian_tpr(1e-200, 2.0)) == pytest.approx(expected, rel=1e-11)


def test_ends_of_both_curves():
    ends = [0.0, 1.0]
    np.testing.assert_array_equal(privacy.gaussian_tradeoff(ends, 3.0), [1.0, 0.0])
    np.testing.assert_array_equal(privacy.gaussian_tpr(ends, 3.0), [0.0, 1.0])
    np.testing.assert_array_equal(privacy.mip_tradeoff(ends, 10, 20, 10), [1.0, 0.0])
    np.testing.assert_array_equal(privacy.mip_tpr(ends, 10, 20, 10), [0.0, 1.0])
    np.testing.assert_array_equal(privacy.gaussian_tradeoff(ends, np.inf), [1.0, 0.0])


def test_gaussian_auc_is_the_area():
    alpha = np.linspace(0, 1, 200_001)
    area = np.trapezoid(privacy.gaussian_tpr(alpha, 1.2), alpha)
    assert privacy.gaussian_auc(1.2) == pytest.approx(area, abs=1e-5)


def test_theorem_5_1_is_the_formula_with_scipys_distribution():
    d, n, k = 50, 20, 70.0
    inside = stats.ncx2.ppf(ALPHA, d, n * k) * n / (n - 1)
    expected = 1 - stats.ncx2.cdf(inside, d, (n - 1) * k)
    np.testing.assert_allclose(privacy.mip_tradeoff(ALPHA, d, n, k), expected, atol=1e-10)
    np.testing.assert_allclose(privacy.mip_tpr(ALPHA, d, n, k), 1 - expected, atol=1e-10)


def test_noise_acts_through_the_effective_batch():
    # n_e = 10 + 0.3^2 10^2 / 2^2 = 12.25
    assert privacy.effective_batch_size(10, 0.3, 2.0) == pytest.approx(12.25)
    with_noise = privacy.mip_tradeoff(ALPHA, 5, 10, 5, 0.3, 2.0)
    np.testing.assert_allclose(with_noise, privacy.mip_tradeoff(ALPHA, 5, 12.25, 5), rtol=1e-12)


def test_it_approaches_the_gaussian_curve():
    distances = []
    for d, n in ((10, 8), (65, 50), (650, 500), (6500, 5000)):
        mu = privacy.mip_mu_step(d, n, d)
        difference = privacy.mip_tradeoff(ALPHA, d, n, d) - privacy.gaussian_tradeoff(ALPHA, mu)
        distances.append(np.abs(difference).max())
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.005
    assert distances[-1] < 1e-4


@settings(max_examples=40)
@given(
    d=st.integers(1, 3000),
    n=st.integers(2, 5000),
    ratio=st.floats(0.1, 5.0),
)
def test_it_is_a_trade_off_function(d, n, ratio):
    alpha = np.linspace(0, 1, 41)
    beta = privacy.mip_tradeoff(alpha, d, n, ratio * d)
    assert (np.diff(beta) <= 1e-12).all()
    assert (beta <= 1 - alpha + 1e-9).all()
    assert (np.diff(beta, 2) >= -1e-9).all()


@pytest.mark.parametrize("mu", [0.5, 2.0, 8.0])
def test_epsilon_of_gaussian_privacy_gives_delta_back(mu):
    epsilon = privacy.gaussian_epsilon(mu, 1e-5)
    at, away = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    delta = stats.norm.cdf(at) - np.exp(epsilon + stats.norm.logcdf(away))
    assert delta == pytest.approx(1e-5, rel=1e-3)
    assert privacy.gaussian_epsilon(1e-9, 0.5) == 0
