"""Activations, their dual maps in closed form, and the start at which they keep gradients' size.

A dual map is E[phi(u) phi(v)] for jointly Gaussian u and v. It takes the variances a of u and b of
v and their covariance c, as arrays that broadcast, and works on NumPy and JAX arrays alike (`xp` is
the one namespace or the other).
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import erf, ndtr

from membership.arrays import one_of
from membership.errors import InputError
from membership.nngp.checks import positive

_TINIEST = 1e-300


@dataclass(frozen=True)
class Activation:
    """An activation phi, its derivative, its dual map, and that of the derivative.

    The last is E[phi'(u) phi'(v)], the derivative of the dual map in c (Price 1958).
    """

    value: Callable[[Any], Any]
    derivative: Callable[[Any], Any]
    dual: Callable[[Any, Any, Any, ModuleType], Any]
    slope: Callable[[Any, Any, Any], Any]


def relu_dual(a, b, c, xp: ModuleType):
    """ReLU (Cho and Saul 2009): c/4 + sqrt(ab)/(2 pi) (sqrt(1-rho^2) + rho arcsin rho).

    Of a record of zeros the second part has no derivative: 0, between those of its two sides.
    """
    size = _root(a, xp) * _root(b, xp)
    return c / 4 + size / (2 * np.pi) * _even_part(xp)(c / xp.where(size > 0, size, 1.0))


def gelu_dual(a, b, c, xp: ModuleType):
    """GeLU, x Phi(x): c/4 + (c arctan(c/sqrt D) + (c^2 + abD)/((1+a)(1+b) sqrt D)) / (2 pi).

    D = (1+a)(1+b) - c^2, which is positive whatever the correlation.
    """
    root = xp.sqrt(_determinant(a, b, c, xp))
    # Neither part overflows before the kernel does.
    rest = c / (1 + a) * (c / (1 + b)) / root + a / (1 + a) * (b / (1 + b)) * root
    return c / 4 + (c * xp.arctan(c / root) + rest) / (2 * np.pi)


def erf_dual(a, b, c, xp: ModuleType):
    """erf (Williams 1997): (2/pi) arcsin(2c / sqrt((1+2a)(1+2b))).

    As an arctangent: rounding takes the sine of a record with itself beyond 1.
    """
    return 2 / np.pi * xp.arctan2(2 * c, xp.sqrt(_determinant(2 * a, 2 * b, 2 * c, xp)))


def relu_slope(a, b, c):
    """ReLU's step: (pi - arccos rho)/(2 pi)."""
    rho = c / np.maximum(np.sqrt(a * b), _TINIEST)  # 1 of a record with itself, exactly
    return (np.pi - np.arccos(np.clip(rho, -1.0, 1.0))) / (2 * np.pi)


def gelu_slope(a, b, c):
    """1/4 + (arctan(c/sqrt D) + c/sqrt D + c ((2-ab) D + c^2)/((1+a)(1+b) D^(3/2)))/(2 pi)."""
    product, determinant = (1 + a) * (1 + b), _determinant(a, b, c, np)
    root = np.sqrt(determinant)
    rest = c * ((2 - a * b) / product + c * c / product / determinant) / root
    return 1 / 4 + (np.arctan(c / root) + c / root + rest) / (2 * np.pi)


def erf_slope(a, b, c):
    """4/pi over sqrt((1+2a)(1+2b) - 4c^2)."""
    return 4 / np.pi / np.sqrt(_determinant(2 * a, 2 * b, 2 * c, np))


def _determinant(a, b, c, xp: ModuleType):
    """(1+a)(1+b) - c^2 with what cancels, ab - c^2, by itself: it is 0 or more."""
    return 1 + a + b + xp.maximum(a * b - c * c, 0.0)


def _root(a, xp: ModuleType):
    """The square root, with a derivative of 0 at 0."""
    above = a > 0
    return xp.where(above, xp.sqrt(xp.where(above, a, 1.0)), 0.0)


def _even_part(xp: ModuleType) -> Callable[[Any], Any]:
    if xp is np:
        return _numpy_even_part
    from membership.nngp.traced import even_part

    return even_part


def _numpy_even_part(rho):
    rho = np.clip(rho, -1.0, 1.0)
    return np.sqrt(1 - rho * rho) + rho * np.arcsin(rho)


def _density(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


ACTIVATIONS = {
    "relu": Activation(
        lambda x: np.maximum(x, 0.0), lambda x: np.where(x > 0, 1.0, 0.0), relu_dual, relu_slope
    ),
    "gelu": Activation(
        lambda x: x * ndtr(x), lambda x: ndtr(x) + x * _density(x), gelu_dual, gelu_slope
    ),
    "erf": Activation(erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x), erf_dual, erf_slope),
}


def activation(name: str) -> Activation:
    """Look an activation up."""
    one_of("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]


# Beyond, the standard normal density adds less than rounding.
_REACH = 12.0
_ROUNDING = 1e-12


def edge_of_chaos(activation: str, q: float) -> tuple[float, float]:
    """Find the standard deviations at which a variance `q` is kept and gradients keep their size.

    With z standard normal, w_std^2 E[phi'(sqrt(q) z)^2] = 1 and
    q = w_std^2 E[phi(sqrt(q) z)^2] + b_std^2 (Schoenholz et al. 2017; Hayou et al. 2019).

    Parameters
    ----------
    activation : {"relu", "gelu", "erf"}
    q : float
        The variance of the pre-activations, above 0.

    Returns
    -------
    w_std, b_std : float

    Raises
    ------
    InputError
        The activation is unknown, `q` is not above 0, or no bias variance of 0 or more fits.
    """
    one_of("activation", activation, ACTIVATIONS)
    phi, q = ACTIVATIONS[activation], positive("q", q)
    w_variance = 1 / _mean_square(phi.derivative, q)
    b_variance = q - w_variance * _mean_square(phi.value, q)
    if b_variance < -_ROUNDING * q:
        raise InputError(f"q = {q}: {activation} has no edge of chaos there; give another variance")
    return float(np.sqrt(w_variance)), float(np.sqrt(max(b_variance, 0.0)))


def _mean_square(function, q: float) -> float:
    """E[f(sqrt(q) z)^2], in two halves: ReLU has a kink at 0."""

    def integrand(z: float) -> float:
        return float(function(np.sqrt(q) * z)) ** 2 * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    halves = [
        quad(integrand, *ends, epsabs=1e-14, epsrel=1e-13)[0]
        for ends in ((-_REACH, 0.0), (0.0, _REACH))
    ]
    return sum(halves)
