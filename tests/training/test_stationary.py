import numpy as np

from membership.training.stationary import (
    Sgd,
    simulated_covariance,
    stationary_covariance,
    theorem_covariance,
)


def test_one_parameter_without_momentum_is_the_textbook_variance():
    sgd = Sgd(learning_rate=0.3, momentum=0.0, weight_decay=0.5)
    k, noise = 2.0 + 0.5, 0.7
    expected = 0.3**2 * noise / (1 - (1 - 0.3 * k) ** 2)
    found = stationary_covariance(sgd, np.array([[2.0]]), np.array([[noise]]))
    np.testing.assert_allclose(found, [[expected]], rtol=1e-12)


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
