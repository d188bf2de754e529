"""Kernels as objects: a NumPy matrix when called, and a JAX function for gradients."""

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from membership import memory
from membership.arrays import FloatArray
from membership.errors import InputError
from membership.nngp.checks import records

# Entries a block of the matrix: the intermediate arrays stay in the processor's cache.
BLOCK = 1 << 17


@dataclass(frozen=True)
class Kernel:
    """A covariance function of two sets of records.

    Subclasses give `evaluate`, the kernel as array arithmetic, once for NumPy and JAX. Kernels
    are immutable, comparable and hashable, and their `repr` names every parameter.

    Attributes
    ----------
    scale : float
        Factor on the kernel.
    """

    scale: float = 1.0

    def __call__(self, x1: Any, x2: Any = None) -> FloatArray:
        """Compute the kernel matrix in float64, block by block.

        Beside the matrix, 0.8 GB for 10,000 records, only a few megabytes are held at a time.
        """
        x1 = records("x1", x1)
        if x2 is None:
            return self._symmetric(x1)
        x2 = records("x2", x2, like=x1)
        out = _matrix(len(x1), len(x2))
        step = self._rows_a_block(x1, len(x2))
        for i in range(0, len(x1), step):
            out[i : i + step] = self.evaluate(x1[i : i + step], x2, np)
        return self.scale * out if self.scale != 1.0 else out

    def diagonal(self, x: Any) -> FloatArray:
        """Compute k(x, x) of each record, shape (records,), in float64."""
        return self.scale * self.evaluate_diagonal(records("x", x), np)

    def traceable(self, x1, x2):
        """The kernel matrix of JAX arrays as JAX operations.

        JAX works in float32 unless the call lies within ``nngp.float64()``.
        """
        import jax.numpy as jnp

        return self.scale * self.evaluate(x1, x2, jnp)

    def traceable_diagonal(self, x):
        """k(x, x) of each record of a JAX array as JAX operations."""
        import jax.numpy as jnp

        return self.scale * self.evaluate_diagonal(x, jnp)

    def scaled(self, factor: float) -> "Kernel":
        """Return the kernel times a factor above 0."""
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(f"factor = {factor}: give a number above 0")
        return replace(self, scale=self.scale * float(factor))

    def evaluate(self, x1, x2, xp: ModuleType):
        """Kernel matrix of two arrays of records, without the scale."""
        raise TypeError(f"{type(self).__name__} has no formula")

    def evaluate_diagonal(self, x, xp: ModuleType):
        """k(x, x) of each record, without the scale."""
        raise TypeError(f"{type(self).__name__} has no formula")

    def _rows_a_block(self, x: FloatArray, n_columns: int) -> int:
        return max(1, BLOCK // n_columns)

    def _symmetric(self, x: FloatArray) -> FloatArray:
        n = len(x)
        out = _matrix(n, n)
        i = 0
        while i < n:
            j = min(n, i + self._rows_a_block(x, n - i))
            block = self.evaluate(x[i:j], x[i:], np)
            square = block[:, : j - i]
            out[i:j, i:j] = (square + square.T) / 2
            out[i:j, j:] = block[:, j - i :]
            out[j:, i:j] = block[:, j - i :].T
            i = j
        if self.scale != 1.0:
            out *= self.scale
        return out


class MomentKernel(Kernel):
    """A kernel of two records' mean squares a, b and mean product c over their entries."""

    def evaluate(self, x1, x2, xp: ModuleType):
        """Kernel matrix from the records' moments."""
        x1, x2 = x1.reshape(len(x1), -1), x2.reshape(len(x2), -1)
        a, b = (x1 * x1).mean(axis=1), (x2 * x2).mean(axis=1)
        return self.of_moments(a[:, None], b[None, :], x1 @ x2.T / x1.shape[1], xp)

    def evaluate_diagonal(self, x, xp: ModuleType):
        """k(x, x) from the records' mean squares."""
        a = (x * x).reshape(len(x), -1).mean(axis=1)
        return self.of_moments(a, a, a, xp)

    def of_moments(self, a, b, c, xp: ModuleType):
        """The kernel where a, b and c broadcast."""
        raise TypeError(f"{type(self).__name__} has no formula")


def _matrix(rows: int, columns: int) -> FloatArray:
    what = f"the kernel of {rows:,} and {columns:,} records"
    memory.require(8 * rows * columns, what, "give fewer records")
    return np.empty((rows, columns))
