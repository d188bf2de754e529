"""Two posteriors, with and without some records, compared at any queries."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from membership.arrays import FloatArray
from membership.lood import checks
from membership.lood.contrast import Contrast, known_measure
from membership.lood.linear import lower_factor, moments, whitened
from membership.lood.process import Posterior, posterior
from membership.nngp.kernels import Kernel

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
        return checks.queries(query, self.without.x)

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
        return Contrast(excess, shift, mean, self.y_s.shape[1])

    def measure(self, query: Any, measure: str = "kl", joint: bool = False):
        """Distinguishability at the queries: a float for one or joint queries, else (q,)."""
        value = self.contrast(query, joint).measure(measure)
        return float(value) if np.ndim(value) == 0 else value

    def _separate(self, query: FloatArray):
        kernel = self.without.kernel
        cross_d, cross_s = kernel(query, self.without.x), kernel(query, self.x_s)
        prior = kernel.diagonal(query)
        w, reduced = self.without, (self.reduced, self.root, self.surprise)
        return separate(prior, cross_d, cross_s, (w.factor, w.weights), reduced)

    def _joint(self, query: FloatArray) -> Contrast:
        _, covariance = self.without.joint(query)
        cross = self.without.kernel(query, self.without.x) @ self.without.factor.T
        c = self.without.kernel(query, self.x_s) - cross @ self.reduced
        b = c @ self.root.T
        # Directions in which f_D(Q) and the differing labels are correlated, one by one.
        _, correlation, directions = np.linalg.svd(whitened(covariance, b), full_matrices=False)
        t = correlation**2
        pull = np.square(directions @ self.surprise).sum(axis=1)
        excess = t / (1 - t)
        mean = 0.5 * np.square(b @ self.surprise).sum()
        return Contrast(excess, excess * pull, mean, self.y_s.shape[1])


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
    # Where the kernel leaves no variance at all (a zero image), nothing is told either.
    left = xp.where(variance - fall > 0, variance - fall, xp.inf)
    return (fall / left)[:, None], (move / left)[:, None], move / 2


def compare(
    kernel: Kernel, x: Any, y: Any, differing: Any, noise: float, allow_repeated: bool = False
) -> Comparison:
    """Prepare the posteriors with and without some records, for queries to come.

    Parameters
    ----------
    kernel : Kernel
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
    noise = checks.noise_variance(noise)
    x = checks.records("x", x)
    y = checks.outputs("y", y, len(x))
    x_s, y_s = checks.differing_records(differing, x, y, allow_repeated)
    base = posterior(kernel, x, y, noise)
    cross = kernel(x_s, x)
    reduced = base.factor @ cross.T
    uncertainty = kernel(x_s) - reduced.T @ reduced + noise * np.eye(len(x_s))
    root = np.linalg.inv(lower_factor(uncertainty))
    return Comparison(base, x_s, y_s, reduced, root, root @ (y_s - cross @ base.weights))


def distinguishability(
    kernel: Kernel,
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
    known_measure(measure)
    checks.queries(query, checks.records("x", x))
    comparison = compare(kernel, x, y, differing, noise, allow_repeated)
    return comparison.measure(query, measure, joint)


def tradeoff(
    kernel: Kernel, x: Any, y: Any, differing: Any, query: Any, noise: float, alpha: Any
) -> FloatArray:
    """False-negative rate of the best test between the posteriors at false-positive rate `alpha`.

    Arguments as `distinguishability`; several queries are one observation. `alpha` lies in [0, 1].
    See `Contrast.tradeoff`.
    """
    comparison = compare(kernel, x, y, differing, noise)
    several = np.ndim(query) == comparison.without.x.ndim
    return comparison.contrast(query, joint=several).tradeoff(alpha)
