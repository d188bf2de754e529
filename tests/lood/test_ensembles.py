"""The law of trained networks against networks that are trained."""

import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError

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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ridge": 0.0}, "noise = 0"),
        ({"tangent": np.eye(3)}, r"prior has shape \(12, 12\) and tangent \(3, 3\)"),
        ({"tangent": -np.eye(12)}, "positive semi-definite"),
        ({"y": np.ones(3)}, "y has"),
    ],
)
def test_bad_input_is_refused(few, changes, message):
    values = dict(zip(("prior", "tangent", "y"), few, strict=True))
    with pytest.raises(InputError, match=message):
        lood.trained_ensembles(**{**values, "records": [0], "ridge": RIDGE, **changes})
