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
    kept = np.where(chosen, phi, 0.0)
    mean = kept.sum(axis=0) / count
    np.subtract(kept, mean, out=kept, where=chosen)
    squares = np.einsum("mr,mr->r", kept, kept)
    # Without this, the rounding of the mean passes for a spread.
    first = np.take_along_axis(phi, chosen.argmax(axis=0)[None], axis=0)
    agree = ((phi == first) | ~chosen).all(axis=0)
    return Side(count, mean, np.where(agree, 0.0, squares))
