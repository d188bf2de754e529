"""Gradients against differences, and the records that are least stationary."""

import numpy as np
import pytest

from membership import lood, nngp

KERNEL = nngp.fully_connected(3, "relu", 1.4, 0.1)
pytestmark = pytest.mark.usefixtures("quickly_compiled")


def differences(function, query, h=1e-5, seed=0):
    """A derivative along a random direction, and the direction."""
    direction = np.random.default_rng(seed).standard_normal(query.shape)
    return (function(query + h * direction) - function(query - h * direction)) / (2 * h), direction


@pytest.fixture(scope="module", params=["one record", "group", "normalised"])
def comparison(request, task):
    x, y, differing = task.without(slice(0, 3) if request.param == "group" else 0)
    if request.param == "normalised":
        return lood.compare_normalised(
            KERNEL, 3 * x + 1, y, (3 * differing[0] + 1, differing[1]), 0.1
        )
    return lood.compare(KERNEL, x, y, differing, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["kl", "kl-reverse", "mean"])
def test_gradients_are_the_limit_of_differences(task, comparison, measure):
    query = task.x[:3] + 0.4 * task.x[3:6]
    value, gradient = lood.gradient(comparison, query, measure)
    np.testing.assert_allclose(value, comparison.measure(query, measure), rtol=1e-11)
    slope, direction = differences(lambda q: comparison.measure(q, measure), query)
    along = (gradient * direction).reshape(3, -1).sum(axis=1)
    np.testing.assert_allclose(along, slope, rtol=1e-6)
    one, alone = lood.gradient(comparison, query[1], measure)
    assert one == pytest.approx(value[1], rel=1e-12)
    np.testing.assert_allclose(alone, gradient[1], rtol=1e-9, atol=1e-12 * np.abs(alone).max())


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["kl", "kl-reverse", "mean"])
@pytest.mark.parametrize("members", [1, 3])
def test_so_are_those_of_joint_queries(task, measure, members):
    x, y, differing = task.without(slice(0, members))
    comparison = lood.compare(KERNEL, x, y, differing, 0.1)
    query = task.x[:3] + 0.4 * task.x[3:6]
    value, gradient = lood.gradient(comparison, query, measure, joint=True)
    assert value == pytest.approx(comparison.measure(query, measure, joint=True), rel=1e-8)
    slope, direction = differences(lambda q: comparison.measure(q, measure, joint=True), query)
    assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-6)


KERNEL, NOISE = nngp.rbf(1.0), 0.01
X = np.linspace(-1, 1, 9)[:, None]
Y = np.sin(3 * X[:, 0])


def slope(record):
    comparison = lood.compare(KERNEL, X, Y, (record, 1.0), NOISE)
    return np.abs(lood.gradient(comparison, record, "mean")[1]).item()


@pytest.mark.slow
def test_the_record_found_has_the_steepest_mean_distance():
    found = lood.least_stationary(
        KERNEL,
        X,
        Y,
        1.0,
        NOISE,
        np.array([[1.5], [-1.5], [3.0]]),
        learning_rate=0.05,
        progress=False,
    )
    np.testing.assert_allclose(found.value, [slope(r) for r in found.query], rtol=1e-8)
    grid = np.linspace(-4, 4, 401)[:, None] + 1e-4
    steepest = max(slope(record) for record in grid)
    assert found.value.max() == pytest.approx(steepest, rel=1e-3)
    assert found.value.max() >= steepest
