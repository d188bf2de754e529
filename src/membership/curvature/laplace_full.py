"""The full Gaussian posterior of a last layer.

The parameters are ordered class by class, each class's weights followed by its bias: with
phi1 = [phi, 1], the Gauss-Newton matrix is the sum over records of Lambda (x) phi1 phi1'. The
methods are those of `laplace_structured`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import blas, eigvalsh, lapack, solve_triangular

from membership.arrays import FloatArray
from membership.errors import RunError

# Curvature, its Cholesky factor and the covariance of the parameters.
MATRICES = 3
RECORDS_AT_ONCE = 256


@dataclass(frozen=True)
class Full:
    """The Gauss-Newton matrix itself, of which the lower triangle counts."""

    curvature: FloatArray
    n_classes: int
    prior_precision: float = 1.0

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray) -> Self:
        """Sum (diag(p) - p p') (x) phi1 phi1' over the records."""
        phi, n_classes = _with_one(features), probability.shape[1]
        width = phi.shape[1]
        # Fortran order, so that BLAS adds to the matrix in place.
        total = np.zeros((n_classes * width, n_classes * width), order="F")
        for first in range(0, len(phi), RECORDS_AT_ONCE):
            rows = slice(first, first + RECORDS_AT_ONCE)
            joint = (probability[rows, :, None] * phi[rows, None, :]).reshape(-1, len(total))
            total = blas.dsyrk(-1.0, joint.T, beta=1.0, c=total, lower=True, overwrite_c=True)
        for c in range(n_classes):
            block = slice(c * width, (c + 1) * width)
            total[block, block] += (phi * probability[:, c, None]).T @ phi
        return cls(total, n_classes)

    def with_prior(self, prior_precision: float) -> Self:
        """The same curvature under another prior."""
        return replace(self, prior_precision=prior_precision)

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        # Rounding may leave small negative values in the place of zeros.
        return eigvalsh(self.curvature, lower=True).clip(min=0)

    @property
    def n_parameters(self) -> int:
        """Weights and biases."""
        return len(self.curvature)

    def log_det(self) -> float:
        """The log determinant of the posterior's precision."""
        return 2 * float(np.log(np.diag(self._factor)).sum())

    @cached_property
    def _factor(self) -> FloatArray:
        """The lower Cholesky factor of the posterior's precision."""
        # The curvature is singular: a constant added to all logits changes nothing.
        rounding = np.finfo(np.float64).eps * np.diag(self.curvature).max()
        if self.prior_precision < rounding:
            raise RunError(
                f"the full posterior with prior precision {self.prior_precision:.3g} is lost in "
                f"the rounding of its curvature, {rounding:.3g}; a larger prior precision would "
                "do, or kron or diag"
            )
        precision = self.curvature.copy(order="F")
        precision[np.diag_indices_from(precision)] += self.prior_precision
        factor, failed = lapack.dpotrf(precision, lower=True, overwrite_a=True)
        if failed:
            raise RunError(
                f"the full posterior with prior precision {self.prior_precision:.3g} is not "
                "positive definite in float64; a larger prior precision would do"
            )
        return factor

    @cached_property
    def _inverse(self) -> FloatArray:
        """The covariance of the parameters, (classes, width + 1, classes, width + 1)."""
        inverse, _ = lapack.dpotri(self._factor, lower=True)
        for column in range(len(inverse)):
            inverse[column, column + 1 :] = inverse[column + 1 :, column]
        width = len(inverse) // self.n_classes
        # Transposed, the Fortran array is one that can be reshaped without a copy.
        return inverse.T.reshape(self.n_classes, width, self.n_classes, width)

    def variance(self, features: FloatArray) -> FloatArray:
        """Of each logit, (records, classes)."""
        phi = _with_one(features)
        columns = [((phi @ self._inverse[c, :, c]) * phi).sum(axis=1) for c in self._classes]
        return np.stack(columns, axis=1)

    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes)."""
        phi, shape = _with_one(features), (self.n_classes, -1)
        result = np.empty((len(phi), self.n_classes, self.n_classes))
        for first in range(0, len(phi), RECORDS_AT_ONCE):
            rows = slice(first, first + RECORDS_AT_ONCE)
            part = phi[rows]
            for c in self._classes:
                block = self._inverse[c].reshape(part.shape[1], -1)
                half = (part @ block).reshape(len(part), *shape)
                result[rows, c] = (half @ part[:, :, None])[:, :, 0]
        return result

    def difference_variance(self, features: FloatArray, first, second) -> FloatArray:
        """Of the difference of two logits, (records,)."""
        phi = _with_one(features)
        result = np.empty(len(phi))
        pairs, place = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
        for index, (a, b) in enumerate(pairs.T):
            rows = np.flatnonzero(place.ravel() == index)
            blocks = self._inverse
            block = blocks[a, :, a] + blocks[b, :, b] - blocks[a, :, b] - blocks[b, :, a]
            result[rows] = ((phi[rows] @ block) * phi[rows]).sum(axis=1)
        return result

    def logit_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """What drawn weights add to the logits, (n_samples, records, classes)."""
        draws = rng.standard_normal((len(self.curvature), n_samples))
        weights = solve_triangular(self._factor, draws, lower=True, trans="T", overwrite_b=True)
        weights = weights.T.reshape(n_samples, self.n_classes, -1)
        return _with_one(features) @ weights.transpose(0, 2, 1)

    def linearised_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """Draws from each record's Gaussian logits, (n_samples, records, classes)."""
        root = np.linalg.cholesky(self.covariance(features))
        draws = rng.standard_normal((n_samples, *root.shape[:2]))
        return (root @ draws[..., None])[..., 0]

    @property
    def _classes(self) -> range:
        return range(self.n_classes)


def _with_one(features: FloatArray) -> FloatArray:
    return np.hstack([features, np.ones((len(features), 1))])
