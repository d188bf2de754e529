"""Levels of one step and of many, and the noise that reaches them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from membership import privacy
from membership.book import published


def test_corollary_5_1_at_typical_susceptibility():
    for d, n in ((650, 500), (2580, 1970), (1026, 790)):
        expected = math.sqrt(2 * d / (2 * n + 1))
        assert privacy.mip_mu_step(d, n, d) == pytest.approx(expected, rel=1e-14)
        assert round(expected, 2) == 1.14


def test_corollary_5_1_is_the_formula():
    n_e = 30 + (0.2 * 30 / 3.0) ** 2
    expected = (12 + (2 * n_e - 1) * 20) / (n_e * math.sqrt(24 + 4 * n_e * 20))
    assert privacy.mip_mu_step(12, 30, 20, 0.2, 3.0) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("d", "n"), [(650, 400), (2580, 795), (1026, 1000)])
def test_corollary_f_1_translates_the_noise_of_one_step(d, n):
    free = privacy.mip_mu_step(d, n, d)
    for mu in (0.1, 0.7 * free):
        tau = 2 / (n * mu)  # of mu-GDP at C = 1
        alone = privacy.mip_mu_step(d, n, d, tau, 1.0)
        assert privacy.mip_mu_of_gdp(mu, d, n) == pytest.approx(min(alone, mu), rel=1e-12)
        assert privacy.gdp_mu_of_mip(alone, d, n) == pytest.approx(mu, rel=1e-9)
    assert privacy.gdp_mu_of_mip(free, d, n) == math.inf
    # Only this near to the level without noise does Corollary 5.1 ask for less than GDP.
    edge = math.sqrt((2 * d - 8) / (2 * n + 1))
    assert privacy.mip_mu_of_gdp(0.999 * edge, d, n) == 0.999 * edge
    assert privacy.mip_mu_of_gdp(1.001 * edge, d, n) < 1.001 * edge


def test_five_steps_of_figure_2c_have_a_level_of_2_548():
    five = privacy.composed_mu(privacy.mip_mu_step(650, 500, 650), 5)
    assert five == pytest.approx(2.548, abs=5e-4)


def test_the_plain_distance_is_the_weaker_statistic_under_noise():
    for tau in (0.0, 0.5, 2.0):
        best = privacy.mip_mu_step(50, 100, 50, tau, 1.0)
        plain = privacy.mip_mu_step(50, 100, 50, tau, 1.0, statistic="distance")
        assert plain <= best * (1 + 1e-12)
        assert (plain == pytest.approx(best, rel=1e-12)) == (tau == 0.0)


def test_the_plain_distance_against_its_simulation():
    """The distance's two laws, simulated as such: the mean shift in units of the null's spread."""
    d, n, k, n_e = 400, 60, 400.0, 200.0
    tau = math.sqrt(n_e - n) / n
    rng = np.random.default_rng(0)
    shift = np.zeros(d)
    shift[0] = math.sqrt(k)
    distance = {}
    for inside, (centre, variance) in {
        False: (shift, n_e / n**2),
        True: (shift * (n - 1) / n, (n_e - 1) / n**2),
    }.items():
        y = centre + math.sqrt(variance) * rng.standard_normal((20_000, d))
        distance[inside] = np.square(y).sum(axis=1)
    mu = (distance[False].mean() - distance[True].mean()) / distance[False].std()
    expected = privacy.mip_mu_step(d, n, k, tau, 1.0, statistic="distance")
    assert mu == pytest.approx(expected, abs=4 * math.sqrt(2 / 20_000) + 0.02 * expected)


def test_a_flat_spectrum_is_the_bound_with_that_eigenvalue():
    flat = privacy.mip_mu_spectrum(np.full(300, 0.7), 100, 0.5)
    assert flat == pytest.approx(privacy.mip_mu_step(300, 100, 300, 0.5, math.sqrt(0.7)), rel=1e-12)
    without = privacy.mip_mu_spectrum([5.0, 1e-6], 100)
    assert without == pytest.approx(privacy.mip_mu_step(2, 100, 2), rel=1e-12)


def test_gdp_step():
    assert privacy.gdp_mu_step(400, 0.8, 500.0) == pytest.approx(2 * 500 / (400 * 0.8))
    assert privacy.gdp_mu_step(400, 0.0, 500.0) == math.inf


def test_numpy_numbers_are_numbers():
    given = (np.int64(10), np.float32(20), np.float64(10))
    assert privacy.mip_mu_step(*given) == privacy.mip_mu_step(10, 20, 10)
    assert privacy.subsampled_mu(math.inf, 10, 50, np.int32(3)) == math.inf


def test_composition_without_subsampling():
    assert privacy.composed_mu(1.14, 5) == pytest.approx(1.14 * math.sqrt(5))


def test_equation_10_as_printed():
    mu, n, n_records, steps = 0.9, 100, 1000, 250
    c = n * math.sqrt(steps) / n_records
    phi = stats.norm.cdf
    root = math.exp(mu**2) * phi(1.5 * mu) + 3 * phi(-0.5 * mu) - 2
    found = privacy.subsampled_mu(mu, n, n_records, steps)
    assert found == pytest.approx(math.sqrt(2) * c * math.sqrt(root), rel=1e-12)


def test_the_fixed_order_is_the_chi_squared_divergence():
    mu = 0.8

    def integrand(z):
        return stats.norm.pdf(z) * (math.exp(mu * z - mu**2 / 2) - 1) ** 2

    divergence = quad(integrand, -12, 14)[0]
    found = privacy.subsampled_mu(mu, 50, 1000, 90, order="fixed")
    assert found == pytest.approx(50 / 1000 * math.sqrt(90 * divergence), rel=1e-9)


@given(mu=st.floats(1e-8, 1e-2))
def test_small_levels_do_not_cancel(mu):
    # Both tend to c mu: exp(mu^2) Phi + 3 Phi - 2 is mu^2 / 2 to leading order.
    for order in ("either", "fixed"):
        found = privacy.subsampled_mu(mu, 100, 100, 1, order=order)
        assert found == pytest.approx(mu, rel=mu + 1e-6)


CASES = {
    "CIFAR-10": (650, 400, 48_000, 10, 500.0),
    "Purchase": (2580, 795, 54_855, 3, 2000.0),
    "Adult": (1026, 1000, 43_000, 20, 800.0),
}
LEVELS = np.exp(np.linspace(math.log(0.4), math.log(50), 20))


def noise_free(n, n_records, epochs, d):
    step = privacy.mip_mu_step(d, n, d)
    return privacy.subsampled_mu(step, n, n_records, math.ceil(n_records * epochs / n))


def noise(mu, notion, case, statistic="likelihood-ratio"):
    d, n, n_records, epochs, clip = case
    steps = math.ceil(n_records * epochs / n)
    return privacy.required_noise(mu, notion, d, n, d, clip, n_records, steps, statistic=statistic)


@pytest.mark.parametrize("statistic", ["likelihood-ratio", "distance"])
def test_table_5_is_reproduced(statistic):
    printed = published.table("gmip_table5")
    assert len(printed) == 120
    for (dataset, method), rows in printed.groupby(["dataset", "method"], sort=False):
        notion = {"MIP": "mip", "DP": "gdp"}[method]
        found = [noise(mu, notion, CASES[dataset], statistic) for mu in LEVELS]
        np.testing.assert_allclose(found, rows["tau"], atol=0.005)
        np.testing.assert_allclose(LEVELS, rows["mu"], atol=0.005)


@pytest.mark.parametrize("name", CASES)
def test_the_noise_gives_the_level_back(name):
    d, n, n_records, epochs, clip = CASES[name]
    steps = math.ceil(n_records * epochs / n)
    for mu in (0.2, 0.5, 3.0):
        tau = noise(mu, "gdp", CASES[name])
        step = privacy.gdp_mu_step(n, tau, clip)
        assert privacy.subsampled_mu(step, n, n_records, steps) == pytest.approx(mu, rel=1e-9)
    tau = noise(0.4, "mip-alone", CASES[name])
    step = privacy.mip_mu_step(d, n, d, tau, clip)
    assert privacy.subsampled_mu(step, n, n_records, steps) == pytest.approx(0.4, rel=1e-9)


def test_no_noise_where_the_level_is_reached_without():
    assert noise(0.79, "mip", CASES["CIFAR-10"]) == 0.0
    assert noise(0.78, "mip", CASES["CIFAR-10"]) > 0.0
    assert privacy.required_noise(5.0, "mip", 650, 400, 650, None, 48_000, 1200) == 0.0


def test_membership_never_needs_more_than_gdp():
    for case in CASES.values():
        for mu in LEVELS:
            alone, gdp = noise(mu, "mip-alone", case), noise(mu, "gdp", case)
            assert noise(mu, "mip", case) == min(alone, gdp)


@pytest.mark.parametrize("name", CASES)
def test_only_just_below_the_noise_free_level_is_corollary_5_1_below_gdp(name):
    d, n, n_records, epochs, _ = CASES[name]
    free = noise_free(n, n_records, epochs, d)
    for share, cheaper in ((0.9, False), (0.99, False), (0.999, True)):
        mu = share * free
        alone, gdp = noise(mu, "mip-alone", CASES[name]), noise(mu, "gdp", CASES[name])
        assert (0 < alone < gdp) == cheaper
    # No level of Table 5 lies in that window.
    assert not ((free * 0.99 < LEVELS) & (free > LEVELS)).any()


def test_corollary_5_1_just_below_the_noise_free_level_of_cifar():
    mu = 0.995 * noise_free(400, 48_000, 10, 650)
    assert noise(mu, "mip-alone", CASES["CIFAR-10"]) == pytest.approx(1.71, abs=0.005)
    assert noise(mu, "gdp", CASES["CIFAR-10"]) == pytest.approx(1.97, abs=0.005)


@given(mu=st.floats(1e-6, 50), more=st.floats(0, 5))
def test_more_leakage_a_step_is_more_leakage_in_all(mu, more):
    for order in ("either", "fixed"):
        low = privacy.subsampled_mu(mu, 10, 100, 20, order=order)
        assert privacy.subsampled_mu(mu + more, 10, 100, 20, order=order) >= low * (1 - 1e-12)
    assert privacy.subsampled_mu(mu, 10, 100, 20) >= low * (1 - 1e-9)
