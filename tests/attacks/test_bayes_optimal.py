import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import multivariate_normal

from membership import attacks


@pytest.fixture
def losses():
    rng = np.random.default_rng(0)
    member = np.arange(6)[:, None] % 2 == rng.integers(0, 2, 8)
    return rng.exponential(size=8), rng.exponential(size=(6, 8)), member


def slow_tau(loss, inside, kind, temperature=1.0):
    """tau(z) of one record."""
    out = [x for x, is_in in zip(loss, inside, strict=True) if not is_in]
    if kind == "mean":
        return sum(out) / len(out)
    if kind == "log-mean-exp":
        return -temperature * np.log(np.mean([np.exp(-x / temperature) for x in out]))
    own = [x for x, is_in in zip(loss, inside, strict=True) if is_in]
    distinct = sorted(set(loss))
    best, best_gain = distinct[0], -np.inf
    for low, high in itertools.pairwise(distinct):
        middle = (low + high) / 2
        gain = np.mean([x < middle for x in own]) - np.mean([x < middle for x in out])
        if gain > best_gain + 1e-12:
            best, best_gain = middle, gain
    return best


def test_zero_one_and_malt():
    assert attacks.zero_one(torch.tensor([True, False])).tolist() == [1.0, 0.0]
    assert attacks.malt(np.array([0.5, 2.0], dtype=np.float32)).tolist() == [-0.5, -2.0]
    assert attacks.malt([1, 2]).dtype == np.float64


@pytest.mark.parametrize("tau", ["mean", "log-mean-exp", "best-separating"])
def test_mast_is_tau_less_the_loss(losses, tau):
    loss, reference, member = losses
    expected = [
        slow_tau(reference[:, i], member[:, i], tau, temperature=0.7) - loss[i] for i in range(8)
    ]
    found = attacks.mast(
        torch.tensor(loss), torch.tensor(reference), tau, torch.tensor(member), temperature=0.7
    )
    assert found.dtype == np.float64
    assert found == pytest.approx(np.array(expected))


@given(st.data())
def test_best_separating_with_ties(data):
    models = data.draw(st.integers(2, 7))
    grid = st.lists(st.integers(0, 3), min_size=models, max_size=models)
    reference = np.array([data.draw(grid)], dtype=float).T
    flags = st.lists(st.booleans(), min_size=models, max_size=models).filter(
        lambda row: any(row) and not all(row)
    )
    member = np.array([data.draw(flags)]).T
    found = attacks.mast([0.0], reference, "best-separating", member)
    assert found == pytest.approx(slow_tau(reference[:, 0], member[:, 0], "best"))


def test_temperature_runs_from_the_minimum_to_the_mean(losses):
    loss, reference, _ = losses
    cold = attacks.mast(loss, reference, temperature=1e-4)
    hot = attacks.mast(loss, reference, temperature=1e6)
    assert cold == pytest.approx(reference.min(axis=0) - loss, abs=1e-3)
    assert hot == pytest.approx(attacks.mast(loss, reference, "mean"), abs=1e-5)
    assert (attacks.mast(loss, reference) < attacks.mast(loss, reference, "mean")).all()


def test_log_mean_exp_survives_losses_whose_exponential_vanishes():
    found = attacks.mast([1000.0], [[2000.0], [2000.0 + np.log(3)]])
    assert found == pytest.approx([1000 - np.log((1 + 1 / 3) / 2)])


