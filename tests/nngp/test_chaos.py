import numpy as np
import pytest

from membership import nngp
from membership.errors import InputError


@pytest.mark.parametrize(("q", "w_std", "b_variance"), [(0.5, 1.567, 0.0345), (1.0, 1.481, 0.0672)])
def test_gelu_has_the_known_edge(q, w_std, b_variance):
    found = nngp.edge_of_chaos("gelu", q)
    assert found[0] == pytest.approx(w_std, abs=5e-4)
    assert found[1] ** 2 == pytest.approx(b_variance, abs=5e-5)


@pytest.mark.parametrize("q", [0.1, 1.0, 7.0])
def test_relu_has_the_he_initialisation(q):
    w_std, b_std = nngp.edge_of_chaos("relu", q)
    assert w_std == pytest.approx(np.sqrt(2), rel=1e-12)
    assert b_std == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("activation", ["gelu", "erf"])
@pytest.mark.parametrize("q", [0.3, 1.0])
def test_variance_and_small_differences_are_kept_there(activation, q):
    w_std, b_std = nngp.edge_of_chaos(activation, q)
    kernel = nngp.fully_connected(1, activation, w_std, b_std)
    assert kernel.of_moments(*(3 * [(q - b_std**2) / w_std**2]), np) == pytest.approx(q, rel=1e-9)
    h = 1e-5
    apart = (q * (1 - h) - b_std**2) / w_std**2
    same = (q - b_std**2) / w_std**2
    loss = q - kernel.of_moments(same, same, apart, np)
    assert loss / (q * h) == pytest.approx(1.0, abs=1e-4)


def test_no_edge_is_said_and_so_is_bad_input():
    with pytest.raises(InputError, match="q = 0"):
        nngp.edge_of_chaos("gelu", 0)
    with pytest.raises(InputError, match="activation = 'swish'"):
        nngp.edge_of_chaos("swish", 1.0)
