"""Gaussian posteriors of a last layer by structured algebra: diagonal and Kronecker-factored.

The layer maps features phi to logits f = W phi + b, or W phi where it has no bias. With p the
softmax of a record's logits, the generalised Gauss-Newton matrix of the summed cross-entropy is the
sum over records of Lambda (x) [phi, 1][phi, 1]', Lambda = diag(p) - p p'; it does not depend on the
labels. The posterior's precision is that matrix, or its structured stand-in, plus the prior
precision.

Every class here has the same methods, which `LaplacePosterior` describes; `features` are float64
of shape (records, width) and have been checked.

The full posterior orders the parameters class by class, each class's weights followed by its bias:
with phi1 = [phi, 1], its Gauss-Newton matrix is the sum over records of Lambda (x) phi1 phi1'.
Without a bias there is no 1, and what is said of biases falls away.
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
    biases: FloatArray | None

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray, has_bias: bool = True) -> Self:
        """Sum p (1 - p) phi^2 over the records."""
        spread = probability * (1 - probability)
        return cls(spread.T @ features**2, spread.sum(axis=0) if has_bias else None)

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        of_biases = [] if self.biases is None else self.biases
        return np.concatenate([self.weights.ravel(), of_biases], dtype=np.float64)

    def variance(self, features: FloatArray) -> FloatArray:
        """Of each logit, (records, classes)."""
        variance = features**2 @ (1 / (self.weights + self.prior_precision)).T
        if self.biases is None:
            return variance
        return variance + 1 / (self.biases + self.prior_precision)

    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes); the classes are independent."""
        return self.variance(features)[:, :, None] * np.eye(len(self.weights))

    def difference_variance(self, features: FloatArray, first, second) -> FloatArray:
        """Of the difference of two logits, (records,)."""
        variance, rows = self.variance(features), np.arange(len(features))
        return variance[rows, first] + variance[rows, second]

    def logit_noise(self, features: FloatArray, n_samples: int, rng) -> FloatArray:
        """What drawn weights add to the logits, (n_samples, records, classes)."""
        weights = rng.standard_normal((n_samples, *self.weights.shape))
        weights /= np.sqrt(self.weights + self.prior_precision)
        noise = features @ weights.transpose(0, 2, 1)
        if self.biases is None:
            return noise
        biases = rng.standard_normal((n_samples, 1, self.biases.size))
        return noise + biases / np.sqrt(self.biases + self.prior_precision)

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
    has_bias: bool = True

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray, has_bias: bool = True) -> Self:
        """Decompose the two factors."""
        q = np.diag(probability.sum(axis=0)) - probability.T @ probability
        values_q, vectors_q = np.linalg.eigh(q)
        values_a, vectors_a = np.linalg.eigh(features.T @ features / len(features))
        values_q, values_a = _without_rounding(values_q), _without_rounding(values_a)
        return cls(values_q, vectors_q, values_a, vectors_a, has_bias)

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        products = np.outer(self.values_q, self.values_a).ravel()
        of_biases = self.values_q if self.has_bias else []
        return np.concatenate([products, of_biases], dtype=np.float64)

    def eigen_variance(self, features: FloatArray) -> FloatArray:
        """Of the logits along the eigenvectors of Q, where they are independent."""
        precision = np.outer(self.values_q, self.values_a) + self.prior_precision
        variance = (features @ self.vectors_a) ** 2 @ (1 / precision).T
        return variance + 1 / (self.values_q + self.prior_precision) if self.has_bias else variance

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
        noise = (features @ self.vectors_a) @ weights.transpose(0, 2, 1)
        if self.has_bias:
            biases = rng.standard_normal((n_samples, 1, self.values_q.size))
            noise += biases / np.sqrt(self.values_q + self.prior_precision)
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
    has_bias: bool = True

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray, has_bias: bool = True) -> Self:
        """Sum (diag(p) - p p') (x) phi1 phi1' over the records."""
        phi, n_classes = _with_one(features, has_bias), probability.shape[1]
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
        return cls(total, n_classes, has_bias)

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
        """The covariance of the parameters, class by class on both axes."""
        # pyrefly: ignore[missing-attribute]
        inverse, _ = lapack.dpotri(self._factor, lower=True)
        for column in range(len(inverse)):
            inverse[column, column + 1 :] = inverse[column + 1 :, column]
        width = len(inverse) // self.n_classes
        # Transposed, the Fortran array is one that can be reshaped without a copy.
        return inverse.T.reshape(self.n_classes, width, self.n_classes, width)

    def variance(self, features: FloatArray) -> FloatArray:
        """Of each logit, (records, classes)."""
        phi = _with_one(features, self.has_bias)
        columns = [((phi @ self._inverse[c, :, c]) * phi).sum(axis=1) for c in self._classes]
        return np.stack(columns, axis=1)

    def covariance(self, features: FloatArray) -> FloatArray:
        """Of the logits, (records, classes, classes)."""
        phi, shape = _with_one(features, self.has_bias), (self.n_classes, -1)
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
        phi = _with_one(features, self.has_bias)
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
        return _with_one(features, self.has_bias) @ weights.transpose(0, 2, 1)

    @property
    def _classes(self) -> range:
        return range(self.n_classes)


def _with_one(features: FloatArray, has_bias: bool) -> FloatArray:
    return np.hstack([features, np.ones((len(features), 1))]) if has_bias else features
