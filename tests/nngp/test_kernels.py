"""Kernels against wide networks, closed forms and block by block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membership import nngp
from membership.errors import InputError
from membership.nngp import kernels
from membership.nngp.activations import ACTIVATIONS
from tests.nngp.examples import KERNELS, NAMES


@pytest.mark.parametrize("kernel", KERNELS, ids=NAMES)
def test_blocks_change_nothing_and_the_matrix_is_exactly_symmetric(kernel, images, monkeypatch):
    x1, x2 = images
    whole, square = kernel(x1, x2), kernel(x1)
    monkeypatch.setattr(kernels, "BLOCK", 17)
    np.testing.assert_allclose(kernel(x1, x2), whole, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(x1), square, rtol=0, atol=1e-13)
    assert (kernel(x1) == kernel(x1).T).all()
    np.testing.assert_allclose(kernel(x1, x1), square, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(x1), np.diagonal(square), rtol=0, atol=1e-13)


def test_a_matrix_is_exactly_symmetric_though_its_numbers_are_rounded():
    x = np.random.default_rng(0).normal(size=(67, 301))
    matrix = nngp.fully_connected(3, "gelu")(x)
    assert (matrix == matrix.T).all()


def test_scaled_multiplies(images):
    kernel = nngp.fully_connected(2)
    np.testing.assert_allclose(kernel.scaled(2.5)(*images), 2.5 * kernel(*images), rtol=1e-15)
    with pytest.raises(InputError, match="factor = 0"):
        kernel.scaled(0)


@pytest.mark.parametrize(
    ("x1", "x2", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), r"x2 has records of shape \(4,\); give \(3,\)"),
        (np.ones(3), None, r"x1 has shape \(3,\)"),
        (np.ones((0, 3)), None, "none empty"),
        (np.full((2, 2), np.nan), None, "NaN or infinite"),
        ([["a"]], None, "real numbers"),
    ],
)
def test_bad_records_are_refused(x1, x2, message):
    with pytest.raises(InputError, match=message):
        nngp.rbf()(x1, x2)


def test_a_matrix_beyond_memory_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device: 1e9)
    x = np.zeros((20_000, 1))
    with pytest.raises(
        InputError, match=r"20,000 and 20,000 records needs about 3\.2 gigabytes.*1\.0 are"
    ):
        nngp.rbf()(x)


def test_a_wide_network_has_the_kernel_as_its_covariance():
    rng = np.random.default_rng(0)
    x, width, n = rng.standard_normal((3, 4)), 200, 4000
    w = rng.standard_normal((n, width, 4)) * 1.2 / np.sqrt(4)
    hidden = np.maximum(
        np.einsum("nwd,xd->nxw", w, x) + 0.3 * rng.standard_normal((n, 1, width)), 0
    )
    readout = rng.standard_normal((n, width)) * 1.2 / np.sqrt(width)
    f = np.einsum("nxw,nw->nx", hidden, readout) + 0.3 * rng.standard_normal((n, 1))
    kernel = nngp.fully_connected(1, "relu", 1.2, 0.3)(x)
    products = f[:, :, None] * f[:, None, :]
    error = products.std(axis=0) / np.sqrt(n)
    assert (np.abs(products.mean(axis=0) - kernel) < 4 * error).all()


def test_rbf_and_polynomial_are_their_formulas(images):
    x1, x2 = (x.reshape(len(x), -1) for x in images)
    squared = np.square(x1[:, None] - x2[None]).mean(axis=2)
    np.testing.assert_allclose(nngp.rbf(0.7)(*images), np.exp(-0.7 * squared), rtol=1e-13)
    product = (x1[:, None] * x2[None]).mean(axis=2)
    np.testing.assert_allclose(
        nngp.polynomial(3, 0.5)(*images), (product + 0.5) ** 3, rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("activation", ["relu", "gelu", "erf"])
@settings(max_examples=20)
@given(depth=st.integers(1, 12), w_std=st.floats(0.3, 2.0), seed=st.integers(0, 99))
def test_every_kernel_matrix_is_positive_semi_definite(activation, depth, w_std, seed):
    x = np.random.default_rng(seed).standard_normal((9, 5))
    matrix = nngp.fully_connected(depth, activation, w_std, 0.1)(x)
    assert np.linalg.eigvalsh(matrix).min() > -1e-12 * matrix.max()


def test_relu_without_bias_is_homogeneous(images):
    kernel = nngp.fully_connected(3, "relu")
    np.testing.assert_allclose(kernel(2 * images[0], images[1]), 2 * kernel(*images), rtol=1e-13)


def test_a_kernel_names_its_parameters_and_equals_its_like():
    kernel = nngp.fully_connected(3, "gelu", 1.5, 0.1)
    assert kernel == nngp.fully_connected(3, "gelu", 1.5, 0.1)
    assert kernel != kernel.scaled(2.0)
    assert repr(kernel) == (
        "FullyConnected(scale=1.0, depth=3, activation='gelu', w_std=1.5, b_std=0.1)"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nngp.fully_connected(0), "depth = 0: expected a whole number"),
        (lambda: nngp.fully_connected(2.0), "depth = 2.0: expected a whole number"),
        (lambda: nngp.convolutional(True), "depth = True"),
        (lambda: nngp.fully_connected(1, "tanh"), "activation = 'tanh'"),
        (lambda: nngp.fully_connected(1, "relu", 0.0), "w_std = 0.0: give a number above 0"),
        (lambda: nngp.fully_connected(1, "relu", 1.0, -0.1), "b_std = -0.1: give a number of 0"),
        (lambda: nngp.fully_connected(1, engine="torch"), "engine = 'torch'"),
        (lambda: nngp.rbf(float("nan")), "gamma = nan: give a number above 0"),
        (lambda: nngp.polynomial(0), "degree = 0"),
        (lambda: nngp.convolutional(1)(np.ones((2, 5))), "takes images"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(0).normal(size=(6, 2, 3))


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("moments", [(1.0, 2.0, 0.7), (0.5, 0.5, -0.4), (3.0, 0.2, 0.1)])
def test_the_slope_is_the_integral_of_two_derivatives(name, moments):
    a, b, c = moments
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    u = np.sqrt(a) * nodes[:, None]
    v = c / np.sqrt(a) * nodes[:, None] + np.sqrt(b - c * c / a) * nodes[None, :]
    phi = ACTIVATIONS[name]
    expected = (weights[:, None] * weights * phi.derivative(u) * phi.derivative(v)).sum()
    # The quadrature itself is coarse where ReLU jumps.
    tolerance = 1e-2 if name == "relu" else 1e-8
    assert phi.slope(a, b, c) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_slope_is_the_derivative_of_the_dual_map(name):
    phi, h = ACTIVATIONS[name], 1e-6
    for a, b, c in ((1.0, 2.0, 0.7), (0.5, 0.5, -0.4), (3.0, 0.2, 0.1)):
        slope = (phi.dual(a, b, c + h, np) - phi.dual(a, b, c - h, np)) / (2 * h)
        assert phi.slope(a, b, c) == pytest.approx(slope, abs=1e-8)


def test_a_wide_network_has_it_as_the_product_of_its_gradients(x):
    rng, rows, width, n = np.random.default_rng(1), x.reshape(6, -1), 300, 60
    products = []
    for _ in range(n):
        first = rng.normal(size=(width, rows.shape[1]))
        second = rng.normal(size=width)
        pre = 1.3 / np.sqrt(rows.shape[1]) * rows @ first.T
        of_second = 1.3 / np.sqrt(width) * np.maximum(pre, 0)
        back = 1.3 / np.sqrt(width) * second * (pre > 0) * 1.3 / np.sqrt(rows.shape[1])
        of_first = (back[:, :, None] * rows[:, None, :]).reshape(6, -1)
        products.append(of_second @ of_second.T + of_first @ of_first.T)
    error = np.std(products, axis=0) / np.sqrt(n)
    expected = nngp.tangent_kernel(nngp.fully_connected(1, "relu", 1.3), x)
    assert (np.abs(np.mean(products, axis=0) - expected) < 4 * error).all()


def test_what_is_no_such_kernel_is_refused(x):
    with pytest.raises(InputError, match=r"give one of nngp\.fully_connected, closed form"):
        nngp.tangent_kernel(nngp.rbf(), x)
