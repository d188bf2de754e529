"""Gaussian posteriors of a last layer by structured algebra: diagonal and Kronecker-factored.

The layer maps features phi to logits f = W phi + b. With p the softmax of a record's logits, the
generalised Gauss-Newton matrix of the summed cross-entropy is the sum over records of
Lambda (x) [phi, 1][phi, 1]', Lambda = diag(p) - p p'; it does not depend on the labels. The
posterior's precision is that matrix, or its structured stand-in, plus the prior precision.

Every class here has the same methods, which `LaplacePosterior` describes; `features` are float64
of shape (records, width) and have been checked.

The full posterior orders the parameters class by class, each class's weights followed by its bias:
with phi1 = [phi, 1], its Gauss-Newton matrix is the sum over records of Lambda (x) phi1 phi1'.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import blas, eigvalsh, lapack, solve_triangular

from membership.arrays import FloatArray
from membership.errors import RunError


@dataclass(frozen=True)
class Structure(ABC):
    """What all posteriors share."""

    prior_precision: float = field(default=1.0, kw_only=True)

    @abstractmethod
    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes)."""

    def with_prior(self, prior_precision: float) -> Self:
        """The same curvature under another prior."""
        return replace(self, prior_precision=prior_precision)

    def linearised_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """Draws from each record's Gaussian logits, (n_samples, records, classes)."""
        root = np.linalg.cholesky(self.covariance(features))
        draws = rng.standard_normal((n_samples, *root.shape[:2]))
        return (root @ draws[..., None])[..., 0]


@dataclass(frozen=True)
class _OfEigenvalues(Structure):
    """What the posteriors share whose eigenvalues are at hand."""

    @abstractmethod
    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""

    @property
    def n_parameters(self) -> int:
        """Weights and biases."""
        return self.eigenvalues().size

    def log_det(self) -> float:
        """The log determinant of the posterior's precision."""
        return float(np.log(self.eigenvalues() + self.prior_precision).sum())


@dataclass(frozen=True)
class Diagonal(_OfEigenvalues):
    """The diagonal of the Gauss-Newton matrix: of the weights (classes, width) and biases."""

    weights: FloatArray
    biases: FloatArray

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray) -> Self:
        """Sum p (1 - p) phi^2 over the records."""
        spread = probability * (1 - probability)
        return cls(spread.T @ features**2, spread.sum(axis=0))

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        return np.concatenate([self.weights.ravel(), self.biases])

    def variance(self, features: FloatArray) -> FloatArray:
        """Of each logit, (records, classes)."""
        precision = self.weights + self.prior_precision
        return features**2 @ (1 / precision).T + 1 / (self.biases + self.prior_precision)

    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes); the classes are independent."""
        return self.variance(features)[:, :, None] * np.eye(self.biases.size)

    def difference_variance(self, features: FloatArray, first, second) -> FloatArray:
        """Of the difference of two logits, (records,)."""
        variance, rows = self.variance(features), np.arange(len(features))
        return variance[rows, first] + variance[rows, second]

    def logit_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """What drawn weights add to the logits, (n_samples, records, classes)."""
        weights = rng.standard_normal((n_samples, *self.weights.shape))
        weights /= np.sqrt(self.weights + self.prior_precision)
        biases = rng.standard_normal((n_samples, 1, self.biases.size))
        biases /= np.sqrt(self.biases + self.prior_precision)
        return features @ weights.transpose(0, 2, 1) + biases

    def linearised_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """Draws from each record's Gaussian logits, (n_samples, records, classes)."""
        sd = np.sqrt(self.variance(features))
        return rng.standard_normal((n_samples, *sd.shape)) * sd


@dataclass(frozen=True)
class Kronecker(_OfEigenvalues):
    """The Kronecker factors Q (x) A of the weights and Q of the biases, by their eigenvectors.

    Q sums Lambda over the records, A is the mean of phi phi'. The block between weights and biases
    is left out. Both are laplace-torch's conventions.
    """

    values_q: FloatArray
    vectors_q: FloatArray
    values_a: FloatArray
    vectors_a: FloatArray

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray) -> Self:
        """Decompose the two factors."""
        q = np.diag(probability.sum(axis=0)) - probability.T @ probability
        values_q, vectors_q = np.linalg.eigh(q)
        values_a, vectors_a = np.linalg.eigh(features.T @ features / len(features))
        return cls(_without_rounding(values_q), vectors_q, _without_rounding(values_a), vectors_a)

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        products = np.outer(self.values_q, self.values_a).ravel()
        return np.concatenate([products, self.values_q], dtype=np.float64)

    def eigen_variance(self, features: FloatArray) -> FloatArray:
        """Of the logits along the eigenvectors of Q, where they are independent."""
        precision = np.outer(self.values_q, self.values_a) + self.prior_precision
        rotated = features @ self.vectors_a
        return rotated**2 @ (1 / precision).T + 1 / (self.values_q + self.prior_precision)

    def variance(self, features: FloatArray) -> FloatArray:
        """Of each logit, (records, classes)."""
        return self.eigen_variance(features) @ (self.vectors_q**2).T

    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes)."""
        return (self.vectors_q * self.eigen_variance(features)[:, None, :]) @ self.vectors_q.T

    def difference_variance(self, features: FloatArray, first, second) -> FloatArray:
        """Of the difference of two logits, (records,)."""
        direction = self.vectors_q[first] - self.vectors_q[second]
        return np.einsum("nc,nc->n", direction**2, self.eigen_variance(features))

    def logit_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """What drawn weights add to the logits, (n_samples, records, classes)."""
        precision = np.outer(self.values_q, self.values_a) + self.prior_precision
        weights = rng.standard_normal((n_samples, *precision.shape)) / np.sqrt(precision)
        biases = rng.standard_normal((n_samples, 1, self.values_q.size))
        biases /= np.sqrt(self.values_q + self.prior_precision)
        noise = (features @ self.vectors_a) @ weights.transpose(0, 2, 1) + biases
        return noise @ self.vectors_q.T

    def linearised_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """Draws from each record's Gaussian logits, (n_samples, records, classes)."""
        sd = np.sqrt(self.eigen_variance(features))
        return (rng.standard_normal((n_samples, *sd.shape)) * sd) @ self.vectors_q.T


def _without_rounding(values: FloatArray) -> FloatArray:
    """Eigenvalues, zero where they are rounding: the prior alone answers there, however small."""
    return np.where(values > len(values) * np.finfo(np.float64).eps * values.max(), values, 0.0)


# Curvature, its Cholesky factor and the covariance of the parameters.
MATRICES = 3
RECORDS_AT_ONCE = 256


@dataclass(frozen=True)
class Full(Structure):
    """The Gauss-Newton matrix itself, of which the lower triangle counts."""

    curvature: FloatArray
    n_classes: int

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
            # scipy's types leave out what it takes from LAPACK.
            # pyrefly: ignore[missing-attribute]
            total = blas.dsyrk(-1.0, joint.T, beta=1.0, c=total, lower=True, overwrite_c=True)
        for c in range(n_classes):
            block = slice(c * width, (c + 1) * width)
            total[block, block] += (phi * probability[:, c, None]).T @ phi
        return cls(total, n_classes)

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
        # pyrefly: ignore[missing-attribute]
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
        # pyrefly: ignore[missing-attribute]
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

    @property
    def _classes(self) -> range:
        return range(self.n_classes)


def _with_one(features: FloatArray) -> FloatArray:
    return np.hstack([features, np.ones((len(features), 1))])
