import numpy as np
import pytest

from membership import lood, nngp

pytest.importorskip("jax")
KERNEL = nngp.rbf(1.0)


@pytest.fixture(scope="module")
def reconstruction(task):
    return lood.reconstruct(KERNEL, *task.without(2), 0.1, 0, n_starts=6, steps=200, progress=False)


@pytest.mark.slow
def test_a_record_comes_back_from_noise(task, reconstruction):
    assert reconstruction.lood == pytest.approx(reconstruction.target, rel=1e-3)
    assert np.corrcoef(reconstruction.query.ravel(), task.x[2].ravel())[0, 1] > 0.99
    assert reconstruction.lood == reconstruction.values.max()
    x, y, differing = task.without(2)
    comparison = lood.compare(KERNEL, x, y, differing, 0.1)
    np.testing.assert_allclose(
        comparison.measure(reconstruction.queries), reconstruction.values, rtol=1e-10
    )
    np.testing.assert_allclose(
        comparison.measure(reconstruction.start), reconstruction.history[0], rtol=1e-10
    )
    assert reconstruction.target == pytest.approx(comparison.measure(differing[0]), rel=1e-10)


@pytest.mark.slow
def test_the_starts_are_noise_in_the_range_of_the_data(task, reconstruction):
    x = task.without(2)[0]
    assert reconstruction.start.shape == (6, 1, 8, 8)
    assert x.min() <= reconstruction.start.min() < x.min() + 0.1
    assert x.max() >= reconstruction.start.max() > x.max() - 0.1
    assert reconstruction.history.shape == (21, 6)


def test_the_same_seed_gives_the_same_queries(task, reconstruction):
    arguments = dict(n_starts=6, steps=200, progress=False)
    again = lood.reconstruct(KERNEL, *task.without(2), 0.1, 0, **arguments)
    np.testing.assert_array_equal(again.queries, reconstruction.queries)
    other = lood.reconstruct(KERNEL, *task.without(2), 0.1, 1, **arguments)
    assert not np.array_equal(other.start, reconstruction.start)


@pytest.mark.slow
def test_several_starts_at_once_are_the_same_starts_one_by_one(task, reconstruction):
    x, y, differing = task.without(2)
    comparison = lood.compare(KERNEL, x, y, differing, 0.1)
    unit = (x.max() - x.min()) / 255
    alone = lood.maximise(
        comparison, reconstruction.start[:1], unit=unit, steps=200, progress=False
    )
    np.testing.assert_allclose(alone.history[:, 0], reconstruction.history[:, 0], rtol=1e-6)


@pytest.mark.slow
def test_a_group_comes_back_together(task):
    found = lood.reconstruct(
        KERNEL,
        *task.without(slice(0, 2)),
        0.1,
        0,
        n_starts=3,
        n_queries=2,
        steps=150,
        progress=False,
    )
    assert found.query.shape == (2, 1, 8, 8)
    assert found.lood <= found.target * (1 + 1e-9)
    assert found.lood > found.history[0].max()


@pytest.mark.slow
def test_the_largest_mean_distance_may_lie_elsewhere():
    """One dimension: the mean distance is largest away from S, and KL at S."""
    x = np.linspace(-1, 1, 9)[:, None]
    y, record = np.sin(3 * x[:, 0]), np.array([1.3])
    comparison = lood.compare(KERNEL, x, y, (record, 1.0), 0.01)
    grid = np.linspace(-4, 4, 3201)[:, None]
    for measure, at_record in (("mean", False), ("kl", True)):
        found = lood.maximise(
            comparison, record[None] + 0.05, measure, learning_rate=0.02, progress=False
        )
        best = grid[comparison.measure(grid, measure).argmax()]
        assert found.query[0, 0] == pytest.approx(best[0], abs=5e-3)
        assert (abs(found.query[0, 0] - record[0]) < 1e-3) == at_record


@pytest.mark.slow
def test_patience_ends_a_search_that_stands_still(task):
    x, y, differing = task.without(2)
    comparison = lood.compare(KERNEL, x, y, differing, 0.1)
    found = lood.maximise(comparison, differing[0][None], patience=3, progress=False)
    assert found.steps == 30
    np.testing.assert_array_equal(found.query[0], differing[0])


@pytest.mark.slow
def test_bounds_may_be_given_by_channel(task):
    found = lood.reconstruct(
        KERNEL,
        *task.without(2),
        0.1,
        0,
        bounds=(-5.0, np.full((1, 1, 1), -4.0)),
        steps=1,
        progress=False,
    )
    assert -5 <= found.start.min() < found.start.max() <= -4
