"""Data-dependent normalisation: each training set normalises records by its own statistics."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from membership.arrays import FloatArray, deviation
from membership.lood import checks
from membership.lood.contrast import Contrast
from membership.lood.process import Posterior, posterior
from membership.nngp.kernels import Kernel


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
        return checks.queries(query, self.without.posterior.x)

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
        excess, shift = (variance / variance_s - 1)[:, None], (move / variance_s)[:, None]
        if single:
            excess, shift, move = excess[0], shift[0], move[0]
        return Contrast(excess, shift, move / 2, mean.shape[1])

    def measure(self, query: Any, measure: str = "kl"):
        """Distinguishability at each query: a float for one query, else (q,)."""
        value = self.contrast(query).measure(measure)
        return float(value) if np.ndim(value) == 0 else value


def compare_normalised(
    kernel: Kernel, x: Any, y: Any, differing: Any, noise: float
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
    noise = checks.noise_variance(noise)
    x = checks.records("x", x)
    y = checks.outputs("y", y, len(x))
    x_s, y_s = checks.differing_records(differing, x, y, allow_repeated=False)
    larger = np.concatenate([x, x_s]), np.concatenate([y, y_s])
    return NormalisedComparison(_side(kernel, x, y, noise), _side(kernel, *larger, noise), x_s)


def _side(kernel: Kernel, x: FloatArray, y: FloatArray, noise: float) -> Side:
    axes = (0, *range(2, x.ndim)) if x.ndim > 2 else (0,)
    mean, std = x.mean(axis=axes, keepdims=True)[0], deviation(x, axes, keepdims=True)[0]
    # A constant feature stays at zero.
    std = np.where(std > 0, std, 1.0)
    return Side(posterior(kernel, (x - mean) / std, y, noise), mean, std)
