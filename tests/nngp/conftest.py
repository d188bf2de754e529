import numpy as np
import pytest


@pytest.fixture(scope="session")
def images() -> tuple[np.ndarray, np.ndarray]:
    """Two sets of small colour images with positive and negative entries."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((11, 3, 6, 5)), rng.standard_normal((4, 3, 6, 5))
