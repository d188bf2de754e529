"""The chapter's theorems as numbers."""

import numpy as np
import pytest

from membership import lood, nngp

NOISE = 0.05
KERNELS = [
    nngp.fully_connected(3, "relu"),
    nngp.polynomial(3, 1.0),
    nngp.rbf(0.5),
    nngp.fully_connected(4, "gelu", 1.567, 0.186),
]
IDS = ["relu", "polynomial", "rbf", "gelu"]
MEASURES = ("kl", "kl-reverse", "auc")


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
@pytest.mark.parametrize("i", [0, 9])
def test_no_query_tells_more_than_the_record(task, kernel, i):
    """Random queries, single and joint, near and far, with and without the record."""
    x, y, differing = task.without(i)
    comparison = lood.compare(kernel, x, y, differing, NOISE)
    rng, record = np.random.default_rng(i), task.x[i]
    directions = rng.standard_normal((300, *record.shape))
    near = record + np.geomspace(1e-8, 3, 300)[:, None, None, None] * directions
    mixed = rng.dirichlet(np.ones(60) / 5, 300) @ task.x.reshape(60, -1)
    singles = np.concatenate([near, directions, mixed.reshape(-1, *record.shape), task.x])
    for measure in MEASURES:
        target = comparison.measure(record, measure)
        assert comparison.measure(singles, measure).max() <= target * (1 + 1e-10)
        for size in (2, 5, 20):
            chosen = singles[rng.choice(len(singles), (8, size))]
            for queries in chosen:
                assert comparison.measure(queries, measure, joint=True) <= target * (1 + 1e-10)
            with_it = np.concatenate([record[None], chosen[0]])
            assert comparison.measure(with_it, measure, joint=True) == pytest.approx(
                target, rel=1e-8
            )


@pytest.mark.slow
@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("kernel", KERNELS[:3], ids=IDS[:3])
def test_no_optimised_query_tells_more_either(task, kernel):
    x, y, differing = task.without(0)
    comparison = lood.compare(kernel, x, y, differing, NOISE)
    target, rng = comparison.measure(task.x[0]), np.random.default_rng(0)
    start = np.concatenate(
        [task.x[[0]] + 0.1 * rng.standard_normal((3, 1, 8, 8)), rng.standard_normal((3, 1, 8, 8))]
    )
    found = lood.maximise(
        comparison, start, unit=0.02, learning_rate=1.0, steps=150, progress=False
    )
    assert found.value.max() <= target * (1 + 1e-10)
    assert found.value.max() > 0.99 * target
    joint = lood.maximise(
        comparison, start.reshape(2, 3, 1, 8, 8), joint=True, unit=0.02, steps=150, progress=False
    )
    assert joint.value.max() <= target * (1 + 1e-10)


def test_a_homogeneous_kernel_tells_as_much_along_the_whole_ray(task):
    x, y, differing = task.without(0)
    comparison = lood.compare(nngp.fully_connected(3, "relu"), x, y, differing, NOISE)
    ray = np.array([0.01, 0.5, 7.0])[:, None, None, None] * task.x[0]
    np.testing.assert_allclose(comparison.measure(ray), comparison.measure(task.x[0]), rtol=1e-9)


def test_a_group_tells_most_when_queried_whole(task):
    x, y, differing = task.without(slice(0, 3))
    comparison = lood.compare(nngp.rbf(0.5), x, y, differing, NOISE)
    whole = comparison.measure(task.x[:3], joint=True)
    more = comparison.measure(task.x[:9], joint=True)
    assert more == pytest.approx(whole, rel=1e-8)
    assert comparison.measure(task.x[:2], joint=True) < whole
    assert comparison.measure(task.x[:3]).max() < whole


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_the_record_is_stationary_for_kl(task, kernel):
    """Theorem 4.1, and beyond its conditions: two of these kernels meet neither."""
    x, y, differing = task.without(4)
    comparison = lood.compare(kernel, x, y, differing, NOISE)
    value, slope = lood.gradient(comparison, task.x[4])
    assert np.abs(slope).max() < 1e-10 * value
    elsewhere = lood.gradient(comparison, task.x[4] + 0.1)[1]
    assert np.abs(elsewhere).max() > 1e-4 * value


def test_the_slope_of_the_mean_distance_is_that_of_proposition_5_1(task):
    pytest.importorskip("jax")
    x, y, (x_s, y_s) = task.without(4)
    kernel = nngp.rbf(0.05)
    comparison = lood.compare(kernel, x, y, (x_s, y_s), NOISE)
    cross, inverse = kernel(x_s[None], x)[0], np.linalg.inv(kernel(x) + NOISE * np.eye(len(x)))
    seen = cross @ inverse @ cross
    alpha, squared = 1 - seen + NOISE, np.square(y_s - cross @ inverse @ y).sum()
    # The gradient of exp(-gamma |q - x|^2 / dim) in q.
    steps = -2 * 0.05 / 64 * (x_s - x) * cross[:, None, None, None]
    expected = -squared / alpha**2 * (1 - seen) * np.tensordot(inverse @ cross, steps, 1)
    slope = lood.gradient(comparison, x_s, "mean")[1]
    np.testing.assert_allclose(slope, expected, rtol=1e-8, atol=1e-12 * np.abs(expected).max())
    assert np.abs(slope).max() > 1e-4 * comparison.measure(x_s, "mean")


def test_lemma_d_1_is_the_block_inverse(task):
    x, _, (x_s, _) = task.without(4)
    kernel = nngp.rbf(0.05)
    inverse = np.linalg.inv(kernel(x) + NOISE * np.eye(len(x)))
    cross = kernel(x, x_s[None])
    column = inverse @ cross
    alpha = (kernel.diagonal(x_s[None]) + NOISE - cross.T @ column).item()
    blocks = np.block(
        [[inverse + column @ column.T / alpha, -column / alpha], [-column.T / alpha, 1 / alpha]]
    )
    both = np.concatenate([x, x_s[None]])
    whole = np.linalg.inv(kernel(both) + NOISE * np.eye(len(both)))
    np.testing.assert_allclose(blocks, whole, rtol=0, atol=1e-10)


def correlations(activation, depths, w_std, b_std, q):
    """The kernel between two unit records of correlation 1/2 whose first variance is q."""
    a = (q - b_std**2) / w_std**2
    c = (q / 2 - b_std**2) / w_std**2
    kernels = [nngp.fully_connected(depth, activation, w_std, b_std) for depth in depths]
    return np.array([k.of_moments(a, a, c, np) / k.of_moments(a, a, a, np) for k in kernels])


def test_the_asymptotics_of_proposition_g_1():
    depths = np.array([500, 1000, 2000])
    relu = depths**2 * (1 - correlations("relu", depths, np.sqrt(2), 0.0, 1.0))
    limit = 9 * np.pi**2 / 2
    assert (np.abs(np.diff(relu)) > 0).all()
    assert abs(relu[-1] - limit) < abs(relu[0] - limit)
    assert relu[-1] == pytest.approx(limit, rel=0.03)
    smooth = depths * (1 - correlations("gelu", depths, *nngp.edge_of_chaos("gelu", 0.5), 0.5))
    assert smooth[2] == pytest.approx(smooth[1], rel=0.01)
