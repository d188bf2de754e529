"""Two posteriors, with and without some records, compared at any queries.

The records may be normalised by each training set's own statistics.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from membership.arrays import FloatArray, deviation, one_of
from membership.errors import InputError
from membership.lood.contrast import MEASURES, Contrast, told
from membership.lood.kernels import Rows, points, read
from membership.lood.process import (
    Posterior,
    differing_records,
    lower_factor,
    moments,
    outputs,
    posterior,
    priors,
    queries,
    whitened,
)
from membership.nngp.checks import positive

# A smaller share of the prior variance has hardly a digit left.
_ROUNDING = 64 * np.finfo(np.float64).eps
# Queries a block: their kernel with the training set is held at once.
_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Comparison:
    """The posteriors f_D and f_D' with D' = D and the differing records; see `compare`.

    Attributes
    ----------
    without : Posterior
        f_D.
    x_s, y_s : array of shape (m, ...) and (m, outputs)
        The differing records.
    reduced : array of shape (n, m)
        W k(D, S).
    root : array of shape (m, m)
        R with R' R = (covariance of f_D(S) + noise I)^-1.
    surprise : array of shape (m, outputs)
        R (y_S - mean of f_D(S)).
    """

    without: Posterior
    x_s: FloatArray
    y_s: FloatArray
    reduced: FloatArray
    root: FloatArray
    surprise: FloatArray

    def check(self, query: Any) -> tuple[FloatArray, bool]:
        """Return queries (q, ...) and whether one came without its first axis."""
        return queries(query, self.without.x)

    def contrast(self, query: Any, joint: bool = False) -> Contrast:
        """Reduce both posteriors to what tells them apart at the queries.

        Parameters
        ----------
        query : array of shape (q, ...) or of one record's shape
        joint : bool
            Take the q queries together, as one observation of q values.

        Returns
        -------
        Contrast
            Its arrays begin with the axis (q,), unless the query was one record or joint.
        """
        query, single = self.check(query)
        if joint:
            return self._joint(query)
        parts = [self._separate(query[i : i + _BLOCK]) for i in range(0, len(query), _BLOCK)]
        excess, shift, mean = (np.concatenate(part) for part in zip(*parts, strict=True))
        if single:
            excess, shift, mean = excess[0], shift[0], mean[0]
        return told(excess, shift, mean, self.y_s.shape[1])

    def measure(self, query: Any, measure: str = "kl", joint: bool = False):
        """Distinguishability at the queries: a float for one or joint queries, else (q,)."""
        value = self.contrast(query, joint).measure(measure)
        return float(value) if np.ndim(value) == 0 else value

    def _separate(self, query: FloatArray):
        kernel = self.without.kernel
        cross_d, cross_s = kernel(query, self.without.x), kernel(query, self.x_s)
        prior = priors(kernel, query)
        w, reduced = self.without, (self.reduced, self.root, self.surprise)
        with np.errstate(over="ignore"):
            parts = separate(prior, cross_d, cross_s, (w.factor, w.weights), reduced)
        return parts

    def _joint(self, query: FloatArray) -> Contrast:
        _, covariance = self.without.joint(query)
        cross = self.without.kernel(query, self.without.x) @ self.without.factor.T
        c = self.without.kernel(query, self.x_s) - cross @ self.reduced
        b = c @ self.root.T
        # Directions in which f_D(Q) and the differing labels are correlated, one by one.
        _, correlation, directions = np.linalg.svd(whitened(covariance, b), full_matrices=False)
        t = correlation**2
        pull = np.square(directions @ self.surprise).sum(axis=1)
        with np.errstate(divide="ignore"):
            excess = t / np.where(1 - t > _ROUNDING, 1 - t, 0.0)
        mean = 0.5 * np.square(b @ self.surprise).sum()
        return told(excess, excess * pull, mean, self.y_s.shape[1])


def separate(prior, cross_d, cross_s, state_d, state_s, xp: ModuleType = np):
    """Excess (q, 1), shift (q, 1) and mean distance (q,) at separate queries, as array arithmetic.

    With c = cov(f_D(q), f_D(S)) and b = R c: the variance falls by |b|^2 and the mean moves by
    b' R (y_S - mean of f_D(S)) when S enters.
    """
    factor, weights = state_d
    reduced_s, root, surprise = state_s
    _, variance, reduced = moments(prior, cross_d, factor, weights)
    b = (cross_s - reduced @ reduced_s) @ root.T
    fall = (b * b).sum(axis=1)
    move = xp.square(b @ surprise).sum(axis=1)
    left = left_variance(variance - fall, prior, xp)
    return (fall / left)[:, None], (move / left)[:, None], move / 2


def left_variance(left, prior, xp: ModuleType = np):
    """The variance with the records, infinite where the kernel leaves none and nothing is told."""
    if xp is np and ((left <= _ROUNDING * prior) & (prior > 0)).any():
        raise InputError(
            "the variance at a query is lost in the rounding of the kernel: give more noise, or "
            "another query"
        )
    return xp.where(left > 0, left, xp.inf)


def compare(
    kernel: Any, x: Any, y: Any, differing: Any, noise: float, allow_repeated: bool = False
) -> Comparison:
    """Prepare the posteriors with and without some records, for queries to come.

    Parameters
    ----------
    kernel : Kernel, or another as `posterior` takes
    x, y : array of shape (n, ...) and (n,) or (n, outputs)
        D, without the differing records.
    differing : tuple (x_s, y_s)
        One record and its label, or a group (m, ...) and its labels.
    noise : float
        Variance of the labels' noise, above 0.
    allow_repeated : bool
        Let a differing record be in `x` already (a control: the released code's example does so).

    Raises
    ------
    InputError
        As `posterior`; or a differing record has another shape or is in `x` already.
    """
    kernel, noise = read(kernel), positive("noise", noise)
    x = points(kernel, "x", x)
    y = outputs("y", y, len(x))
    x_s, y_s = differing_records(differing, x, y, allow_repeated)
    base = posterior(kernel, x, y, noise)
    cross = kernel(x_s, x)
    reduced = base.factor @ cross.T
    uncertainty = kernel(x_s) - reduced.T @ reduced + noise * np.eye(len(x_s))
    root = np.asarray(np.linalg.inv(lower_factor(uncertainty)), np.float64)
    return Comparison(base, x_s, y_s, reduced, root, root @ (y_s - cross @ base.weights))


def distinguishability(
    kernel: Any,
    x: Any,
    y: Any,
    differing: Any,
    query: Any,
    noise: float,
    measure: str = "kl",
    joint: bool = False,
    allow_repeated: bool = False,
):
    """Leave-one-out (or leave-group-out) distinguishability of two Gaussian-process posteriors.

    Parameters
    ----------
    kernel, x, y, differing, noise, allow_repeated
        As `compare`.
    query : array of one record's shape or (q, ...)
        Where both models are observed: the latent function, without noise.
    measure : {"kl", "kl-reverse", "mean", "auc"}
        KL(f_D || f_D') in nats, the other direction, half the squared distance of the means, or
        the AUC of the best test; f_D' has the differing records. Outputs are summed.
    joint : bool
        Take several queries as one observation; otherwise each has its own value.

    Returns
    -------
    float or ndarray of shape (q,)

    Raises
    ------
    InputError
        As `compare`, or the query has another shape, or the measure is unknown.
    """
    one_of("measure", measure, MEASURES)
    kernel = read(kernel)
    queries(query, points(kernel, "x", x))
    comparison = compare(kernel, x, y, differing, noise, allow_repeated)
    return comparison.measure(query, measure, joint)


def tradeoff(
    kernel: Any, x: Any, y: Any, differing: Any, query: Any, noise: float, alpha: Any
) -> FloatArray:
    """False-negative rate of the best test between the posteriors at false-positive rate `alpha`.

    Arguments as `distinguishability`; several queries are one observation. `alpha` lies in [0, 1].
    See `Contrast.tradeoff`.
    """
    comparison = compare(kernel, x, y, differing, noise)
    several = np.ndim(query) == comparison.without.x.ndim
    return comparison.contrast(query, joint=several).tradeoff(alpha)


@dataclass(frozen=True, eq=False)
class Side:
    """A posterior with the normalisation that came from its training set.

    Attributes
    ----------
    posterior : Posterior
        Of the normalised records.
    mean, std : array that broadcasts against a record
        One a channel for images, one a feature otherwise.
    """

    posterior: Posterior
    mean: FloatArray
    std: FloatArray

    def predict(self, query: Any) -> tuple[FloatArray, FloatArray]:
        """Mean (q, outputs) and variance (q,) at queries as they were before normalisation."""
        return self.posterior.predict((query - self.mean) / self.std)


@dataclass(frozen=True, eq=False)
class NormalisedComparison:
    """The posteriors with and without some records, each on its own normalisation.

    As the differing records change every training record a little, f_D(S) says less than
    everything about them, and another query may tell more (Ye et al. 2024, Appendix D.4).
    """

    without: Side
    with_s: Side
    x_s: FloatArray

    def check(self, query: Any) -> tuple[FloatArray, bool]:
        """Return queries (q, ...) and whether one came without its first axis."""
        return queries(query, self.without.posterior.x)

    def contrast(self, query: Any) -> Contrast:
        """Reduce both posteriors to what tells them apart at each query.

        Parameters
        ----------
        query : array of shape (q, ...) or of one record's shape
            Before normalisation.
        """
        query, single = self.check(query)
        mean, variance = self.without.predict(query)
        mean_s, variance_s = self.with_s.predict(query)
        move = np.square(mean - mean_s).sum(axis=1)
        with np.errstate(all="ignore"):
            excess, shift = (variance / variance_s - 1)[:, None], (move / variance_s)[:, None]
        if single:
            excess, shift, move = excess[0], shift[0], move[0]
        return told(excess, shift, move / 2, mean.shape[1])

    def measure(self, query: Any, measure: str = "kl"):
        """Distinguishability at each query: a float for one query, else (q,)."""
        value = self.contrast(query).measure(measure)
        return float(value) if np.ndim(value) == 0 else value


def compare_normalised(
    kernel: Any, x: Any, y: Any, differing: Any, noise: float
) -> NormalisedComparison:
    """Prepare both posteriors where each normalises records by its own training set.

    The mean and standard deviation are taken over records and positions for each channel of an
    image, and over records for each feature of other records.

    Parameters
    ----------
    kernel, x, y, differing, noise
        As `compare`; records before normalisation.

    Raises
    ------
    InputError
        As `compare`.
    """
    kernel, noise = read(kernel), positive("noise", noise)
    if isinstance(kernel, Rows):
        raise InputError(
            "kernel is a matrix, which no normalisation changes: give a kernel or a function"
        )
    x = points(kernel, "x", x)
    y = outputs("y", y, len(x))
    x_s, y_s = differing_records(differing, x, y, allow_repeated=False)
    larger = np.concatenate([x, x_s]), np.concatenate([y, y_s])
    return NormalisedComparison(_side(kernel, x, y, noise), _side(kernel, *larger, noise), x_s)


def _side(kernel: Any, x: FloatArray, y: FloatArray, noise: float) -> Side:
    axes = (0, *range(2, x.ndim)) if x.ndim > 2 else (0,)
    mean, std = x.mean(axis=axes, keepdims=True)[0], deviation(x, axes, keepdims=True)[0]
    # A constant feature stays at zero.
    std = np.where(std > 0, std, 1.0)
    return Side(posterior(kernel, (x - mean) / std, y, noise), mean, std)
