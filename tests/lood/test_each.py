"""Searches for many records at once against one record after another."""

import numpy as np
import pytest

from membership import lood, nngp

NOISE = 0.1
ROWS = (4, 0, 4)
KERNELS = {
    "biases": nngp.fully_connected(3, "relu", 1.4, 0.1),
    "no biases": nngp.fully_connected(2, "gelu"),
    "RBF": nngp.rbf(),
}
pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.fixture
def start(task):
    return np.random.default_rng(3).normal(size=(len(ROWS), *task.x.shape[1:]))


def run(task, kernel, rows, start, **changes):
    how = {"steps": 15, "learning_rate": 0.02, "progress": False, **changes}
    return lood.maximise_each(kernel, task.x, task.y, NOISE, rows, start, **how)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "measure"),
    [("biases", "kl"), ("no biases", "kl-reverse"), ("RBF", "kl"), ("RBF", "mean")],
)
def test_they_end_where_searches_one_by_one_end(task, start, name, measure):
    kernel = KERNELS[name]
    found = run(task, kernel, ROWS, start, measure=measure)
    for i, row in enumerate(ROWS):
        x, y, differing = task.without(row)
        comparison = lood.compare(kernel, x, y, differing, NOISE)
        alone = lood.maximise(
            comparison, start[[i]], measure, steps=15, learning_rate=0.02, progress=False
        )
        np.testing.assert_allclose(found.query[i], alone.query[0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.history[:, i], alone.history[:, 0], rtol=1e-7)
        assert found.value[i] == pytest.approx(comparison.measure(found.query[i], measure))
        assert found.value[i] > found.history[0, i]
