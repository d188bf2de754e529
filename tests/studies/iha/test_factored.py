"""The forms of a network too large to decompose: the same by another road."""

import numpy as np
import pytest

from membership.curvature import factor as room
from membership.studies.iha import ensembles, factored, tasks, white_box
from membership.studies.iha.factored import inverses, observe
from membership.studies.iha.white_box import opened, training_records

# The smaller leaves a matrix that is not positive definite.
LARGE, DAMPING = 2.0, 1e-3


@pytest.fixture(scope="module")
def network(settings, own_cache):
    return ensembles.train(tasks.task("digits", settings), settings)


@pytest.mark.parametrize("damping", [LARGE, DAMPING])
def test_the_forms_are_those_of_the_eigendecomposition(network, damping, monkeypatch):
    monkeypatch.setattr(room, "BLOCK", 100)
    found, expected = (one.observe(network, 0, damping) for one in (factored, white_box))
    # Where it was raised, eigenvalues are known to a few digits here.
    near = 1e-9 if damping == LARGE else 1e-3
    np.testing.assert_allclose(found["amount"], expected["amount"], rtol=near)
    assert (expected["amount"][0] > damping) == (damping < LARGE)
    for name in ("norm", "known", "n_known"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    for name in ("main", "mean2", "mean3"):
        rows = zip(
            *(one[name].reshape(-1, one[name].shape[-1]) for one in (found, expected)), strict=True
        )
        for one, other in rows:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=5 * near * np.abs(other).max())


def test_a_damping_that_leaves_a_matrix_indefinite_is_raised_until_it_does(network, monkeypatch):
    train = training_records(network, 0)
    how = opened(network.ensemble.module(0), network.task.config, train)
    least = how.spectrum.values.min()
    assert least < 0
    _, amount = inverses(how.goal, *how.goal.records(*train), -least / 4, 5e-4)
    assert amount + least > 0


def test_it_keeps_no_sweep_and_no_eigenvalues(network):
    assert {"sweep", "eigenvalue"}.isdisjoint(observe(network, 1, LARGE))
