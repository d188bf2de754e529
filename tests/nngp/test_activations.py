"""Dual maps against quadrature, and the edge of chaos."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from membership import nngp
from membership.errors import InputError
from membership.nngp.activations import ACTIVATIONS, activation

MOMENTS = [(1.0, 1.0, 0.3), (0.4, 2.5, -0.9), (3.0, 0.1, 0.5), (2.0, 2.0, 2.0), (1.5, 1.5, -1.5)]


def density(z):
    """That of a standard normal number; SciPy's own takes ten times as long for one."""
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def expectation(phi, a, b, c):
    """E[phi(u) phi(v)] as an integral over u of an integral over v given u."""
    mean, sd = c / a, np.sqrt(max(b - c * c / a, 0.0))

    def inner(u):
        if sd == 0:
            return float(phi(mean * u))
        kink = np.clip(-mean * u / sd, -9, 9)
        f = lambda z: float(phi(mean * u + sd * z)) * density(z)  # noqa: E731
        return sum(quad(f, *ends, epsabs=1e-12)[0] for ends in ((-10, kink), (kink, 10)))

    def outer(z):
        u = np.sqrt(a) * z
        return float(phi(u)) * inner(u) * density(z)

    return sum(quad(outer, *ends, epsabs=1e-11)[0] for ends in ((-10, 0), (0, 10)))


@pytest.mark.parametrize("name", ["relu", "gelu", "erf"])
@pytest.mark.parametrize("moments", MOMENTS)
def test_the_dual_map_is_the_expectation(name, moments):
    phi = ACTIVATIONS[name]
    assert phi.dual(*moments, np) == pytest.approx(expectation(phi.value, *moments), abs=1e-9)


@pytest.mark.parametrize("name", ["relu", "gelu", "erf"])
def test_the_derivative_is_the_limit_of_differences(name):
    phi, x, h = ACTIVATIONS[name], np.array([-2.3, -0.4, 0.2, 1.7]), 1e-6
    slope = (phi.value(x + h) - phi.value(x - h)) / (2 * h)
    np.testing.assert_allclose(phi.derivative(x), slope, atol=1e-9)


def test_a_zero_record_has_a_kernel_of_zero_under_relu():
    assert ACTIVATIONS["relu"].dual(np.zeros(1), np.ones(1), np.zeros(1), np) == 0.0


def test_an_unknown_activation_is_refused():
    with pytest.raises(InputError, match="activation = 'tanh': expected one of relu, gelu, erf"):
        activation("tanh")


@pytest.mark.parametrize(("q", "w_std", "b_variance"), [(0.5, 1.567, 0.0345), (1.0, 1.481, 0.0672)])
def test_gelu_has_the_known_edge(q, w_std, b_variance):
    found = nngp.edge_of_chaos("gelu", q)
    assert found[0] == pytest.approx(w_std, abs=5e-4)
    assert found[1] ** 2 == pytest.approx(b_variance, abs=5e-5)


@pytest.mark.parametrize("q", [0.1, 1.0, 7.0])
def test_relu_has_the_he_initialisation(q):
    w_std, b_std = nngp.edge_of_chaos("relu", q)
    assert w_std == pytest.approx(np.sqrt(2), rel=1e-12)
    assert b_std == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("activation", ["gelu", "erf"])
@pytest.mark.parametrize("q", [0.3, 1.0])
def test_variance_and_small_differences_are_kept_there(activation, q):
    w_std, b_std = nngp.edge_of_chaos(activation, q)
    kernel = nngp.fully_connected(1, activation, w_std, b_std)
    assert kernel.of_moments(*(3 * [(q - b_std**2) / w_std**2]), np) == pytest.approx(q, rel=1e-9)
    h = 1e-5
    apart = (q * (1 - h) - b_std**2) / w_std**2
    same = (q - b_std**2) / w_std**2
    loss = q - kernel.of_moments(same, same, apart, np)
    assert loss / (q * h) == pytest.approx(1.0, abs=1e-4)


def test_no_edge_is_said_and_so_is_bad_input():
    with pytest.raises(InputError, match="q = 0"):
        nngp.edge_of_chaos("gelu", 0)
    with pytest.raises(InputError, match="activation = 'swish'"):
        nngp.edge_of_chaos("swish", 1.0)


@pytest.mark.parametrize(("q", "stable"), [(0.5, False), (4.0, True), (8.0, True), (16.0, True)])
def test_the_variance_is_stable_at_large_fixed_points_of_gelu_only(q, stable):
    """1 + w^2 E[phi phi''] by a Gauss-Hermite rule, and by the kernel of a nudged input."""
    w_std, b_std = nngp.edge_of_chaos("gelu", q)
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    z, weights = np.sqrt(q) * nodes, weights / np.sqrt(2 * np.pi)
    second = norm.pdf(z) * (2 - z**2)
    factor = 1 + w_std**2 * np.sum(weights * z * norm.cdf(z) * second)
    assert bool(factor < 1) == stable
    nudged = np.sqrt((q - b_std**2) / w_std**2 + np.array([[0.0], [1e-6]]) / w_std**2)
    kept, moved = np.diag(nngp.fully_connected(1, "gelu", w_std, b_std)(nudged))
    assert (moved - kept) / 1e-6 == pytest.approx(factor, rel=1e-4)