@pytest.fixture
def logistic():
    """Two logistic models, and queried records' gradients, curvatures and leverages at theta0."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, 5))
    theta, theta0 = rng.standard_normal((2, 5)) / 2
    probability = expit(x @ theta0)
    weight = probability * (1 - probability)
    hessian = x.T @ (weight[:, None] * x) + 0.3 * np.eye(5)
    query, label = rng.standard_normal((7, 5)), rng.integers(0, 2, 7)
    chance = expit(query @ theta0)
    gradient = (chance - label)[:, None] * query
    curvature = chance * (1 - chance)
    leverage = curvature * np.einsum("ij,jk,ik->i", query, np.linalg.inv(hessian), query)
    return theta, theta0, gradient, hessian, leverage, query, label, curvature


def test_matt_is_the_linear_part_of_the_difference_of_losses(logistic):
    theta, theta0, gradient, *_, query, label, _ = logistic

    def loss(parameters):
        return np.logaddexp(0, query @ parameters) - label * (query @ parameters)

    step = 1e-6
    near = theta0 + step * (theta - theta0)
    score = attacks.matt(theta, theta0, gradient)
    assert score == pytest.approx((loss(theta0) - loss(near)) / step, rel=1e-4)
    # Logistic loss is convex, so that the linear part is never below the difference.
    assert (score >= loss(theta0) - loss(theta)).all()


def test_second_order_term_of_equation_39(logistic):
    theta, theta0, gradient, hessian, *_ = logistic
    expected = [-(theta - theta0) @ g - g @ np.linalg.inv(hessian) @ g / 2 for g in gradient]
    assert attacks.matt(theta, theta0, gradient, hessian) == pytest.approx(np.array(expected))


def test_leverage_turns_the_hessian_into_that_with_the_record(logistic):
    theta, theta0, gradient, hessian, leverage, query, _, curvature = logistic
    expected = []
    for g, x, w in zip(gradient, query, curvature, strict=True):
        with_record = hessian + w * np.outer(x, x)
        expected.append(-(theta - theta0) @ g - g @ np.linalg.inv(with_record) @ g / 2)
    found = attacks.matt(theta, theta0, gradient, hessian=hessian, leverage=leverage)
    assert found == pytest.approx(np.array(expected))


def test_best_separating_of_two_separate_groups_is_between_them():
    reference = np.array([[0.1], [0.3], [0.9], [1.5]])
    member = np.array([[True], [True], [False], [False]])
    assert attacks.mast([0.0], reference, "best-separating", member) == pytest.approx(0.6)
    equal = np.full((4, 1), 0.25)
    assert attacks.mast([0.0], equal, "best-separating", member) == pytest.approx(0.25)


def test_log_mean_exp_tends_to_the_gaussian_games_tau():
    # l = |z - t|^2 / 2 with t ~ N(0, I / n') in two dimensions: Equation 34 and its constant.
    n_members, draws = 5, 200_000
    t = np.random.default_rng(0).standard_normal((draws, 2)) / np.sqrt(n_members)
    z = np.array([[0.3, -0.2], [1.5, 1.0]])
    reference = ((z[None] - t[:, None]) ** 2).sum(axis=2) / 2
    exact = n_members / (2 * (n_members + 1)) * (z**2).sum(axis=1) + np.log(6 / 5)
    relative = np.exp(-reference).std(axis=0) / np.exp(-reference).mean(axis=0)
    error = relative / np.sqrt(draws)
    assert (np.abs(attacks.mast([0.0, 0.0], reference) - exact) < 4 * error).all()


def test_matt_with_leverage_is_exact_for_gaussian_posteriors_of_equal_hessian():
    # Ridge regression: one Newton step reaches theta1 exactly.
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    hessian0 = x[1:].T @ x[1:] + np.eye(3)
    hessian1 = hessian0 + np.outer(x[0], x[0])
    theta0 = np.linalg.solve(hessian0, x[1:].T @ y[1:])
    theta1 = np.linalg.solve(hessian1, x.T @ y)
    theta = theta0 + 0.3 * rng.standard_normal(3)
    gradient = (x[0] @ theta0 - y[0]) * x[:1]
    leverage = [x[0] @ np.linalg.solve(hessian0, x[0])]
    covariance = np.linalg.inv(hessian1)
    ratio = multivariate_normal.logpdf(theta, theta1, covariance)
    ratio -= multivariate_normal.logpdf(theta, theta0, covariance)
    found = attacks.matt(theta, theta0, gradient, hessian=hessian0, leverage=leverage)
    assert found == pytest.approx([ratio])
