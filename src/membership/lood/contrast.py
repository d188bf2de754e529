"""What tells two Gaussian posteriors apart, and how well any test can do it.

Let f_D be the posterior without a record (or group) S and f_D' with it. In coordinates that make
both covariances diagonal, f_D' has variance 1 and f_D has variance 1 + e_j in direction j, and
their means are s_j apart. With C independent outputs of the same covariance, s_j^2 sums over
outputs. One record gives one such direction, for any number of queries: the covariances differ by
a matrix of rank one, and the means along it.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy
from scipy.linalg import eigh_tridiagonal

from membership.arrays import FloatArray, one_of
from membership.errors import InputError

MEASURES = ("kl", "kl-reverse", "mean", "auc")
# The trapezoidal rule in x, with tan(phi) = sinh(x): its error is exp(-pi^2 / (2 * 0.15)) = 5e-15,
# and beyond 36 the integrand is below rounding.
_STEP = 0.15
_COSH = np.cosh(np.arange(241) * _STEP)
_WEIGHTS = np.where(_COSH == 1.0, 0.5, 1.0) * _STEP / (np.pi * _COSH)
# Entries a block of the quadrature.
_BLOCK = 1 << 14


@dataclass(frozen=True)
class Contrast:
    """Two Gaussian posteriors, reduced to what tells them apart.

    Attributes
    ----------
    excess : array of shape (..., directions)
        e_j: the variance without S over the variance with S, less 1. It is 0 or more when both
        posteriors have the same kernel, and always above -1.
    shift : array of shape (..., directions)
        Squared distance of the means, summed over outputs, in units of the variance with S.
    mean_distance : array of shape (...)
        Half the squared distance of the means, summed over outputs and queries.
    outputs : int
        C.
    """

    excess: Any
    shift: Any
    mean_distance: Any
    outputs: int

    def kl(self, xp: ModuleType = np):
        """KL(f_D || f_D') in nats, shape (...), summed over outputs."""
        e = self.excess
        terms = self.outputs * _less(e, xp.log1p(e), xp) + self.shift
        return 0.5 * terms.sum(axis=-1)

    def kl_reverse(self, xp: ModuleType = np):
        """KL(f_D' || f_D) in nats, shape (...), summed over outputs."""
        e = self.excess
        terms = self.outputs * _less(-e / (1 + e), -xp.log1p(e), xp) + self.shift / (1 + e)
        return 0.5 * terms.sum(axis=-1)

    def auc(self) -> FloatArray:
        """AUC of the likelihood-ratio test between the two, shape (...), in [1/2, 1).

        The transform of the law of the difference of two log-likelihood ratios, one under each
        posterior, is real along a line: ``|K(1/2 + it)|^2`` with K(s) the integral of
        ``p^(1-s) p'^s``. Inverting it there, with t = tan(phi)/2, gives::

            1 - AUC = 1/pi int_0^(pi/2) prod_j (1 + h_j sec^2 phi)^(-C/2)
                                    exp(-sum_j k_j sec^2 phi / (1 + h_j sec^2 phi)) dphi

        with h = e^2 / (4 (1 + e)) and k = (2 + e) s^2 / (8 (1 + e)). Absolute error below 1e-12.
        """
        e, shift = self._checked()
        shape, n = e.shape[:-1], e.shape[-1]
        width = (e / 4 * (e / (1 + e))).reshape(-1, n)
        depth = ((2 + e) / (1 + e) * (shift / 8)).reshape(-1, n)
        missed = np.zeros(len(width))
        # Divided by the squared secant, which keeps all within float64.
        cosine = _COSH**-2
        step = max(1, _BLOCK // (n * cosine.size))
        for i in range(0, len(width), step):
            spread = cosine + width[i : i + step, :, None]
            exponent = -(depth[i : i + step, :, None] / spread)
            exponent -= self.outputs / 2 * (np.log(spread) - np.log(cosine))
            missed[i : i + step] = np.exp(exponent.sum(axis=1)) @ _WEIGHTS
        return 1 - missed.reshape(shape)

    def tradeoff(self, alpha: Any) -> FloatArray:
        """False-negative rate of the best test at a false-positive rate.

        The test decides "with S" where the likelihood ratio is high: inside a ball for e > 0,
        outside it for e < 0, in a half-space for e = 0. The squared distance from the ball's centre
        is non-central chi-squared under both posteriors, with non-centralities (1+e) s^2/e^2 and
        s^2/e^2. Absolute error below 1e-10.

        Parameters
        ----------
        alpha : array of float
            False-positive rates in [0, 1].

        Returns
        -------
        ndarray of float64
            In the shape of `alpha`.

        Raises
        ------
        InputError
            `alpha` lies outside [0, 1], no Gaussians have such an excess or shift, this holds more
            than one pair of posteriors, or they differ in more than one direction (several records
            and several queries), for which there is no closed form.
        """
        alpha = np.asarray(alpha, dtype=np.float64)
        if not ((alpha >= 0) & (alpha <= 1)).all():
            raise InputError(f"alpha = {alpha}: give false-positive rates in [0, 1]")
        if np.size(self.excess) != 1:
            raise InputError(
                f"the posteriors differ in {np.shape(self.excess)} directions; "
                "the trade-off function is for one query, or one differing record and joint queries"
            )
        e, shift = (float(np.ravel(each)[0]) for each in self._checked())
        inner = (alpha > 0) & (alpha < 1)
        missed = _missed(np.where(inner, alpha, 0.5), e, np.sqrt(shift), self.outputs)
        return np.where(inner, missed, 1 - alpha)

    def _checked(self) -> tuple[FloatArray, FloatArray]:
        """Excess and shift of one shape, refused where no pair of Gaussians has them."""
        e, shift = np.broadcast_arrays(self.excess, self.shift)
        for name, values, good, least in (
            ("excess", e, e > -1, "above -1"),
            ("shift", shift, shift >= 0, "0 or more"),
        ):
            if not (good & np.isfinite(values)).all():
                bad = values[~(good & np.isfinite(values))][0]
                raise InputError(f"{name} = {bad:g}: it must be finite and {least}")
        return e, shift

    def measure(self, name: str, xp: ModuleType = np) -> FloatArray:
        """One of "kl", "kl-reverse", "mean" and "auc", shape (...)."""
        one_of("measure", name, MEASURES)
        if name == "mean":
            return self.mean_distance
        if name == "auc":
            return self.auc()
        return self.kl(xp) if name == "kl" else self.kl_reverse(xp)


# Below, the logarithm's series: its first terms cancel.
_SMALL = 1e-3


def _less(x, logarithm, xp: ModuleType):
    """x - log(1 + x), with its own precision where x is small."""
    small = xp.abs(x) < _SMALL
    near = xp.where(small, x, 0.0)
    series = near * near * (1 / 2 - near * (1 / 3 - near * (1 / 4 - near * (1 / 5 - near / 6))))
    return xp.where(small, series, x - logarithm)


# Sums of some such numbers are finite, too.
_MOST = 1e305


def told(excess: Any, shift: Any, mean: Any, outputs: int) -> Contrast:
    """The contrast, refused where it is beyond float64 or only rounding."""
    for name, values, least in (("excess", excess, -1.0), ("shift", shift, -0.0)):
        good = (values > least if name == "excess" else values >= least) & (values < _MOST)
        if not good.all():
            raise InputError(
                f"the posteriors are beyond comparison: {name} = {values[~good].flat[0]:.3g}, as a "
                "variance is next to nothing; give more noise, another query or smaller labels"
            )
    if not (np.asarray(mean) < _MOST).all():
        raise InputError("the posteriors are beyond comparison: give smaller labels")
    return Contrast(excess, shift, mean, outputs)


def _missed(alpha: FloatArray, e: float, s: float, outputs: int) -> FloatArray:
    """False-negative rates at `alpha` in (0, 1); see `Contrast.tradeoff`."""
    if e == 0 and s == 0:
        return 1 - alpha
    centre = np.inf if e == 0 else s / abs(e)
    without, with_s = Distance(centre * np.sqrt(1 + e), outputs), Distance(centre, outputs)
    outside = e < 0
    if not (without.far or with_s.far):
        return with_s.tail(without.quantile(alpha, outside) * (1 + e), not outside)
    # Both distances less their non-centralities: what stays finite as the centre goes away.
    offset = (-s if outside else s) * (2 + e) / 2
    level = without.standardised_quantile(alpha, outside)
    return with_s.standardised_tail((1 + e) * np.sqrt(1 + e) * level + offset, not outside)


# From this distance on SciPy's non-central chi-squared loses digits, then time.
_FAR = 1e3
# Lower tails below which SciPy's quantile may fail.
_RARE = 1e-30
_NODES = 16


class Distance:
    """X = |z + c|^2 for z standard normal in some dimensions and |c| the distance of the centre.

    Far away, ``Y = (X - |c|^2) / (2 |c|) = z_1 + (z_1^2 + w) / (2 |c|)`` with w chi-squared in the
    other dimensions: normal but for a small part, which Gauss's rule over w takes exactly enough.
    A lower tail is P(X < x); `upper` asks for P(X > x).
    """

    def __init__(self, centre: float, dimensions: int):
        self.centre = float(centre)
        # Not a frozen law, which SciPy documents anew each time; no power, which may overflow.
        self.law = dimensions, self.centre * self.centre
        self.far = self.centre > _FAR
        if self.far:
            self.curve = 0.5 / self.centre
            self.nodes, self.weights = _chi_squared_rule(dimensions - 1)

    def tail(self, x: FloatArray, upper: bool) -> FloatArray:
        """P(X < x) or P(X > x)."""
        if self.centre > 10:
            # SciPy's overflows on smaller values, whose probability is below 1e-21.
            x = np.maximum(x, 1e-6)
        return scipy.stats.ncx2.sf(x, *self.law) if upper else scipy.stats.ncx2.cdf(x, *self.law)

    def quantile(self, p: FloatArray, upper: bool) -> FloatArray:
        """The x whose tail is p."""
        if upper:
            return scipy.stats.ncx2.isf(p, *self.law)
        x = scipy.stats.ncx2.ppf(np.maximum(p, _RARE), *self.law)
        rare = p < _RARE
        if rare.any():
            # SciPy's finds none here.
            x[rare] = _bisected(self.tail, p[rare], np.zeros(rare.sum()), x[rare], upper)
        return x

    def standardised_tail(self, y: FloatArray, upper: bool) -> FloatArray:
        """P(Y < y) or P(Y > y)."""
        if not self.far:
            return self.tail(np.maximum(self.centre**2 + 2 * self.centre * y, 0), upper)
        left = y[..., None] - self.curve * self.nodes
        # The root of z + curve z^2 = left near 0; the other is beyond -2,000.
        z = 2 * left / (1 + np.sqrt(np.maximum(1 + 4 * self.curve * left, 0)))
        return scipy.stats.norm.cdf(-z if upper else z) @ self.weights

    def standardised_quantile(self, p: FloatArray, upper: bool) -> FloatArray:
        """The y whose tail is p."""
        if not self.far:
            return (self.quantile(p, upper) - self.centre**2) / (2 * self.centre)
        z = scipy.stats.norm.isf(p) if upper else scipy.stats.norm.ppf(p)
        # The quantile at each node alone; that of their mixture lies between.
        low, high = (z + self.curve * (z**2 + end) for end in (self.nodes.min(), self.nodes.max()))
        return _bisected(self.standardised_tail, p, low, high, upper)


def _bisected(tail: Any, p: FloatArray, low: FloatArray, high: FloatArray, upper: bool):
    """Where a tail is p, between `low` and `high`."""
    for _ in range(100):
        middle = (low + high) / 2
        above = tail(middle, upper) < p if upper else tail(middle, upper) > p
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


def _chi_squared_rule(degrees: int) -> tuple[FloatArray, FloatArray]:
    """Gauss's nodes and weights for a chi-squared law (Golub and Welsch 1969)."""
    k = np.arange(_NODES)
    half = degrees / 2
    nodes, vectors = eigh_tridiagonal(2 * (2.0 * k + half), 2 * np.sqrt(k[1:] * (k[1:] + half - 1)))
    weights = vectors[0] ** 2
    carried = weights > 0
    return nodes[carried], weights[carried]
