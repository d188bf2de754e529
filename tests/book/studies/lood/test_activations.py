"""Fixed points of the edge of chaos are those of the library."""

import numpy as np
import pytest

from membership import nngp
from membership.book.studies.lood import activations
from membership.book.studies.lood.experiment import at_edge


def test_fixed_points_are_those_of_the_library_and_keep_the_variance():
    for q in (0.5, 4.0):
        w_std, b_std = nngp.edge_of_chaos("gelu", q)
        found = activations.point("GeLU", q)
        assert (found.w_std, found.b_variance) == pytest.approx((w_std, b_std**2), abs=1e-9)
        kernel = nngp.fully_connected(1, "gelu", w_std, b_std)
        squares = [(q + e - b_std**2) / w_std**2 for e in (-1e-4, 1e-4)]
        low, high = (kernel(np.full((1, 1), np.sqrt(one)))[0, 0] for one in squares)
        assert found.chi_var == pytest.approx((high - low) / 2e-4, rel=1e-5)
    assert activations.point("GeLU", 0.5).chi_var > 1
    assert activations.point("GeLU", 4.0).chi_var < 1


def test_correlations_follow_the_kernel_of_the_library():
    q, c = 2.0, activations.START
    w_std, b_std = nngp.edge_of_chaos("gelu", q)
    pair = np.sqrt((q - b_std**2) / w_std**2 * 2) * np.eye(2)
    share = (q * c - b_std**2) / (q - b_std**2)
    pair[1] = share * pair[0] + np.sqrt(1 - share**2) * pair[1]
    for depth in (2, 10):
        matrix = nngp.fully_connected(depth, "gelu", w_std, b_std)(pair)
        apart = 1 - matrix[0, 1] / matrix[0, 0]
        # The claim on these rates asks for an error below 1%.
        assert activations.point("GeLU", q).apart[depth] == pytest.approx(apart, rel=1e-3)
    assert activations.relu().apart[1000] * 1e6 == pytest.approx(4.5 * np.pi**2, rel=0.05)


@pytest.mark.slow
def test_shares_by_fixed_point_count_records(gathered):
    found = gathered("process-edge")
    table = activations.by_point([found])
    assert not table.duplicated(["dataset", "inputs", "activation", "q", "metric"]).any()
    row = table[(table["inputs"] == "raw") & (table["q"] == 4)].set_index("metric")
    part = found["more"].sel(inputs="raw", q=4, depth=2, ratio=0.1)
    assert row.loc["depth 2, noise 0.1 q (%)", "value"] == pytest.approx(100 * part.values.mean())
    assert row.loc["depth 2, noise 0.1 q (%)", "n"] == part.size


def test_an_activation_on_the_sphere_has_the_kernel_of_the_library(records):
    x, q = records.inputs("unit sphere"), 4.0
    w_std, b_std = nngp.edge_of_chaos("gelu", q)
    kernels = activations.on_sphere("GeLU", q, x @ x.T / x.shape[1], (1, 10))
    for depth, found in zip((1, 10), kernels, strict=True):
        expected = nngp.fully_connected(depth, "gelu", w_std, b_std)(at_edge(x, w_std, b_std, q))
        np.testing.assert_allclose(found, expected, atol=1e-3 * q)
        np.testing.assert_allclose(np.diag(found), q)


@pytest.mark.parametrize("name", list(activations.SMOOTH))
def test_gradients_keep_their_size_at_every_fixed_point(name):
    assert [activations.point(name, q).chi for q in activations.QS] == pytest.approx(
        [1] * 7, rel=1e-3
    )
