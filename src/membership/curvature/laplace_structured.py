r"""Gaussian posteriors of a last layer by structured algebra: diagonal and Kronecker-factored.

The layer maps features phi to logits f = W phi + b. With p the softmax of a record's logits, the
generalised Gauss-Newton matrix of the summed cross-entropy is the sum over records of
Lambda (x) [phi, 1][phi, 1]', Lambda = diag(p) - p p'; it does not depend on the labels. The
posterior's precision is that matrix, or its structured stand-in, plus the prior precision.

Every class here has the same methods, which `LaplacePosterior` describes; `features` are float64
of shape (records, width) and have been checked.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from membership.arrays import FloatArray


@dataclass(frozen=True)
class Diagonal:
    """The diagonal of the Gauss-Newton matrix: of the weights (classes, width) and biases."""

    weights: FloatArray
    biases: FloatArray
    prior_precision: float = 1.0

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray) -> Self:
        """Sum p (1 - p) phi^2 over the records."""
        spread = probability * (1 - probability)
        return cls(spread.T @ features**2, spread.sum(axis=0))

    def with_prior(self, prior_precision: float) -> Self:
        """The same curvature under another prior."""
        return replace(self, prior_precision=prior_precision)

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        return np.concatenate([self.weights.ravel(), self.biases])

    @property
    def n_parameters(self) -> int:
        """Weights and biases."""
        return self.weights.size + self.biases.size

    def log_det(self) -> float:
        """The log determinant of the posterior's precision."""
        return float(np.log(self.eigenvalues() + self.prior_precision).sum())

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
class Kronecker:
    """The Kronecker factors Q (x) A of the weights and Q of the biases, by their eigenvectors.

    Q sums Lambda over the records, A is the mean of phi phi'. The block between weights and biases
    is left out. Both are laplace-torch's conventions.
    """

    values_q: FloatArray
    vectors_q: FloatArray
    values_a: FloatArray
    vectors_a: FloatArray
    prior_precision: float = 1.0

    @classmethod
    def fit(cls, features: FloatArray, probability: FloatArray) -> Self:
        """Decompose the two factors."""
        q = np.diag(probability.sum(axis=0)) - probability.T @ probability
        values_q, vectors_q = np.linalg.eigh(q)
        values_a, vectors_a = np.linalg.eigh(features.T @ features / len(features))
        return cls(_without_rounding(values_q), vectors_q, _without_rounding(values_a), vectors_a)

    def with_prior(self, prior_precision: float) -> Self:
        """The same curvature under another prior."""
        return replace(self, prior_precision=prior_precision)

    def eigenvalues(self) -> FloatArray:
        """Of the curvature without the prior, one a parameter."""
        return np.concatenate([np.outer(self.values_q, self.values_a).ravel(), self.values_q])

    @property
    def n_parameters(self) -> int:
        """Weights and biases."""
        return self.values_q.size * (self.values_a.size + 1)

    def log_det(self) -> float:
        """The log determinant of the posterior's precision."""
        return float(np.log(self.eigenvalues() + self.prior_precision).sum())

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
