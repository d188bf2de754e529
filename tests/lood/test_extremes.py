"""Noise far from the kernel's size, kernels that vanish or overflow, queries without variance."""

import mpmath
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from membership import lood, nngp
from membership.errors import InputError

pytestmark = pytest.mark.usefixtures("quickly_compiled")
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 4)), RNG.normal(size=9)
SPLIT = X[:8], Y[:8], (X[8], Y[8])
RELU = nngp.fully_connected(2, "relu")
AT_SIZE = nngp.rbf()(X)


def by_hand(matrix, y, noise, i):
    """Variance, KL and its reverse of one record left out, in 400 digits."""
    with mpmath.workdps(400):
        noise, n = mpmath.mpf(noise), len(y)
        inverse = mpmath.inverse(mpmath.matrix(matrix.tolist()) + noise * mpmath.eye(n))
        variance = 1 / inverse[i, i] - noise
        residual = (inverse * mpmath.matrix(y.tolist()))[i] / inverse[i, i]
        e, u = variance / noise, -variance / (variance + noise)
        shift = residual**2 * variance / (variance + noise) / noise
        kl = (e - mpmath.log1p(e) + shift) / 2
        reverse = (u - mpmath.log1p(u) + shift / (1 + e)) / 2
        return float(variance), float(kl), float(reverse)


@pytest.mark.parametrize("noise", [1e-300, 1e-15, 1e-6, 1.0, 1e4, 1e8, 1e12, 1e16, 1e100])
def test_any_noise_is_right(noise):
    found = lood.leave_one_out(AT_SIZE, Y, noise)
    for i in (0, 4):
        variance, kl, reverse = by_hand(AT_SIZE, Y, noise, i)
        assert found.variance[i] == pytest.approx(variance, rel=1e-9)
        assert found.kl[i] == pytest.approx(kl, rel=1e-9)
        assert found.kl_reverse[i] == pytest.approx(reverse, rel=1e-9)
    assert ((found.auc >= 0.5) & (found.auc <= 1.0)).all()


@pytest.mark.parametrize("noise", [1e-9, 1e8, 1e12, 1e16])
def test_the_comparison_at_the_record_is_the_same(noise):
    found = lood.leave_one_out(AT_SIZE, Y, noise)
    for measure in ("kl", "auc"):
        value = lood.distinguishability(nngp.rbf(), *SPLIT, X[8], noise, measure)
        assert value == pytest.approx(getattr(found, measure)[8], rel=1e-5)


def test_a_kernel_far_from_the_origin_is_that_of_the_differences():
    expected = lood.distinguishability(nngp.rbf(), *SPLIT, X[8], 0.1)
    for offset in (1e6, 1e7, 1e8):
        far = (X[:8] + offset, Y[:8], (X[8] + offset, Y[8]))
        value = lood.distinguishability(nngp.rbf(), *far, X[8] + offset, 0.1)
        assert value == pytest.approx(expected, rel=1e-6)
        compared = lood.compare(nngp.rbf(), *far, 0.1)
        assert lood.gradient(compared, X[8] + offset)[0] == pytest.approx(value, rel=1e-9)


def test_a_chaotic_network_tells_the_same_both_ways():
    for depth in (20, 30, 100):
        kernel = nngp.fully_connected(depth, "erf", 10.0, 0.1)
        found = lood.leave_one_out(kernel(X), Y, 0.05).kl[8]
        compared = lood.compare(kernel, *SPLIT, 0.05)
        assert compared.measure(X[8]) == pytest.approx(found, rel=1e-9)
        assert lood.gradient(compared, X[8])[0] == pytest.approx(found, rel=1e-9)


def test_a_small_kernel_is_as_small_as_it_is():
    kernel = nngp.fully_connected(100, "gelu")
    found = lood.leave_one_out(kernel(X), Y, 0.05)
    np.testing.assert_allclose(found.variance, kernel.diagonal(X), rtol=1e-12)
    assert (found.kl > 0).all()
    assert lood.distinguishability(kernel, *SPLIT, X[8], 0.05) == pytest.approx(found.kl[8])


GONE = nngp.fully_connected(10_000, "gelu")
HUGE = nngp.polynomial(5)


def at(query, kernel=RELU, **changes):
    return lambda: lood.distinguishability(kernel, *SPLIT, query, changes.get("noise", 0.1))


REFUSED = [
    (lambda: lood.leave_one_out(GONE(X), Y, 0.1), "the kernel has vanished"),
    (at(X[8], GONE), "the kernel has vanished"),
    (at(1e-170 * X[8]), "the kernel has vanished: it is 0 at a query that is not"),
    (at(1e60 * X[8], HUGE), "leaves float64"),
    (at(X[8], noise=1e-300), "the variance at a query is lost in the rounding"),
    (lambda: lood.leave_one_out(AT_SIZE, Y, 1e-320), "excess = inf"),
    (lambda: lood.leave_one_out(np.ones((3, 3)), [1, 2, 3], 1e-17), "rounding"),
    (
        lambda: lood.distinguishability(
            HUGE, 1e20 * X[:8], Y[:8], (1e20 * X[8], Y[8]), 1e20 * X[8], 0.1
        ),
        r"the kernel has entries up to 2.*give at most 1e\+75",
    ),
    (
        lambda: lood.compare_normalised(RELU, *SPLIT, 0.1).measure(X[:8].mean(axis=0)),
        "the posteriors are beyond comparison: excess = -1",
    ),
    (at(X[8], Matern), r"kernel = <class .*Matern.*give a kernel of membership.nngp"),
    (at(X[8], "rbf"), "kernel = 'rbf'"),
    (
        lambda: lood.gradient(lood.compare(RELU, *SPLIT, 0.1), np.zeros(4)),
        "query 0 has no variance",
    ),
    (
        lambda: lood.maximise(lood.compare(RELU, *SPLIT, 0.1), np.zeros((1, 4)), progress=False),
        "start 0 has no variance under the kernel",
    ),
    (
        lambda: lood.maximise_each(RELU, X, Y, 0.1, [3], np.zeros((1, 4)), progress=False),
        "start 0 has no variance under the kernel",
    ),
    (
        lambda: lood.maximise(
            lood.compare(HUGE, *SPLIT, 0.1), X[:1], learning_rate=1e70, progress=False
        ),
        r"learning_rate = 1e\+70: the query of start 0 left float64",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_has_no_digit_left_is_one_line(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_the_mean_distance_has_a_gradient_at_a_black_image():
    compared = lood.compare(RELU, *SPLIT, 0.1)
    value, slope = lood.gradient(compared, np.zeros(4), "mean")
    assert value == 0
    np.testing.assert_array_equal(slope, np.zeros(4))
    assert compared.measure(np.zeros((2, 4)), joint=True) == 0


def test_a_black_patch_has_the_mean_slope_of_its_sides():
    images = RNG.normal(size=(6, 1, 4, 4))
    query = images[5].copy()
    query[:, 2:, 2:] = 0
    compared = lood.compare(nngp.convolutional(1), images[:5], Y[:5], (images[5], Y[5]), 0.1)
    slope = lood.gradient(compared, query, "mean")[1]
    for step in (np.eye(16)[15], np.eye(16)[10], np.eye(16)[0]):
        step = 1e-6 * step.reshape(1, 4, 4)
        up, down = (compared.measure(query + sign * step, "mean") for sign in (1, -1))
        assert (slope * step).sum() == pytest.approx((up - down) / 2, rel=1e-4, abs=1e-15)
