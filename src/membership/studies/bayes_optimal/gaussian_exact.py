"""Exact distributions in the Gaussian game of Section 4.1.

Records are N(mu, I) in d dimensions and the target model theta is the mean of n' members, so that
u = theta - mu and v = z - mu are jointly Gaussian:

    non-member: v ~ N(0, I);   member: v given u ~ N(u, (1 - 1/n') I);   u ~ N(0, I / n').

The attacks' scores are quadratic in v: all reduces to chi-squared laws, central or not.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import chi2, f, ncx2, norm

from membership.arrays import FloatArray


class Decision(NamedTuple):
    """The best threshold on a score, and its balanced accuracy as a fraction."""

    threshold: float
    accuracy: float


def tau_constant(n_members: int, d: int) -> float:
    """The constant of tau, (d / 2) log((n' + 1) / n'), which Equations 34 and 35 drop."""
    return d / 2 * float(np.log1p(1 / n_members))


def malt(n_members: int, d: int) -> Decision:
    """Best threshold on -l(theta, z) and its accuracy.

    Twice the loss is (1 - 1/n') chi2_d for a member and (1 + 1/n') chi2_d for a non-member; their
    densities cross once. For large d the accuracy is about Phi(sqrt(d / 2) / n').
    """
    inside, outside = 1 - 1 / n_members, 1 + 1 / n_members
    # d log(outside / inside) / (1 / inside - 1 / outside), without cancellation.
    twice_loss = d * np.arctanh(1 / n_members) * inside * outside * n_members
    accuracy = (chi2.cdf(twice_loss / inside, d) + chi2.sf(twice_loss / outside, d)) / 2
    return Decision(-float(twice_loss) / 2, float(accuracy))


def malt_auc(n_members: int, d: int) -> float:
    """AUC of MALT: the ratio of the two chi-squared losses follows an F law."""
    return float(f.cdf((n_members + 1) / (n_members - 1), d, d))


def mast(n_members: int, d: int) -> Decision:
    """Best threshold on MAST with the exact tau, and its accuracy: about Phi(sqrt(d / n') / 2).

    The score is v'u - |u|^2 / 2 - a |v|^2 + `tau_constant` with a = 1 / (2 (n' + 1)).
    """
    constant = tau_constant(n_members, d)
    weight = 1 / (2 * (n_members + 1))
    return _best(
        lambda t: _quadratic_accuracy(t - constant, weight, n_members, d),
        half_width=d / n_members,
    )


def likelihood_ratio(n_members: int, d: int) -> Decision:
    """Threshold 0 on the exact log-likelihood ratio, which no attack that knows mu can beat.

    The ratio of N(u, (1 - 1/n') I) to N(0, I) at v is n'/(n' - 1) times the quadratic score with
    a = 1 / (2 n'), plus (d / 2) log(n' / (n' - 1)): MAST with n' + 1 replaced by n'.
    """
    scale = n_members / (n_members - 1)
    threshold = -d / 2 * np.log(scale) / scale
    accuracy = _quadratic_accuracy(threshold, 1 / (2 * n_members), n_members, d)
    return Decision(0.0, float(accuracy))


def matt(n_members: int, d: int) -> Decision:
    """Best threshold on MATT, theta0 the mean of n' other records: about Phi(sqrt(d / 2n') / 2).

    Given D = |theta - theta0|^2, which is (2 / n') chi2_d, the score is N(D, D (1 - 1/n')) for a
    member and N(D / 2, D (1 + 1/(2 n'))) for a non-member.
    """

    def accuracy(threshold: float) -> float:
        probability, weight = _quadrature()
        distance = chi2.ppf(probability, d) * 2 / n_members
        inside = norm.cdf((distance - threshold) / np.sqrt(distance * (1 - 1 / n_members)))
        outside = norm.cdf((threshold - distance / 2) / np.sqrt(distance * (1 + 0.5 / n_members)))
        return float(weight @ (inside + outside)) / 2

    return _best(accuracy, half_width=2 * d / n_members)


def malt_density(loss: FloatArray, member: bool, r2: float, n_members: int, d: int) -> FloatArray:
    """Density of l(theta, z) in a game with r2 = |theta - mu|^2.

    A member's loss does not depend on r2; a non-member's is half a non-central chi-squared.
    """
    if member:
        scale = 1 - 1 / n_members
        return 2 / scale * chi2.pdf(2 * loss / scale, d)
    return 2 * ncx2.pdf(2 * loss, d, r2)


def mast_density(score: FloatArray, member: bool, r2: float, n_members: int, d: int) -> FloatArray:
    """Density of MAST's score with the exact tau in a game with r2 = |theta - mu|^2."""
    weight = 1 / (2 * (n_members + 1))
    distance = _distance(score - tau_constant(n_members, d), weight, r2)
    scale, noncentrality = _law(member, weight, r2, n_members)
    return ncx2.pdf(distance / scale, d, noncentrality) / (scale * weight)


def _quadratic_accuracy(threshold: float, weight: float, n_members: int, d: int) -> float:
    """Balanced accuracy of v'u - |u|^2 / 2 - weight |v|^2 >= threshold, mixed over u."""
    probability, mass = _quadrature()
    r2 = chi2.ppf(probability, d) / n_members
    distance = _distance(threshold, weight, r2)
    scale, noncentrality = _law(True, weight, r2, n_members)
    inside = ncx2.cdf(distance / scale, d, noncentrality)
    scale, noncentrality = _law(False, weight, r2, n_members)
    outside = ncx2.sf(distance / scale, d, noncentrality)
    return float(mass @ (inside + outside)) / 2


def _distance(score: FloatArray | float, weight: float, r2: FloatArray | float) -> FloatArray:
    """|v - u / (2 weight)|^2 where the quadratic score has this value: completing the square."""
    return (r2 / (4 * weight) - r2 / 2 - score) / weight


def _law(
    member: bool, weight: float, r2: FloatArray | float, n_members: int
) -> tuple[float, FloatArray | float]:
    """Scale and non-centrality of the chi-squared law of |v - u / (2 weight)|^2 given |u|^2."""
    if member:
        scale = 1 - 1 / n_members
        return scale, r2 * (1 - 0.5 / weight) ** 2 / scale
    return 1.0, r2 * (0.5 / weight) ** 2


def _quadrature() -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights on (0, 1), for means over a law by its quantiles."""
    node, weight = np.polynomial.legendre.leggauss(64)
    return (node + 1) / 2, weight / 2


def _best(accuracy: Callable[[float], float], half_width: float) -> Decision:
    """Maximise a single-peaked accuracy over thresholds up to `half_width` from 0."""
    least = minimize_scalar(
        lambda t: -accuracy(t), bounds=(-half_width, half_width), method="bounded"
    )
    return Decision(float(least.x), -float(least.fun))
