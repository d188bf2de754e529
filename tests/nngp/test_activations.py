import math

import numpy as np
import pytest
from scipy.integrate import quad

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
