"""What the reference models of one side, IN or OUT, say of each record's signal."""

from typing import NamedTuple

import numpy as np

from membership.arrays import BoolArray, FloatArray


class Side(NamedTuple):
    """The moments of each record's signals; fields of shape (records,)."""

    count: np.ndarray
    mean: FloatArray
    squares: FloatArray
    """Of the deviations from the mean, summed; 0 where the models agree."""


def side_of(phi: FloatArray, chosen: BoolArray) -> Side:
    """Take the moments of each record's signals under the chosen models."""
    count = chosen.sum(axis=0)
    # With 0 for what is not chosen, and not by `where=`, which takes twice as long.
    mean = np.where(chosen, phi, 0.0).sum(axis=0) / count
    squares = np.square(np.where(chosen, phi - mean, 0.0)).sum(axis=0)
    # Without this, the rounding of the mean passes for a spread.
    lowest = np.where(chosen, phi, np.inf).min(axis=0)
    highest = np.where(chosen, phi, -np.inf).max(axis=0)
    return Side(count, mean, np.where(highest > lowest, squares, 0.0))
