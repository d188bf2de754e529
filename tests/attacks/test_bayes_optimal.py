import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

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
