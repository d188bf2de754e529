from typing import NamedTuple

import numpy as np
import pytest

from membership import data


class Task(NamedTuple):
    """Standardised digits with centred one-hot labels."""

    x: np.ndarray
    y: np.ndarray

    def without(self, i):
        """All records but one or some, and those."""
        keep = np.ones(len(self.x), dtype=bool)
        keep[i] = False
        return self.x[keep], self.y[keep], (self.x[i], self.y[i])


def digits(n):
    loaded = data.load("digits")
    x = loaded.x[:n].astype(np.float64)
    return Task((x - x.mean()) / x.std(), np.eye(10)[loaded.y[:n]] - 0.1)


@pytest.fixture(scope="session")
def task():
    """60 records: quick."""
    return digits(60)


@pytest.fixture(scope="session")
def large_task():
    """500 records."""
    return digits(500)


@pytest.fixture(scope="module")
def quickly_compiled():
    """JAX compiles without most optimisations: for tests that run little of what it compiles."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
