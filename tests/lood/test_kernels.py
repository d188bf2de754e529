"""Kernels of any make: the same numbers by every road, those of refits with scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from membership import lood, nngp
from membership.errors import InputError

RNG = np.random.default_rng(0)
X, Y, Q = RNG.normal(size=(30, 3)), RNG.normal(size=30), RNG.normal(size=(4, 3))
NOISE, N, S = 0.1, np.arange(30), 7
REST = np.delete(N, S)
KERNEL = Matern(length_scale=1.3, nu=2.5)
ALL = KERNEL(np.concatenate([X, Q]))
BLOCKS = KERNEL(X), KERNEL(Q, X), KERNEL(Q)


def by_hand(x1, x2):
    r = np.sqrt(5) * cdist(x1, x2) / 1.3
    return (1 + r + r**2 / 3) * np.exp(-r)


class Duck:
    """What a kernel was before functions were taken."""

    def __call__(self, x1, x2=None):
        return by_hand(x1, x1 if x2 is None else x2)

    def diagonal(self, x):
        return np.ones(len(x))


def gpytorch():
    with warnings.catch_warnings():
        # It and what it imports use torch's compiler of old.
        warnings.simplefilter("ignore", DeprecationWarning)
        package = pytest.importorskip("gpytorch")
    kernel = package.kernels.MaternKernel(nu=2.5).double()
    kernel.lengthscale = 1.3
    return kernel


def refit(rows, query):
    """Mean and covariance of the latent function, by scikit-learn."""
    process = GaussianProcessRegressor(KERNEL, alpha=NOISE, optimizer=None).fit(X[rows], Y[rows])
    return process.predict(query, return_cov=True)


def kl(query):
    (mean, covariance), (mean_s, covariance_s) = refit(REST, query), refit(N, query)
    inverse, moved = np.linalg.inv(covariance_s), mean - mean_s
    logs = np.linalg.slogdet(covariance_s)[1] - np.linalg.slogdet(covariance)[1]
    spread = np.trace(inverse @ covariance) - len(mean)
    return 0.5 * (logs + spread + moved @ inverse @ moved)


def records(kernel):
    """Data without S, S and queries, as the kernel takes them."""
    if callable(kernel):
        return (X[REST], Y[REST], (X[S], Y[S]), Q), (X, X[S])
    return (REST, Y[REST], (S, Y[S]), 30 + np.arange(4)), (N, S)


ROADS = [
    pytest.param(lambda: KERNEL, id="scikit-learn"),
    pytest.param(lambda: by_hand, id="function"),
    pytest.param(lambda: Duck(), id="duck"),
    pytest.param(lambda: ALL, id="matrix"),
    pytest.param(lambda: BLOCKS, id="blocks"),
]


@pytest.mark.parametrize("road", ROADS)
def test_every_road_gives_what_refits_give(road):
    kernel = road()
    (x, y, differing, query), (every, own) = records(kernel)
    comparison = lood.compare(kernel, x, y, differing, NOISE)
    np.testing.assert_allclose(
        comparison.measure(query), [kl(q[None]) for q in Q], rtol=1e-9, atol=1e-13
    )
    assert comparison.measure(query[:2], joint=True) == pytest.approx(kl(Q[:2]), rel=1e-8)
    at_own = lood.distinguishability(kernel, x, y, differing, own, NOISE)
    assert at_own == pytest.approx(kl(X[S : S + 1]), rel=1e-9)
    assert 0 < lood.tradeoff(kernel, x, y, differing, own, NOISE, 0.1) < 0.9
    mean, variance = lood.posterior(kernel, every, Y, NOISE).predict(query)
    expected, covariance = refit(N, Q)
    np.testing.assert_allclose(mean[:, 0], expected, rtol=1e-10)
    np.testing.assert_allclose(variance, np.diagonal(covariance), rtol=1e-10)
    found = lood.leave_one_out(kernel, every, Y, NOISE)
    assert found.kl[S] == pytest.approx(at_own, rel=1e-9)


def test_a_kernel_of_gpytorch_gives_what_its_matrix_gives():
    torch, kernel = pytest.importorskip("torch"), gpytorch()
    every = torch.as_tensor(np.concatenate([X, Q]))
    matrix = kernel(every, every).to_dense().detach().numpy()
    # Its distances are differences of products, with half the digits of scikit-learn's.
    np.testing.assert_allclose(matrix, ALL, rtol=1e-6)
    matrix[np.diag_indices(34)] = 1.0
    arguments = (REST, Y[REST], (S, Y[S])), (X[REST], Y[REST], (X[S], Y[S]))
    expected, found = (
        lood.compare(k, *data, NOISE).measure(query)
        for k, data, query in zip(
            ((matrix + matrix.T) / 2, kernel), arguments, (30 + np.arange(4), Q), strict=True
        )
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found == pytest.approx([kl(q[None]) for q in Q], rel=1e-6)


def test_leave_one_out_takes_its_arguments_in_both_orders():
    matrix = KERNEL(X)
    expected = lood.leave_one_out(matrix, Y, NOISE).kl
    for found in (
        lood.leave_one_out(kernel_matrix=matrix, y=Y, noise=NOISE),
        lood.leave_one_out(matrix, Y, noise=NOISE),
        lood.leave_one_out(matrix, y=Y, noise=NOISE),
        lood.leave_one_out(matrix, None, Y, NOISE),
        lood.leave_one_out(kernel=KERNEL, x=X, y=Y, noise=NOISE),
        lood.leave_one_out(BLOCKS, Y, NOISE),
    ):
        np.testing.assert_allclose(found.kl, expected, rtol=1e-12)
    part = lood.leave_one_out(ALL, N[:9], Y[:9], NOISE).kl
    np.testing.assert_allclose(part, lood.leave_one_out(KERNEL, X[:9], Y[:9], NOISE).kl, rtol=1e-9)


def test_images_come_to_a_function_as_they_are_and_to_others_flat():
    images = X.reshape(30, 3, 1, 1)
    seen = []

    def asked(x1, x2):
        seen.append(x1.shape[1:])
        return by_hand(x1.reshape(len(x1), -1), x2.reshape(len(x2), -1))

    expected = lood.posterior(KERNEL, X, Y, NOISE).predict(Q)
    for kernel in (asked, KERNEL):
        found = lood.posterior(kernel, images, Y, NOISE).predict(Q.reshape(4, 3, 1, 1))
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert set(seen) == {(3, 1, 1)}


def test_the_density_of_each_label_is_that_of_scikit_learn():
    found = lood.leave_one_out(KERNEL, X, Y, NOISE).log_density
    for i in range(0, 30, 6):
        mean, covariance = refit(np.delete(N, i), X[i : i + 1])
        spread = covariance[0, 0] + NOISE
        expected = -0.5 * (np.log(2 * np.pi * spread) + (Y[i] - mean[0]) ** 2 / spread)
        assert found[i] == pytest.approx(expected, rel=1e-10)


REFUSED = [
    (lambda: lood.posterior("rbf", X, Y, NOISE), "kernel = 'rbf': give a kernel of membership"),
    (lambda: lood.posterior(None, X, Y, NOISE), "kernel = None: give"),
    (lambda: lood.posterior(Matern, X, Y, NOISE), "kernel = <class"),
    (lambda: lood.posterior(np.ones(3), X, Y, NOISE), "kernel = array"),
    (lambda: lood.posterior(lambda a, b: 1.0, X, Y, NOISE), r"of shape \(\); give a function of"),
    (lambda: lood.posterior(lambda a, b: by_hand(a, b)[0], X, Y, NOISE), r"makes \(30, 30\)"),
    (lambda: lood.posterior(lambda a, b: by_hand(a, b) * np.nan, X, Y, NOISE), "kernel holds"),
    (lambda: lood.posterior(lambda a, b: a @ (b + 1).T, X, Y, NOISE), "is not symmetric"),
    (lambda: lood.posterior(KERNEL + WhiteKernel(), X, Y, NOISE).predict(Q), "a WhiteKernel"),
    (lambda: lood.posterior(ALL, X, Y, NOISE), "the kernel is a matrix: give the numbers of its"),
    (lambda: lood.posterior(ALL, N + 20, Y, NOISE), "x has 34: give rows of the matrix, 0 to 33"),
    (lambda: lood.posterior(ALL, N, Y, NOISE).predict(34), "rows has 34"),
    (lambda: lood.posterior(BLOCKS[:2], N, Y, NOISE), "kernel"),
    (lambda: lood.posterior((*BLOCKS[:2], np.ones(4)), N, Y, NOISE), r"give all of it, \(4, 4\)"),
    (lambda: lood.posterior((BLOCKS[0], *BLOCKS[:2]), N, Y, NOISE), "have shapes"),
    (lambda: lood.leave_one_out(KERNEL, Y, NOISE), "x is missing"),
    (lambda: lood.leave_one_out(ALL, Y), "noise = None: give a number above 0"),
    (
        lambda: lood.compare_normalised(ALL, REST, Y[REST], (S, Y[S]), NOISE),
        "kernel is a matrix, which no normalisation changes",
    ),
    (
        lambda: lood.gradient(lood.compare(by_hand, X[REST], Y[REST], (X[S], Y[S]), NOISE), Q),
        "queries by gradient take one of membership.nngp",
    ),
    (
        lambda: lood.reconstruct(KERNEL, X[REST], Y[REST], (X[S], Y[S]), NOISE, 0),
        "queries by gradient take",
    ),
    (lambda: lood.compare(ALL, N, Y, (S, Y[S]), NOISE), "differing record 0 is row 7 of x"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_no_kernel_is_refused_in_a_line_that_says_what_is(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_an_own_kernel_of_this_package_keeps_its_gradients():
    kernel = nngp.rbf()
    comparison = lood.compare(kernel, X[REST], Y[REST], (X[S], Y[S]), NOISE)
    assert comparison.without.kernel is kernel
