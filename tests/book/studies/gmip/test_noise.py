"""The best attack under noise."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from membership import privacy
from membership.book.studies.gmip import noise

SETTINGS = SimpleNamespace(seed=0, simulated_repeats=3, simulated_records=2000)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(noise, "SIZES", {"CIFAR-10": (130, 100)})
    monkeypatch.setattr(noise, "CLIPPED", ((65, 50, 0.5), (2, 20, 0.1)))


def test_the_log_ratio_is_that_of_two_normal_densities():
    rng = np.random.default_rng(3)
    n, tau, variance = 6, 0.3, np.array([2.0, 0.5, 1.0])
    mean, x = rng.standard_normal(3), rng.standard_normal((4, 3))
    inside, out = variance * (n - 1) / n**2 + tau**2, variance / n + tau**2
    expected = [
        stats.multivariate_normal.logpdf(mean, each / n, np.diag(inside))
        - stats.multivariate_normal.logpdf(mean, np.zeros(3), np.diag(out))
        for each in x
    ]
    found = noise.log_ratio(mean, x, variance, n, tau)
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-10)


def test_noise_that_halves_the_level_takes_the_auc_of_half_the_level():
    tau = noise.halving_noise(130, 100, 1.0)
    whole, half = (privacy.mip_mu_step(130, 100, 130, each, 1.0) for each in (0.0, tau))
    assert half == pytest.approx(whole / 2)
    table = noise.under_noise([], SETTINGS).set_index(["case", "quantity"])["value"]
    at = table[noise.HALVED]
    assert at[noise.WITHOUT] == pytest.approx(100 * privacy.gaussian_auc(whole), abs=1.5)
    assert at[noise.WITH] == pytest.approx(100 * privacy.gaussian_auc(half), abs=1.5)


def test_clipped_gradients_with_noise_for_gdp_stay_below_its_curve():
    table = noise.under_noise([], SETTINGS)
    excess = table[table["quantity"] == noise.EXCESS]
    assert len(excess) == len(noise.GDP_LEVELS) * len(noise.CLIPPED)
    # The greatest of ten estimated rates, where the curve itself is near 1.
    assert excess["value"].max() < 0.5


def test_noise_of_half_the_level_hides_records(gathered):
    table = noise.under_noise([gathered["noised-digits"]], SETTINGS)
    at = table.set_index(["data", "quantity"])["value"]
    assert at["digits", noise.WITHOUT] > 60
    assert 45 < at["digits", noise.WITH] < 55
