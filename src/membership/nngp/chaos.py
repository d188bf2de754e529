"""The edge of chaos: initialisations at which correlations neither freeze nor scatter."""

import numpy as np
from scipy.integrate import quad

from membership.errors import InputError
from membership.nngp.activations import activation as named
from membership.nngp.checks import positive

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
    phi, q = named(activation), positive("q", q)
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
