"""Small reference problems, with their posteriors written out densely from the definition."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.special import log_softmax, softmax


@dataclass(frozen=True)
class Problem:
    """A random last layer on random records."""

    features: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    label: np.ndarray
    query: np.ndarray

    @property
    def logits(self) -> np.ndarray:
        return self.features @ self.weight.T + self.bias

    @property
    def layer(self) -> dict[str, np.ndarray]:
        return {"weight": self.weight, "bias": self.bias, "label": self.label}

    def jacobian(self, features: np.ndarray) -> np.ndarray:
        """(records, classes, parameters): the weights row by row, then the biases."""
        identity = np.eye(len(self.bias))
        weights = np.einsum("nk,cd->ncdk", features, identity)
        weights = weights.reshape(len(features), len(identity), -1)
        return np.concatenate([weights, np.tile(identity, (len(features), 1, 1))], axis=2)

    def curvature(self, structure: str) -> np.ndarray:
        """The Gauss-Newton matrix or its stand-in, record by record."""
        p = softmax(self.logits, axis=1)
        hessians = [np.diag(row) - np.outer(row, row) for row in p]
        if structure == "kron":
            q = sum(hessians)
            a = sum(np.outer(phi, phi) for phi in self.features) / len(self.features)
            return block_diag(np.kron(q, a), q)
        full = sum(j.T @ h @ j for j, h in zip(self.jacobian(self.features), hessians, strict=True))
        return full if structure == "full" else np.diag(np.diag(full))

    def covariance(self, structure: str, precision: float) -> np.ndarray:
        """Of the query's logits, by the inverse of the dense precision."""
        curvature = self.curvature(structure)
        inverse = np.linalg.inv(curvature + precision * np.eye(len(curvature)))
        return np.stack([j @ inverse @ j.T for j in self.jacobian(self.query)])

    def evidence(self, structure: str, precision: float) -> float:
        """Laplace's log marginal likelihood, from determinants."""
        curvature = self.curvature(structure)
        size, rows = len(curvature), np.arange(len(self.label))
        likelihood = log_softmax(self.logits, axis=1)[rows, self.label].sum()
        log_det = np.linalg.slogdet(curvature + precision * np.eye(size))[1]
        norm = (self.weight**2).sum() + (self.bias**2).sum()
        return likelihood - (log_det - size * np.log(precision) + precision * norm) / 2


@pytest.fixture(params=[(3, 4), (2, 1), (5, 3)], ids=["3 classes", "2 classes", "5 classes"])
def last_layer_problem(request) -> Problem:
    classes, width = request.param
    rng = np.random.default_rng(classes)
    features = rng.standard_normal((40, width)) + 0.5
    weight, bias = rng.standard_normal((classes, width)), rng.standard_normal(classes)
    label = rng.integers(0, classes, 40)
    return Problem(features, weight, bias, label, rng.standard_normal((7, width)))
