"""Some of many records left out by conjugate gradients: within the stated error of the inverse."""

import tracemalloc

import numpy as np
import pytest

from membership import lood, nngp
from membership.errors import InputError
from membership.lood import many

RNG = np.random.default_rng(3)
X = RNG.normal(size=(300, 4))
Y = np.stack([np.sin(X[:, 0]), RNG.normal(size=300)], axis=1)
ROWS, NOISE = [4, 299, 17], 0.02
KERNEL = nngp.fully_connected(2, "relu", 1.5, 0.1)
# SciPy's inverse of these matrices has so many digits.
EXACT = 1e-11


@pytest.mark.parametrize("rank", [1, 20, 300])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-8])
def test_what_is_found_lies_within_the_stated_error(monkeypatch, rank, tolerance):
    monkeypatch.setattr(many, "BLOCK", 64)
    options = {"tolerance": tolerance, "rank": rank, "progress": False}
    found = lood.leave_some_out(KERNEL, X, Y, ROWS, NOISE, **options)
    expected = lood.leave_one_out(KERNEL, X, Y, NOISE)
    apart = np.abs(found.variance - expected.variance[ROWS])
    assert (apart <= found.variance_error + EXACT).all()
    assert (found.variance_error <= tolerance * found.variance).all()
    apart = np.abs(found.residual - expected.residual[ROWS])
    assert (apart <= found.residual_error + EXACT).all()
    assert (found.residual_error <= tolerance * np.sqrt(found.variance + NOISE)[:, None]).all()
    if tolerance == 1e-8:
        for name in ("kl", "kl_reverse", "auc", "mean_distance", "log_density"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name)[ROWS], rtol=1e-6
            )


def test_the_error_stated_is_no_more_than_there_is_to_gain():
    """Fewer iterations leave a larger error, in truth and as stated."""
    rough, fine = (
        lood.leave_some_out(KERNEL, X, Y, ROWS, NOISE, tolerance=t, rank=2, progress=False)
        for t in (0.3, 1e-6)
    )
    assert rough.iterations < fine.iterations
    assert (rough.variance_error > 10 * fine.variance_error).all()
    expected = lood.leave_one_out(KERNEL, X, Y, NOISE).variance[ROWS]
    assert (np.abs(rough.variance - expected) > fine.variance_error).all()


def test_blocks_of_the_kernel_are_never_held_whole(monkeypatch):
    monkeypatch.setattr(many, "BLOCK", 50)
    shapes = []

    def asked(x1, x2):
        shapes.append((len(x1), len(x2)))
        return nngp.rbf()(x1, x2)

    asked.diagonal = lambda x: np.ones(len(x))
    lood.leave_some_out(asked, X, Y, ROWS, NOISE, progress=False)
    assert max(rows * columns for rows, columns in shapes) <= 50 * 50


def test_a_rank_above_that_of_the_kernel_and_labels_of_zeros_do():
    linear = nngp.polynomial(1, 0.0)
    found = lood.leave_some_out(linear, X, np.zeros(300), ROWS, NOISE, progress=False)
    expected = lood.leave_one_out(linear, X, np.zeros(300), NOISE)
    np.testing.assert_allclose(found.auc, expected.auc[ROWS], rtol=1e-9)
    assert not found.residual.any()


REFUSED = [
    ({"rows": [300]}, "rows has 300"),
    ({"rank": 0}, "rank = 0"),
    ({"tolerance": 0.0}, "tolerance = 0"),
    ({"tolerance": 1e-40, "rank": 1}, "tolerance = 1e-40 is not reached in 20 iterations"),
    ({"noise": -1}, "noise = -1"),
    ({"y": np.ones(3)}, "y has 3 labels for 300"),
]


@pytest.mark.parametrize(("change", "words"), REFUSED)
def test_what_is_refused_is_one_line(monkeypatch, change, words):
    monkeypatch.setattr(many, "_ITERATIONS", 20)
    arguments = {"kernel": KERNEL, "x": X, "y": Y, "rows": ROWS, "noise": NOISE} | change
    with pytest.raises(InputError, match=words):
        lood.leave_some_out(**arguments, progress=False)


def test_memory_that_is_not_there_is_said_before_any_work(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device="cpu": 1e5)
    with pytest.raises(InputError, match="leaving 3 of 300 records out"):
        lood.leave_some_out(KERNEL, X, Y, ROWS, NOISE, progress=False)


def test_no_more_memory_is_taken_than_is_said(monkeypatch):
    monkeypatch.setattr(many, "BLOCK", 50)
    said = []
    monkeypatch.setattr(many.memory, "require", lambda needed, *words: said.append(needed))
    tracemalloc.start()
    options = {"rank": 20, "tolerance": 1e-2, "progress": False}
    lood.leave_some_out(nngp.rbf(0.3), X, Y, np.arange(300), NOISE, **options)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Beside blocks of the kernel and what Python itself holds.
    assert 0.9 * said[0] < taken < 1.1 * said[0] + 2e5
