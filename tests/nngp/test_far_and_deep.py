"""Kernels far from the origin, deep in chaos, and at the end of float64: right, or refused."""

import mpmath
import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError

RNG = np.random.default_rng(3)
RECORDS = RNG.normal(size=(20, 5))
ONES = np.ones(19)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7, 3e7, 1e9])
def test_an_rbf_kernel_is_of_differences_wherever_the_records_lie(offset):
    kernel = nngp.rbf(0.7)
    there = RECORDS + offset
    apart = there[:, None] - there[None]
    expected = np.exp(-0.7 * np.square(apart).mean(-1))
    np.testing.assert_allclose(kernel(there), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(there, there[:4]), expected[:, :4], rtol=1e-12)
    np.testing.assert_array_equal(np.diagonal(kernel(there)), 1.0)


@pytest.mark.parametrize("spread", [1e3, 1e6])
def test_an_rbf_kernel_of_two_far_groups_keeps_the_digits_of_each(spread):
    two = np.concatenate([RECORDS, RECORDS + spread])
    apart = two[:, None] - two[None]
    expected = np.exp(-np.square(apart).mean(-1))
    np.testing.assert_allclose(nngp.rbf(1.0)(two), expected, rtol=1e-9, atol=1e-300)


DEEP = [("erf", 1.98, 100), ("erf", 3.0, 50), ("erf", 5.0, 30), ("gelu", 1.9822, 30)]


@pytest.mark.parametrize(("activation", "w_std", "depth"), DEEP)
def test_a_record_meets_itself_as_exactly_in_the_matrix_as_on_the_diagonal(
    activation, w_std, depth
):
    kernel = nngp.fully_connected(depth, activation, w_std, 0.1)
    matrix = kernel(RECORDS)
    np.testing.assert_allclose(np.diagonal(matrix), kernel.diagonal(RECORDS), rtol=1e-12)
    assert np.isfinite(matrix).all()


COPIED = RECORDS[[0, 1, 2, 3, 4, 5, 0, 1]]


def erf_by_hand(x, depth, w_std, b_std):
    """The recursion in 60 digits."""
    with mpmath.workdps(60):
        w, bias = mpmath.mpf(w_std) ** 2, mpmath.mpf(b_std) ** 2
        rows = [[mpmath.mpf(float(v)) for v in row] for row in x]
        products = [[sum(map(mpmath.fmul, r, s)) / len(r) for s in rows] for r in rows]
        k = [[w * p + bias for p in row] for row in products]
        for _ in range(depth):
            k = [
                [
                    w
                    * (2 / mpmath.pi)
                    * mpmath.asin(2 * k[i][j] / mpmath.sqrt((1 + 2 * k[i][i]) * (1 + 2 * k[j][j])))
                    + bias
                    for j in range(len(k))
                ]
                for i in range(len(k))
            ]
        return np.array([[float(v) for v in row] for row in k])


chaotic = pytest.mark.parametrize(("w_std", "depth"), [(1.98, 100), (3.0, 50), (10.0, 30)])


@chaotic
def test_a_chaotic_network_knows_a_record_and_its_copy(w_std, depth):
    kernel = nngp.fully_connected(depth, "erf", w_std, 0.1)
    found, expected = kernel(COPIED), erf_by_hand(COPIED, depth, w_std, 0.1)
    np.testing.assert_allclose(np.diagonal(found), kernel.diagonal(COPIED), rtol=1e-15)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(kernel(RECORDS[:6], COPIED), found[:6], rtol=1e-12)


@chaotic
def test_so_does_its_form_in_jax(w_std, depth):
    pytest.importorskip("jax")
    kernel = nngp.fully_connected(depth, "erf", w_std, 0.1)
    with nngp.float64():
        found = kernel.traceable(RECORDS[:6], COPIED)
    np.testing.assert_allclose(found, kernel(RECORDS[:6], COPIED), rtol=1e-9)


@pytest.mark.parametrize("depth", [50, 100])
def test_a_deep_gelu_network_grows_as_a_relu_network_does(depth):
    """At the released deviation: what is far from 0 passes, and cancels nothing."""
    kernel, x = nngp.fully_connected(depth, "gelu", 1.9822), 1e3 * RECORDS
    relu = nngp.fully_connected(depth, "relu", 1.9822)(x)
    np.testing.assert_allclose(kernel(x), relu, rtol=1e-3)
    np.testing.assert_allclose(np.diagonal(kernel(x)), kernel.diagonal(x), rtol=1e-12)


OVERFLOWING = {
    "a polynomial of large records": (nngp.polynomial(5), 1e40 * RECORDS),
    "GeLU that explodes": (nngp.fully_connected(3000, "gelu", 1.9822, 0.1), RECORDS),
}


@pytest.mark.parametrize(("kernel", "records"), OVERFLOWING.values(), ids=OVERFLOWING)
def test_what_overflows_is_refused(kernel, records):
    for call in (
        lambda: kernel(records),
        lambda: kernel.diagonal(records),
        lambda: lood.compare(kernel, records[1:], ONES, (records[0], 1.0), 0.1),
    ):
        with pytest.raises(InputError, match="leaves float64 at these records"):
            call()


def test_the_kernel_of_a_blank_record_has_a_gradient_or_none_to_be_had():
    pytest.importorskip("jax")
    records = np.concatenate([RECORDS, np.zeros((1, 5))])
    y = np.sign(records[:, 0])
    kernel = nngp.fully_connected(2, "relu", np.sqrt(2), 0.0)
    compared = lood.compare(kernel, records[1:], y[1:], (records[0], y[0]), 0.1)
    with pytest.raises(InputError, match="has no variance under the kernel"):
        lood.gradient(compared, np.zeros(5))
    with_bias = lood.compare(
        nngp.fully_connected(2, "relu", 1.4, 0.3), records[1:], y[1:], (records[0], y[0]), 0.1
    )
    value, slope = lood.gradient(with_bias, np.zeros(5))
    assert value > 0
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("noise", [1e3, 1e8, 1e12, 1e100, 1e300])
def test_leaving_one_out_keeps_its_digits_under_much_noise(noise):
    matrix = nngp.rbf(1.0)(RECORDS)
    found = lood.leave_one_out(matrix, RECORDS[:, 0], noise)
    # To first order in 1 / noise nothing is explained: the variance is the prior's.
    exact = []
    for i in range(len(matrix)):
        rest = np.delete(np.arange(len(matrix)), i)
        cross = matrix[i, rest]
        inner = np.linalg.solve(matrix[np.ix_(rest, rest)] + noise * np.eye(len(rest)), cross)
        exact.append(matrix[i, i] - cross @ inner)
    np.testing.assert_allclose(found.variance, exact, rtol=1e-9)
    assert (np.abs(found.auc - 0.5) < 0.5).all()


def test_next_to_no_noise_gives_finite_numbers_without_a_warning():
    found = lood.leave_one_out(nngp.rbf(1.0)(RECORDS), RECORDS[:, 0], 1e-300)
    for numbers in (found.kl, found.auc, found.variance):
        assert np.isfinite(numbers).all()
    np.testing.assert_allclose(found.auc, 1.0)
