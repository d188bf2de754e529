import numpy as np
import pytest
import torch

from membership import curvature
from membership.errors import InputError

VALUES = np.array([-0.5, -0.01, 0.0, 0.1, 0.3, 2.0])


def test_the_spectrum_is_that_of_the_hessian(problem, reference):
    found = curvature.spectrum(*problem)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(reference), atol=1e-10)
    rebuilt = found.vectors.numpy() * found.values @ found.vectors.numpy().T
    np.testing.assert_allclose(rebuilt, reference, atol=1e-10)
    vectors = torch.randn(3, len(reference), dtype=torch.float64)
    np.testing.assert_allclose(found.rotate(vectors).norm(dim=1), vectors.norm(dim=1), rtol=1e-12)


def test_damping_adds_to_all_eigenvalues():
    inverse = curvature.conditioned_inverse(VALUES, 0.6)
    np.testing.assert_allclose(inverse, 1 / (VALUES + 0.6))
    shifted = curvature.conditioned_inverse(VALUES, 0.6, shift=0.1)
    np.testing.assert_allclose(shifted, 1 / (VALUES + 0.7))


def test_low_rank_keeps_what_is_above_the_threshold():
    inverse = curvature.conditioned_inverse(VALUES, 0.2, "low-rank")
    np.testing.assert_allclose(inverse, [0, 0, 0, 0, 1 / 0.3, 0.5])
    # The released code goes by the absolute value.
    inverse = curvature.conditioned_inverse(VALUES, 0.2, "low-rank", "authors")
    np.testing.assert_allclose(inverse, [-2, 0, 0, 0, 1 / 0.3, 0.5])
    # The threshold is on the Hessian's own eigenvalues, with and without weight decay.
    inverse = curvature.conditioned_inverse(VALUES, 0.2, "low-rank", shift=0.1)
    np.testing.assert_allclose(inverse, [0, 0, 0, 0, 1 / 0.4, 1 / 2.1])
    np.testing.assert_array_equal(curvature.conditioned_inverse(VALUES, 2.0, "low-rank"), 0)


@pytest.mark.parametrize("damping", [0.0, 0.2, 0.5])
def test_a_damping_that_leaves_it_indefinite_is_refused_with_one_that_does(damping):
    with pytest.raises(InputError, match=r"smallest eigenvalue is -0\.5.* would do") as error:
        curvature.conditioned_inverse(VALUES, damping)
    enough = float(str(error.value).split("a damping of ")[1].split()[0])
    assert (curvature.conditioned_inverse(VALUES, enough) > 0).all()


def test_choices_and_ranges_are_checked():
    with pytest.raises(InputError, match=r"damping = -0\.1"):
        curvature.conditioned_inverse(VALUES, -0.1)
    with pytest.raises(
        InputError, match="conditioning = 'ridge': expected one of damping, low-rank"
    ):
        curvature.conditioned_inverse(VALUES, 1.0, "ridge")
    with pytest.raises(InputError, match="convention = 'ours': expected one of paper, authors"):
        curvature.conditioned_inverse(VALUES, 1.0, convention="ours")
