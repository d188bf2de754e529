"""The tangent kernel against neural-tangents, integrals and the gradients of a wide network."""

import sys
import warnings
from types import ModuleType

import numpy as np
import pytest
from jax.experimental import enable_x64

from membership import nngp
from membership.errors import InputError
from membership.nngp.activations import ACTIVATIONS


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("depth", [1, 4])
def test_it_is_the_tangent_kernel_of_neural_tangents(name, depth, x):
    unused = "neural_tangents.experimental"
    sys.modules.setdefault(unused, ModuleType(unused))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from neural_tangents import stax
    dense = {"W_std": 1.3, "b_std": 0.2}
    phi = {"relu": stax.Relu, "gelu": stax.Gelu, "erf": stax.Erf}[name]
    hidden = [stax.serial(stax.Dense(1, **dense), phi())] * depth
    function = stax.serial(stax.Flatten(), *hidden, stax.Dense(1, **dense))[2]
    with enable_x64():
        expected = np.asarray(function(x, None, "ntk"))
    kernel = nngp.fully_connected(depth, name, 1.3, 0.2)
    np.testing.assert_allclose(nngp.tangent_kernel(kernel, x), expected, rtol=1e-11)
    np.testing.assert_allclose(nngp.tangent_kernel(kernel.scaled(3.0), x), 3 * expected, rtol=1e-11)


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
    for kernel in (nngp.rbf(), nngp.fully_connected(1, engine="neural-tangents")):
        with pytest.raises(InputError, match=r"give one of nngp\.fully_connected, closed form"):
            nngp.tangent_kernel(kernel, x)
