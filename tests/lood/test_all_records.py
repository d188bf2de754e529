"""One record left out at a time, directly; the law of trained networks, from networks trained."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from membership import lood, nngp
from membership.errors import InputError

NOISE = 0.05
FIELDS = ("kl", "kl_reverse", "mean_distance", "auc")


def directly(matrix, y, noise, i):
    """Leave record i out by solving two systems, as the definitions say."""
    keep = np.arange(len(y)) != i

    def predict(rows):
        inverse = np.linalg.inv(matrix[np.ix_(rows, rows)] + noise * np.eye(rows.sum()))
        cross = matrix[i, rows]
        return cross @ inverse @ y[rows], matrix[i, i] - cross @ inverse @ cross

    (mean, v), (mean_s, v_s) = predict(keep), predict(np.ones(len(y), dtype=bool))
    squared = np.square(mean - mean_s).sum()
    kl, reverse = (
        0.5 * (y.shape[1] * (np.log(b / a) - 1 + a / b) + squared / b)
        for a, b in ((v, v_s), (v_s, v))
    )
    return kl, reverse, squared / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [nngp.fully_connected(10, "gelu", 1.6, 0.2), nngp.fully_connected(2), nngp.rbf(0.3)]
)
def test_one_inverse_gives_what_500_fits_give(large_task, kernel):
    matrix, y = kernel(large_task.x), large_task.y
    found = lood.leave_one_out(matrix, y, NOISE)
    expected = np.array([directly(matrix, y, NOISE, i) for i in range(0, 500, 10)])
    for name, column in zip(FIELDS, expected.T, strict=False):
        np.testing.assert_allclose(getattr(found, name)[::10], column, rtol=1e-9)


def test_it_is_the_comparison_of_each_record_with_the_rest(task):
    kernel = nngp.fully_connected(3, "relu", 1.4, 0.1)
    found = lood.leave_one_out(kernel(task.x), task.y, NOISE)
    for i in range(0, 60, 7):
        x, y, differing = task.without(i)
        comparison = lood.compare(kernel, x, y, differing, NOISE)
        for name, measure in zip(FIELDS, ("kl", "kl-reverse", "mean", "auc"), strict=True):
            assert getattr(found, name)[i] == pytest.approx(
                comparison.measure(task.x[i], measure), rel=1e-9
            )
        mean, variance = comparison.without.predict(task.x[i])
        assert found.variance[i] == pytest.approx(variance[0], rel=1e-9)
        np.testing.assert_allclose(found.residual[i], task.y[i] - mean[0], rtol=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 999), factor=st.floats(0.1, 10.0), outputs=st.integers(1, 4))
def test_order_rotation_and_scale_do_not_matter(seed, factor, outputs):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((12, 5)), rng.standard_normal((12, outputs))
    matrix = nngp.rbf()(x)
    base = lood.leave_one_out(matrix, y, NOISE)
    order = rng.permutation(12)
    shuffled = lood.leave_one_out(matrix[np.ix_(order, order)], y[order], NOISE)
    rotation = np.linalg.qr(rng.standard_normal((outputs, outputs)))[0]
    rotated = lood.leave_one_out(matrix, y @ rotation, NOISE)
    # Kernel, noise and squared labels in other units.
    scaled = lood.leave_one_out(factor * matrix, np.sqrt(factor) * y, factor * NOISE)
    for name in ("kl", "kl_reverse", "auc"):
        expected = getattr(base, name)
        np.testing.assert_allclose(getattr(shuffled, name), expected[order], rtol=1e-9)
        np.testing.assert_allclose(getattr(rotated, name), expected, rtol=1e-9)
        np.testing.assert_allclose(getattr(scaled, name), expected, rtol=1e-9)
    assert (base.kl >= base.kl_reverse).all()
    assert (base.kl_reverse >= 0).all()


def test_one_output_may_come_without_its_axis(task):
    matrix = nngp.rbf()(task.x)
    flat = lood.leave_one_out(matrix, task.y[:, 0], NOISE)
    column = lood.leave_one_out(matrix, task.y[:, :1], NOISE)
    np.testing.assert_array_equal(flat.kl, column.kl)


def test_the_low_rank_bound_holds(task):
    """Where the kernel is within delta of a constant, LOOD is small (cf. Proposition 6.1)."""
    noise, n = 0.1, len(task.x) - 1
    sphere = task.x / np.sqrt((task.x**2).mean(axis=(1, 2, 3), keepdims=True))
    for depth in (2, 10, 50, 200):
        matrix = nngp.fully_connected(depth, "relu")(sphere)
        delta = (matrix.max() - matrix.min()) / 2
        found = lood.leave_one_out(matrix, task.y[:, 0], noise)
        bound = 4 * delta + noise / n
        assert (found.variance <= bound).all()
        squared = found.residual[:, 0] ** 2
        worst = 0.5 * (bound / noise + squared * bound / (noise * (bound + noise)))
        assert (found.kl <= worst).all()
    assert delta < 1e-3


def test_too_many_records_for_memory_are_refused(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device: 20_000)
    with pytest.raises(InputError, match=r"kernel matrix of 100 records needs about 0\.0"):
        lood.leave_one_out(np.eye(100), np.ones(100), 0.1)


RIDGE = 0.2


@pytest.fixture(scope="module")
def few():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(12, 4)), rng.normal(size=(12, 2))
    kernel = nngp.fully_connected(2, "gelu", 1.4, 0.3)
    return kernel(x), nngp.tangent_kernel(kernel, x), y


def written_out(prior, tangent, y, record, ridge):
    """Moments with and without a record from the linear map of the start's values."""
    n = len(prior)
    laws = []
    for rows in ([i for i in range(n) if i != record], list(range(n))):
        weights = tangent[record, rows] @ np.linalg.inv(
            tangent[np.ix_(rows, rows)] + ridge * np.eye(len(rows))
        )
        of_start = np.eye(n)[record]
        for weight, row in zip(weights, rows, strict=True):
            of_start = of_start - weight * np.eye(n)[row]
        laws.append((weights @ y[rows], of_start @ prior @ of_start))
    return laws


