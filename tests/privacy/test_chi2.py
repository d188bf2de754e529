import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from membership.privacy import chi2


def reference(x, d, lam):
    """log P(X <= x) as a Poisson mixture of central distributions, with 60 digits.

    P(a, y) = P(a + 1, y) + y^a e^-y / Gamma(a + 1) is followed downwards: every term is added.
    """
    with mp.workdps(60):
        half, y = mp.mpf(lam) / 2, mp.mpf(x) / 2
        last = int(half + 60 * mp.sqrt(half) + 400)
        shape = mp.mpf(d) / 2
        gamma = mp.gammainc(shape + last, 0, y, regularized=True)
        term = mp.exp((shape + last) * mp.log(y) - y - mp.loggamma(shape + last + 1))
        weight = mp.exp(-half + last * mp.log(half) - mp.loggamma(last + 1))
        total = mp.mpf(0)
        for j in range(last, -1, -1):
            total += weight * gamma
            term *= (shape + j) / y
            gamma += term
            weight *= j / half
        return float(mp.log(total))


@pytest.mark.parametrize(
    ("x", "d", "lam"),
    [
        (10.0, 10, 600.0),
        (0.5, 3, 40.0),
        (1.0, 1, 700.0),
        (90.0, 650, 300.0),
        (700.0, 20, 4000.0),
        (950.0, 650, 2000.0),
        (700.0, 2580, 1.0),
        (20.0, 650, 900.0),
        (60.0, 10, 4300.0),
        (1e-40, 5, 2.0),
        (1e-12, 5, 2.0),
        (100.0, 40, 6000.0),
    ],
)
def test_log_cdf_agrees_with_mpmath_far_into_the_lower_tail(x, d, lam):
    expected = reference(x, d, lam)
    assert expected < -5
    assert abs(float(chi2.log_cdf(x, d, lam)) - expected) < 1e-9


def test_it_stays_finite_and_monotone_where_scipy_does_not():
    # d = 10, n = 20, K = 30: SciPy's -inf, and a truth of -212.9 at the first of these.
    x = np.linspace(1e-6, 30, 2000)
    assert np.isneginf(stats.ncx2.logcdf(x[:50], 10, 600.0)).all()
    log_p = chi2.log_cdf(x, 10, 600.0)
    assert np.isfinite(log_p).all()
    assert (np.diff(log_p) > 0).all()


@pytest.mark.parametrize("d", [1, 2, 3, 10, 50, 650, 2580])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 30.0, 600.0, 3e5])
def test_all_three_agree_with_scipy_where_scipy_is_good(d, lam):
    law = stats.ncx2(d, lam)
    x = law.mean() + law.std() * np.array([-4, -3, -2, -1, -0.1, 0, 0.1, 1, 2, 3, 5])
    x = x[x > 0]
    np.testing.assert_allclose(chi2.log_cdf(x, d, lam), law.logcdf(x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(chi2.log_sf(x, d, lam), law.logsf(x), rtol=1e-9, atol=1e-12)
    log_pdf = law.logpdf(x)
    good = np.isfinite(log_pdf)  # SciPy's is -inf even at the mean for d = 650 and small lam
    np.testing.assert_allclose(chi2.log_pdf(x, d, lam)[good], log_pdf[good], rtol=1e-9, atol=1e-11)


def test_without_noncentrality_it_is_the_central_law():
    x, central = np.array([0.01, 1.0, 7.0, 30.0, 200.0]), stats.chi2(7)
    # The logarithm of the larger tail by the smaller: not every SciPy does so itself.
    below = np.where(x < 7, central.logcdf(x), np.log1p(-np.minimum(central.sf(x), 0.9)))
    above = np.where(x < 7, np.log1p(-np.minimum(central.cdf(x), 0.9)), central.logsf(x))
    np.testing.assert_allclose(chi2.log_cdf(x, 7, 0.0), below, rtol=1e-11)
    np.testing.assert_allclose(chi2.log_sf(x, 7, 0.0), above, rtol=1e-11)


def test_ends_of_the_line():
    x = np.array([0.0, np.inf])
    np.testing.assert_array_equal(chi2.log_cdf(x, 5, 2.0), [-np.inf, 0.0])
    np.testing.assert_array_equal(chi2.log_sf(x, 5, 2.0), [0.0, -np.inf])
    np.testing.assert_array_equal(chi2.quantile(np.array([-np.inf, 0.0]), 5, 2.0), [0.0, np.inf])


@settings(max_examples=60)
@given(
    log_p=st.floats(-600, -1e-9),
    d=st.sampled_from([1, 2, 7, 50, 650, 2580]),
    lam=st.floats(1e-3, 1e6),
)
def test_quantile_inverts_log_cdf(log_p, d, lam):
    x = chi2.quantile(np.array([log_p]), d, lam)
    if x[0] > 1e-200:
        upper = log_p > -np.log(2)
        found = chi2.log_sf(x, d, lam) if upper else chi2.log_cdf(x, d, lam)
        expected = np.log(-np.expm1(log_p)) if upper else log_p
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_a_far_tail_beside_a_near_one_is_as_alone():
    """Far out the integrand is much narrower than its place: four digits of that are too few."""
    d, noncentrality = 1e7, 1.001e11
    mean, sd = d + noncentrality, np.sqrt(2 * (d + 2 * noncentrality))
    x = np.array([mean + sd, mean + 100 * sd, 2 * mean, 100 * mean])
    found = chi2.log_sf(x, d, noncentrality)
    alone = np.array([chi2.log_sf(one, d, noncentrality) for one in x])
    np.testing.assert_allclose(found, alone, rtol=1e-9)
    # Chernoff's bound, from which the tail is a factor away.
    u = (d + np.sqrt(d * d + 4 * noncentrality * x)) / (2 * x)
    s = (1 - u) / 2
    bound = noncentrality * s / u - d / 2 * np.log(u) - s * x
    assert (found < bound).all()
    np.testing.assert_allclose(found[1:], bound[1:], rtol=1e-2)
