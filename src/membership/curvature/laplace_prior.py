r"""The prior precision of a last layer's posterior: by marginal likelihood or by validation.

Liu et al. (2025), Section 4.3 and Appendix C. Both take the one number delta = 1 / gamma^2 that
all weights share.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax

from membership.arrays import FloatArray
from membership.errors import InputError

# The grid of laplace-torch's own search, in steps of a fifth of a decade.
GRID = np.logspace(-4, 4, 41)


def log_likelihood(logits: FloatArray, label: FloatArray) -> float:
    """Summed log probability of the labels, in nats."""
    return float(log_softmax(logits, axis=1)[np.arange(len(label)), label].sum())


@dataclass(frozen=True)
class Evidence:
    r"""Laplace's approximation of the log marginal likelihood, a function of delta.

    :math:`\log p(D \mid \hat w) - \tfrac12 [\log\det(G + \delta I) - P \log\delta
    + \delta \|\hat w\|^2]`

    Attributes
    ----------
    weights : Diagonal, Kronecker or Full
        The curvature G.
    squared_norm : float
        Of the P weights and biases of the last layer.
    likelihood : float
        Log likelihood of the training records at those weights.
    """

    weights: Any
    squared_norm: float
    likelihood: float

    def __call__(self, precision: float) -> float:
        """The log marginal likelihood under a prior precision, in nats."""
        log_det = self.weights.with_prior(precision).log_det()
        log_det_ratio = log_det - self.weights.n_parameters * np.log(precision)
        return float(self.likelihood - (log_det_ratio + precision * self.squared_norm) / 2)

    def best(self) -> float:
        r"""The prior precision of the largest marginal likelihood.

        The derivative in :math:`\log\delta` is half of :math:`\sum_i \lambda_i / (\lambda_i +
        \delta) - \delta \|\hat w\|^2` (MacKay's effective number of parameters less the
        weights' share). It falls throughout, so that its zero is the one maximum.

        Raises
        ------
        InputError
            The weights or the curvature are zero: there is no maximum.
        """
        eigenvalues, norm = self.weights.eigenvalues(), self.squared_norm
        if not norm > 0 or not eigenvalues.max() > 0:
            raise InputError(
                "prior_precision = 'marginal-likelihood': the last layer's weights or the "
                "curvature are zero, so there is no maximum; give a number"
            )

        def slope(log_precision: float) -> float:
            precision = np.exp(log_precision)
            return float((eigenvalues / (eigenvalues + precision)).sum() - precision * norm)

        # At most every parameter is effective: from here on the slope is negative.
        high = np.log(eigenvalues.size / norm) + 1e-6
        low = high
        while slope(low) < 0:
            low -= 1.0
        return float(np.exp(brentq(slope, low, high, xtol=1e-13)))


def doubt(prior_precision: Any, precision: float, layer: Any) -> str:
    """What a tuned prior precision lacks in meaning, in a sentence; empty where nothing."""
    if prior_precision == "validation" and precision in (GRID[0], GRID[-1]):
        return (
            f"prior_precision = 'validation' found {precision:g}, the edge of its grid from "
            f"{GRID[0]:g} to {GRID[-1]:g}: the best value may lie beyond, or the held-out records "
            "may not tell"
        )
    if prior_precision == "marginal-likelihood":
        effective = precision * sum(float(np.square(part).sum()) for part in layer)
        if effective < 1:
            return (
                f"prior_precision = 'marginal-likelihood' found {precision:.3g}, at which the data "
                f"determine {effective:.2g} parameters, less than one: the network is as good as "
                "certain of its records, and the variances say nothing"
            )
    return ""


def best_on_validation(weights: Any, features: FloatArray, logits: FloatArray, label) -> float:
    r"""The prior precision of the grid under which held-out labels are most likely.

    The predictive is the probit approximation, the softmax of
    :math:`f_c / \sqrt{1 + \pi V_{cc} / 8}`, as in laplace-torch's search.
    """
    scores = []
    for precision in GRID:
        variance = weights.with_prior(precision).variance(features)
        scores.append(log_likelihood(logits / np.sqrt(1 + np.pi / 8 * variance), label))
    return float(GRID[int(np.argmax(scores))])
