import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from membership.lood import Contrast
from membership.lood.contrast import Distance

POSITIVE = st.floats(1e-6, 30.0)


def pair(e, distance, outputs):
    """A contrast of N(distance, (1 + e) I) and N(0, I)."""
    return Contrast(np.array([e]), np.array([distance**2]), np.array(distance**2 / 2), outputs)


def log_ratio(z, e, distance):
    """log N(z; 0, I) - log N(z; (distance, 0, ...), (1 + e) I)."""
    moved = z - distance * np.eye(z.shape[1])[0]
    squared = np.square(moved).sum(axis=1) / (1 + e) - np.square(z).sum(axis=1)
    return 0.5 * squared + 0.5 * z.shape[1] * np.log1p(e)


def sampled(e, distance, outputs, n, seed=0):
    """Log-likelihood ratios of draws from N(0, I) and from the other."""
    rng = np.random.default_rng(seed)
    inside = rng.standard_normal((n, outputs))
    outside = rng.standard_normal((n, outputs)) * np.sqrt(1 + e)
    outside[:, 0] += distance
    return log_ratio(inside, e, distance), log_ratio(outside, e, distance)


@pytest.mark.parametrize("e", [1e-3, 0.3, 8.0, -0.4])
@pytest.mark.parametrize("distance", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("outputs", [1, 2, 10])
def test_kl_and_auc_agree_with_samples(e, distance, outputs):
    contrast, n = pair(e, distance, outputs), 40_000
    inside, outside = sampled(e, distance, outputs, n)
    for mean, ratio in ((contrast.kl(), -outside), (contrast.kl_reverse(), inside)):
        assert abs(ratio.mean() - mean) < 4 * ratio.std() / np.sqrt(n) + 1e-12
    auc = stats.mannwhitneyu(inside, outside).statistic / n**2
    # The U statistic's standard deviation is at most sqrt(1/(4n)) for two samples of n.
    assert abs(auc - contrast.auc()) < 4 * np.sqrt(0.25 / n)


def reference_auc(e, distance, outputs):
    """P(distance from the ball's centre is smaller with S), as an integral over its levels."""
    lam = distance**2 / e**2

    def caught(u):
        radius = stats.ncx2.ppf(u, outputs, (1 + e) * lam)
        return stats.ncx2.cdf(radius * (1 + e), outputs, lam)

    return quad(caught, 0, 1, epsabs=1e-11, limit=200)[0]


@pytest.mark.parametrize(
    ("e", "distance", "outputs"), [(0.5, 0.8, 2), (2.0, 1.5, 4), (1.0, 2.0, 10)]
)
def test_auc_is_the_integral_over_noncentral_chi_squared_levels(e, distance, outputs):
    assert pair(e, distance, outputs).auc() == pytest.approx(
        reference_auc(e, distance, outputs), abs=1e-9
    )


@pytest.mark.parametrize("outputs", [1, 3])
def test_limits_of_the_auc(outputs):
    assert pair(0.0, 0.0, outputs).auc() == pytest.approx(0.5, abs=1e-14)
    for distance in (1e-3, 0.5, 4.0):
        expected = stats.norm.cdf(distance / np.sqrt(2))
        assert pair(0.0, distance, outputs).auc() == pytest.approx(expected, abs=1e-13)
        assert pair(1e-9, distance, outputs).auc() == pytest.approx(expected, abs=1e-8)
    assert pair(1e12, 0.0, 8).auc() == pytest.approx(1.0, abs=1e-6)
    # One output, equal means: both tails of |z| against |z| sqrt(1 + e).
    expected = 0.5 + (np.arctan(np.sqrt(5.0)) - np.arctan(1 / np.sqrt(5.0))) / np.pi
    assert pair(4.0, 0.0, 1).auc() == pytest.approx(expected, abs=1e-13)


def test_auc_of_several_directions_agrees_with_samples():
    e, shift, n = np.array([0.4, 2.0, 0.05]), np.array([0.3, 0.1, 1.0]), 40_000
    rng = np.random.default_rng(0)
    inside = rng.standard_normal((n, 3))
    outside = rng.standard_normal((n, 3)) * np.sqrt(1 + e) + np.sqrt(shift)

    def ratio(z):
        return 0.5 * (np.square(z - np.sqrt(shift)) / (1 + e) - z**2).sum(axis=1)

    auc = stats.mannwhitneyu(ratio(inside), ratio(outside)).statistic / n**2
    contrast = Contrast(e, shift, np.array(0.0), 1)
    assert abs(auc - contrast.auc()) < 4 * np.sqrt(0.25 / n)


@given(e=POSITIVE, shift=POSITIVE, outputs=st.integers(1, 12), factor=st.floats(1.01, 5.0))
def test_every_measure_is_positive_and_rises_with_both_parts(e, shift, outputs, factor):
    def all_of(e, shift):
        contrast = Contrast(np.array([e]), np.array([shift]), np.array(0.0), outputs)
        return np.array([contrast.kl(), contrast.kl_reverse(), contrast.auc()])

    base = all_of(e, shift)
    assert (base[:2] > 0).all()
    assert 0.5 <= base[2] <= 1
    # KL with the variances' excess is the larger direction (App. C.2, always met).
    assert base[0] >= base[1]
    assert (all_of(e, factor * shift) >= base - 1e-13).all()


@given(e=st.floats(-0.9, 20.0), shift=st.floats(0, 20.0), outputs=st.integers(1, 12))
def test_auc_does_not_mind_which_posterior_is_called_first(e, shift, outputs):
    there = Contrast(np.array([e]), np.array([shift]), np.array(0.0), outputs)
    back = Contrast(np.array([1 / (1 + e) - 1]), np.array([shift / (1 + e)]), there.shift, outputs)
    assert there.auc() == pytest.approx(back.auc(), abs=1e-12)
    assert there.kl() == pytest.approx(back.kl_reverse(), rel=1e-9, abs=1e-12)


# Gauss's rule in t with alpha = sin^2 t: nodes crowd at both ends, where the curve is steep.
_X, _W = np.polynomial.legendre.leggauss(200)
_T = (_X + 1) * np.pi / 4
RATES, WEIGHTS = np.sin(_T) ** 2, _W * np.pi / 4 * np.sin(2 * _T)
EXCESS = [-1 + 1e-12, -0.5, -1e-3, -1e-8, -1e-300, 0.0, 1e-16, 1e-10, 1e-8, 1e-6, 1e-4, 1.0, 1e8]


def assert_area_is_the_auc(contrast):
    missed = contrast.tradeoff(RATES)
    assert ((missed >= 0) & (missed <= 1)).all()
    assert (np.diff(missed) <= 1e-10).all()
    assert 1 - missed @ WEIGHTS == pytest.approx(float(contrast.auc()), abs=1e-8)
    np.testing.assert_array_equal(contrast.tradeoff([0.0, 1.0]), [1.0, 0.0])


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 30])
@pytest.mark.parametrize("distance", [0.0, 1e-10, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("e", EXCESS)
def test_the_tradeoff_has_the_auc_as_its_area(e, distance, outputs):
    assert_area_is_the_auc(pair(e, distance, outputs))


@given(
    low=st.floats(-12, 12),
    high=st.booleans(),
    distance=st.one_of(st.just(0.0), st.floats(-8, 3).map(lambda k: 10.0**k)),
    outputs=st.integers(1, 20),
)
@settings(max_examples=30)
def test_the_area_is_the_auc_for_any_excess(low, high, distance, outputs):
    # Above 0 over 24 orders of magnitude; below it as near to 0 and to -1.
    e = 10.0**low if high else -1 / (1 + 10.0**low)
    assert_area_is_the_auc(pair(e, distance, outputs))


@pytest.mark.parametrize("e", [0.0, 1e-12, -1e-12, 1e-9, -1e-9])
@pytest.mark.parametrize("outputs", [1, 10])
def test_the_tradeoff_of_equal_variances_is_the_normal_one(e, outputs):
    alpha = np.array([1e-300, 1e-10, 0.1, 0.5, 1 - 1e-12])
    expected = stats.norm.sf(stats.norm.ppf(alpha) + 1.5)
    np.testing.assert_allclose(pair(e, 1.5, outputs).tradeoff(alpha), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("e", "distance", "outputs"),
    [(0.8, 1.0, 2), (-0.5, 1.0, 2), (-0.9, 0.0, 1), (1e-8, 1.0, 1), (-1e-3, 2.0, 5), (0, 0.7, 3)],
)
def test_the_tradeoff_agrees_with_samples(e, distance, outputs):
    n = 40_000
    inside, outside = sampled(e, distance, outputs, n)
    alpha = np.array([0.01, 0.1, 0.5])
    threshold = np.quantile(outside, 1 - alpha)
    missed = (inside[:, None] <= threshold).mean(axis=0)
    expected = pair(e, distance, outputs).tradeoff(alpha)
    # Errors of both rates; the curve is no steeper than 20 here.
    assert (np.abs(missed - expected) < 4 * np.sqrt(0.25 / n) + 80 * np.sqrt(alpha / n)).all()


@pytest.mark.parametrize("dimensions", [1, 2, 50])
def test_far_and_near_centres_agree_where_both_hold(dimensions):
    near, far = Distance(999.0, dimensions), Distance(1001.0, dimensions)
    law = stats.ncx2(dimensions, far.centre**2)
    for upper in (False, True):
        p = np.array([1e-40, 1e-6, 0.3, 0.9])
        y = far.standardised_quantile(p, upper)
        x = far.centre**2 + 2 * far.centre * y
        np.testing.assert_allclose(law.sf(x) if upper else law.cdf(x), p, rtol=1e-6)
        np.testing.assert_allclose(far.standardised_tail(y, upper), p, rtol=1e-6)
        np.testing.assert_allclose(near.tail(near.quantile(p, upper), upper), p, rtol=1e-6)


def test_identical_posteriors_cannot_be_told_apart():
    contrast = pair(0.0, 0.0, 3)
    assert contrast.kl() == 0.0
    assert contrast.kl_reverse() == 0.0
    np.testing.assert_allclose(contrast.tradeoff([0.2, 0.7]), [0.8, 0.3])
