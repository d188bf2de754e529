"""Equations 49 to 51: what is left out where one Hessian stands for two, read either way.

Two normal laws stand for the parameters without and with a record, of precisions H_0 and H_1; the
approximation takes H = H_0 for both, as the paper does. That it "holds up to" a quantity may mean
the exact log-ratio less the approximate one, or the reverse.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import multivariate_normal

from membership.arrays import FloatArray

DIMENSIONS = 4


class Laws(NamedTuple):
    """Modes and precisions without the record and with it, and parameters drawn with it."""

    theta: FloatArray
    mode_0: FloatArray
    mode_1: FloatArray
    precision_0: FloatArray
    precision_1: FloatArray


def random_laws(rng: np.random.Generator) -> Laws:
    """The record adds a curvature of rank one and moves the mode."""
    root = rng.standard_normal((DIMENSIONS, 3 * DIMENSIONS))
    precision_0 = root @ root.T
    gradient = rng.standard_normal(DIMENSIONS)
    precision_1 = precision_0 + np.outer(gradient, gradient)
    mode_0 = rng.standard_normal(DIMENSIONS)
    mode_1 = mode_0 - np.linalg.solve(precision_1, gradient)
    theta = rng.multivariate_normal(mode_1, np.linalg.inv(precision_1))
    return Laws(theta, mode_0, mode_1, precision_0, precision_1)


def exact(laws: Laws) -> float:
    """The log-ratio of the two densities, by SciPy."""
    with_it, without = (
        multivariate_normal(mode, np.linalg.inv(precision)).logpdf(laws.theta)
        for mode, precision in (
            (laws.mode_1, laws.precision_1),
            (laws.mode_0, laws.precision_0),
        )
    )
    return float(with_it - without)


def corrected(laws: Laws) -> float:
    """Equation 50 with its 1/2, less Equation 51 with the factor and argument that it needs.

    The approximate log-ratio less the exact one is delta_1, as printed, plus half the form of
    H_1 - H_0 in theta - theta_1.
    """
    change = laws.precision_1 - laws.precision_0
    return _equation_50(laws) / 2 - (_delta_1(laws) + _form(laws.theta - laws.mode_1, change) / 2)


def printed(laws: Laws, *, exact_less_approximate: bool) -> float:
    """Equation 50 and, added to it or taken from it, Equation 51 as they stand."""
    change = laws.precision_1 - laws.precision_0
    delta = _delta_1(laws) + _form(laws.mode_1 - laws.mode_0, change)
    return _equation_50(laws) + (delta if exact_less_approximate else -delta)


def _equation_50(laws: Laws) -> float:
    near, far = laws.theta - laws.mode_1, laws.theta - laws.mode_0
    return _form(far, laws.precision_0) - _form(near, laws.precision_0)


def _delta_1(laws: Laws) -> float:
    """-1/2 log(det H_1 / det H_0)."""
    first, second = (np.linalg.slogdet(one)[1] for one in (laws.precision_1, laws.precision_0))
    return float(second - first) / 2


def _form(vector: FloatArray, matrix: FloatArray) -> float:
    return float(vector @ matrix @ vector)