def test_it_is_the_law_of_the_map_from_start_to_end(few):
    prior, tangent, y = few
    found = lood.trained_ensembles(prior, tangent, y, [3, 7], RIDGE)
    for i, record in enumerate((3, 7)):
        (mean, variance), (mean_s, variance_s) = written_out(*few, record, RIDGE)
        move = np.sum((mean - mean_s) ** 2)
        assert found.excess[i, 0] == pytest.approx(variance / variance_s - 1, rel=1e-9)
        assert found.shift[i, 0] == pytest.approx(move / variance_s, rel=1e-9)
        assert found.mean_distance[i] == pytest.approx(move / 2, rel=1e-9)
        expected = written_kl(mean, variance, mean_s, variance_s)
        assert found.kl()[i] == pytest.approx(expected, rel=1e-9)


def written_kl(mean, variance, mean_s, variance_s):
    """KL of two normal laws, output by output."""
    ratio, off = variance / variance_s, np.square(mean - mean_s) / variance_s
    return sum(0.5 * (ratio - 1 - np.log(ratio) + part) for part in off)


def test_gradient_descent_from_random_starts_ends_in_it(few):
    prior, tangent, y = few
    rng, n, step = np.random.default_rng(1), 4000, 0.5 / np.linalg.eigvalsh(tangent).max()
    start = rng.multivariate_normal(np.zeros(len(prior)), prior, size=n)
    moved = np.zeros_like(start)
    # The parameters' move is the gradients' combination with these weights, towards a ridge.
    for _ in range(20_000):
        residual = y[:, 0] - start - moved @ tangent
        moved += step * (residual - RIDGE * moved)
    end = (start + moved @ tangent)[:, 3]
    _, (mean, variance) = written_out(*few, 3, RIDGE)
    assert abs(end.mean() - mean[0]) < 4 * np.sqrt(variance / n)
    assert end.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / n))


def test_with_one_kernel_for_both_the_mean_is_the_posteriors(few):
    prior, _, y = few
    found = lood.trained_ensembles(prior, prior, y, range(12), RIDGE)
    process = lood.leave_one_out(prior, y, RIDGE)
    np.testing.assert_allclose(found.mean_distance, process.mean_distance, rtol=1e-9)
