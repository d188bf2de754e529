"""How SGD spreads on a quadratic, and what a record's loss keeps of the parameters' signal."""

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power, solve_continuous_lyapunov

from membership import curvature
from membership.curvature.noise import (
    Sgd,
    simulated_covariance,
    stationary_covariance,
    theorem_covariance,
)
from membership.errors import InputError


def test_the_stationary_covariance_stays_where_it_is():
    rng = np.random.default_rng(0)
    root, other = rng.standard_normal((2, 4, 4))
    hessian, noise = root @ root.T / 4 + np.eye(4), other @ other.T
    sgd = Sgd(0.1, 0.8, 0.01)
    # One covariance for (w, h), pushed through the recursion until it no longer moves.
    move, enter = sgd.step(hessian)
    full = np.zeros((8, 8))
    for _ in range(3000):
        full = move @ full @ move.T + enter @ noise @ enter.T
    np.testing.assert_allclose(stationary_covariance(sgd, hessian, noise), full[:4, :4], rtol=1e-9)
    # The theorem needs noise that commutes with the Hessian, and has it for a function of it.
    np.testing.assert_allclose(
        theorem_covariance(sgd, hessian, hessian @ hessian),
        stationary_covariance(sgd, hessian, hessian @ hessian),
        rtol=1e-9,
    )
    assert not np.allclose(theorem_covariance(sgd, hessian, noise), full[:4, :4], rtol=0.05)


def test_simulated_sgd_has_that_covariance():
    hessian, noise = np.diag([0.5, 2.0]), np.array([[1.0, 0.3], [0.3, 0.5]])
    sgd = Sgd(0.1, 0.9, 0.02)
    exact = stationary_covariance(sgd, hessian, noise)
    found = simulated_covariance(sgd, hessian, noise, chains=20_000, steps=400, seed=0)
    # A variance from 20,000 runs has a standard error of 1%.
    np.testing.assert_allclose(np.diag(found), np.diag(exact), rtol=0.05)


EXPONENTS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)


def random_problem(seed, size=5, records=20, condition=50.0):
    """Eigenvalues with a condition number, an eigenbasis, and gradients in it."""
    rng = np.random.default_rng(seed)
    inner = np.exp(rng.uniform(0, np.log(condition), size - 2))
    values = rng.uniform(0.1, 10) * np.concatenate([[1.0, condition], inner])
    basis, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return values, basis, rng.standard_normal((records, size)) * 10 ** rng.uniform(-2, 2)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("seed", range(5))
def test_the_share_is_that_of_two_normal_laws_in_any_basis(seed, exponent):
    values, basis, turned = random_problem(seed)
    found = curvature.loss_share(values, turned, exponent)
    total = basis @ np.diag(values) @ basis.T
    # SGD's law for small steps and noise K^exponent, solved for without a common basis.
    noise = np.real(fractional_matrix_power(total, exponent))
    covariance = solve_continuous_lyapunov(total, noise)
    for share, gradient in zip(found, turned @ basis.T, strict=True):
        shift = np.linalg.solve(total, gradient)
        parameters = shift @ np.linalg.solve(covariance, shift)
        error = (gradient @ shift) ** 2 / (gradient @ covariance @ gradient)
        assert share == pytest.approx(error / parameters, rel=1e-7)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("seed", range(20))
def test_no_record_leaves_the_bounds(seed, exponent):
    condition = 10.0 ** (seed / 4)
    values, _, gradient = random_problem([seed, 1], size=3 + seed, records=500, condition=condition)
    found = curvature.loss_share(values, gradient, exponent)
    least = curvature.least_loss_share([condition], exponent)
    assert (found >= least * (1 - 1e-9)).all()
    assert (found <= 1).all()
    opposite = curvature.loss_share(values, gradient, -exponent)
    np.testing.assert_allclose(opposite, found, rtol=1e-9)
    if exponent == 0:
        np.testing.assert_allclose(found, 1.0, rtol=1e-12)
    elif condition > 1:
        # A record with parts along two curvatures is no eigenvector.
        assert (found < 1).all()


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_both_bounds_are_attained_by_the_records_that_are_said_to(exponent):
    values, _, _ = random_problem(3)
    along = curvature.loss_share(values, np.eye(len(values)), exponent)
    np.testing.assert_allclose(along, 1.0, rtol=1e-12)
    worst = np.where((values == values.min()) | (values == values.max()), np.sqrt(values), 0.0)
    least = curvature.least_loss_share([values.max() / values.min()], exponent)
    np.testing.assert_allclose(curvature.loss_share(values, worst[None], exponent), least)
    # Unequal parts along the same two keep more.
    if exponent:
        uneven = worst * np.where(values == values.max(), 2.0, 1.0)
        assert curvature.loss_share(values, uneven[None], exponent)[0] > least * 1.01


def test_the_bound_is_the_one_in_closed_form():
    for condition in (1.0, 3.0, 3300.0):
        for exponent in EXPONENTS:
            c = condition ** abs(exponent)
            (found,) = curvature.least_loss_share([condition], exponent)
            assert found == pytest.approx(4 * c / (1 + c) ** 2, rel=1e-9)


SHARE, LEAST = curvature.loss_share, curvature.least_loss_share


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (SHARE, ([0.0, 1.0], [[1.0, 1.0]], 1.0), "curvature has the eigenvalue 0"),
        (SHARE, ([1.0, 2.0], [[1.0, 1.0, 1.0]], 1.0), "gradient has 3 columns"),
        (SHARE, ([1.0, 2.0], [[0.0, 0.0]], 1.0), "row of zeros"),
        (SHARE, ([1.0, 2.0], [[1.0, 1.0]], np.inf), "exponent = inf"),
        (LEAST, ([0.5], 1.0), "condition has 0.5"),
        (LEAST, ([2.0], np.nan), "exponent = nan"),
    ],
)
def test_what_is_refused(function, given, message):
    with pytest.raises(InputError, match=message):
        function(*given)
