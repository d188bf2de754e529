"""The mean of Gaussian records, released with noise: every attack exactly.

Records are N(0, I) in d dimensions and the loss is half a squared distance. Training on D' (n - 1
records) or on D' + z returns the mean of its records plus noise N(0, T / n'), n' their number: the
posterior of Equation 2. The adversary knows some of the others: their sum a, and of the rest the
law. Given that, theta is N(a / (n - 1), v0) without z and N((a + z) / n, v1) with it. The
curvature is the identity, so that SGD's own noise has the posterior's shape, and IHA with a small
step ranks as the residual test does.

All scores but one are quadratic forms in centred Gaussians, the same in each coordinate:
`exact_roc` has their ROC curves. The best attack on the loss is integrated over a grid.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import chi2, ncx2

from membership.arrays import FloatArray
from membership.book.studies.loss_enough import exact_roc
from membership.book.studies.loss_enough.names import (
    BEST_LOSS,
    BEST_PARAMETERS,
    MALT,
    MAST,
    MATT,
    RESIDUAL,
)

DIMENSIONS, RECORDS = 20, 20
# Quantiles of the distance and cells of the loss that the best attack on it is integrated over.
_DISTANCES, _LOSSES = 60, 400
_CELLS = 1e-9


@dataclass(frozen=True)
class MeanGame:
    """One game: temperature, and how many of the n - 1 other records are known."""

    temperature: float
    known: int
    d: int = DIMENSIONS
    n: int = RECORDS

    @property
    def variances(self) -> tuple[float, float]:
        """Of a coordinate of theta given z and the known records: without z, and with it."""
        unknown = self.n - 1 - self.known
        without = unknown / (self.n - 1) ** 2 + self.temperature / (self.n - 1)
        return without, unknown / self.n**2 + self.temperature / self.n

    def loadings(self, member: bool) -> FloatArray:
        """Theta, z, the known sum and a reference model from standard normals, (4, 4)."""
        known, (v0, v1) = np.sqrt(self.known), self.variances
        size = self.n if member else self.n - 1
        noise = np.sqrt(v1 if member else v0)
        theta = [float(member) / size, known / size, noise, 0.0]
        reference = [0.0, known / (self.n - 1), 0.0, np.sqrt(v0)]
        return np.array([theta, [1.0, 0, 0, 0], [0.0, known, 0, 0], reference])

    def forms(self) -> dict[str, FloatArray]:
        """Each attack's score in one coordinate as a matrix, up to a constant."""
        v0, v1 = self.variances
        theta, z, known, reference = np.eye(4)
        m = known / (self.n - 1)
        away, gradient = z - theta, theta - z
        rest = ((self.n - 1) * theta - known) / self.n
        softened = 1 + v0 / self.temperature

        def form(first: FloatArray, second: FloatArray) -> FloatArray:
            return np.outer(first, second)

        with_z = theta - (known + z) / self.n
        return {
            BEST_PARAMETERS: form(theta - m, theta - m) / (2 * v0)
            - form(with_z, with_z) / (2 * v1),
            MALT: -form(away, away) / 2,
            MAST: form(z - m, z - m) / (2 * softened) - form(away, away) / 2,
            MATT: -form(theta - reference, reference - z),
            RESIDUAL: -form(2 * rest + gradient / self.n, gradient) / self.n,
        }

    @cache  # noqa: B019
    def rates(self) -> dict[str, tuple[float, float]]:
        """AUC and TPR at 1% FPR of each attack."""
        by_attack = {}
        for attack, form in self.forms().items():
            member, other = (
                exact_roc.weights_of(form, self.loadings(seen)) for seen in (True, False)
            )
            area = exact_roc.auc(member, other, self.d)
            by_attack[attack] = (area, exact_roc.tpr_at(member, other, self.d, 0.01))
        return {BEST_LOSS: self.of_loss(), **by_attack}

    def of_loss(self, distances: int = _DISTANCES, losses: int = _LOSSES) -> tuple[float, float]:
        """AUC and TPR at 1% FPR of the likelihood ratio of the loss, given the record.

        Given q, the squared distance of z from the mean of what is known, twice the loss is a
        scaled non-central chi-squared variable in both worlds; cells of it are compared.
        """
        v0, v1 = self.variances
        share = (np.arange(distances) + 0.5) / distances
        q = chi2.ppf(share, self.d) * (1 + self.known / (self.n - 1) ** 2)
        q, degrees = q[:, None], self.d
        near = (q * (1 - 1 / self.n) ** 2 / v1, v1)
        far = (q / v0, v0)
        low, high = (
            ncx2.ppf(end, degrees, centre) * scale
            for (centre, scale), end in ((near, _CELLS), (far, 1 - _CELLS))
        )
        edges = low + (high - low) * np.linspace(0, 1, losses + 1)
        inside, outside = (
            np.diff(ncx2.cdf(edges / scale, degrees, centre), axis=1)
            for centre, scale in (near, far)
        )
        return exact_roc.best_rates(inside / distances, outside / distances)
