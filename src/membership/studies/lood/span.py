"""The space that a run's records and queries span, in whose coordinates networks are smaller."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from membership import data
from membership.arrays import FloatArray
from membership.studies.lood.records import Records, lines


@dataclass(frozen=True)
class Span:
    """Coordinates in which networks without biases read records.

    Attributes
    ----------
    dimensions : int
        Numbers that a record has in them.
    basis : numpy.ndarray of float64, shape (features, dimensions), or None
        Orthonormal columns; None where there are as many features, which are read as they are.
    """

    dimensions: int
    basis: FloatArray | None = None

    def coordinates(self, x: np.ndarray) -> np.ndarray:
        """Of records within the space, (records, dimensions); as they are without a basis."""
        if self.basis is None:
            return np.asarray(x, np.float32)
        rows = np.asarray(x, np.float64).reshape(len(x), -1)
        return (rows @ self.basis).astype(np.float32)

    def seen(self, records: Records) -> data.Dataset:
        """The training set as the networks read it."""
        if self.basis is None:
            return records.dataset
        own = dataclasses.replace(records.dataset, x=self.coordinates(records.dataset.x))
        return own.select(np.arange(len(own)))  # which takes the digest anew

    def expanded(self, weights: FloatArray, deviation: float, seed: int) -> FloatArray:
        """First-layer weights over the features, for records outside of the space too.

        Training leaves what reads directions outside of it as it was drawn, from a normal law of
        this deviation; which draw it was is nothing that the coordinates know, so it is made here.
        """
        if self.basis is None:
            return weights
        drawn = np.random.default_rng(seed).normal(0, deviation, (len(weights), len(self.basis)))
        return (weights - drawn @ self.basis) @ self.basis.T + drawn


def span(records: Records, left_out: Sequence[int] | np.ndarray, settings: Any) -> Span:
    """The space of the records and of the lines through those that are left out."""
    features = int(np.prod(records.shape))
    if len(records) + len(left_out) >= features:
        return Span(features)
    x = records.dataset.x.astype(np.float64)
    away = lines(x[left_out], settings)[:, -1]
    rows = np.concatenate([x, away]).reshape(-1, features)
    basis = np.linalg.qr(rows.T)[0]
    return Span(basis.shape[1], basis)
