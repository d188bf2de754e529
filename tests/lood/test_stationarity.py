import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError

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


def test_bad_input_is_refused():
    with pytest.raises(InputError, match=r"give \(starts, ...\)"):
        lood.least_stationary(KERNEL, X, Y, 1.0, NOISE, X[0])
    with pytest.raises(InputError, match="label has 2 outputs; y has 1"):
        lood.least_stationary(KERNEL, X, Y, [1.0, 2.0], NOISE, X)
