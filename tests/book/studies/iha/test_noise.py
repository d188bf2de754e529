"""The theorems' assumptions at trained networks, against records enumerated one by one."""

from types import SimpleNamespace

import numpy as np
import pytest

from membership import curvature
from membership.attacks.forms import forms_of
from membership.book.studies.iha import noise
from membership.book.studies.iha.scores import iha
from membership.curvature.gradients import WhiteBoxView
from membership.curvature.inverse import eigenvalues
from membership.curvature.noise import power_law


@pytest.fixture(scope="module")
def found(source):
    return source.evidence("noise-digits-odd")


@pytest.mark.slow
def test_noise_is_that_of_enumerated_gradients(trained, found):
    task, target = trained.task, int(found["target"][0])
    model, loss = trained.ensemble.module(target), task.config.loss_of
    members = np.flatnonzero(task.membership[target])
    x, y = task.pool.x[members], task.pool.y[members]
    values, axes = np.linalg.eigh(curvature.hessian(model, loss, x, y))
    mean = sum(curvature.per_record_gradients(model, loss, x, y)) / len(y)
    total = np.zeros((len(mean), len(mean)))
    for row in range(len(y)):
        one = curvature.per_record_gradients(model, loss, x[row : row + 1], y[row : row + 1])[0]
        total += np.outer(one - mean, one - mean)
    kept = values > noise.TIMES_DECAY * task.config.weight_decay
    expected = np.diag(axes.T @ total @ axes)[kept] / len(y) / task.config.batch_size
    got = found.isel(target=0)
    seen = np.isfinite(got["eigenvalue"].values)
    np.testing.assert_allclose(got["eigenvalue"].values[seen], values[kept], rtol=1e-5)
    np.testing.assert_allclose(got["noise"].values[seen], expected, rtol=1e-4)


def test_the_kept_part_is_the_registered_score():
    rng = np.random.default_rng(0)
    values, n = np.array([0.3, 1.0, 2.5]), 50
    gradient, mean, weight = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=3)
    loss = rng.uniform(0.1, 1.0, 4)
    config = SimpleNamespace(learning_rate=0.1, momentum=0.9, weight_decay=0.05, batch_size=8)
    got = noise.log_ratios(values, gradient, mean, loss, 0.4, weight, n, config)
    view = WhiteBoxView(gradient, loss, mean, weight, n)
    (forms,) = forms_of([view], [eigenvalues(values, 0.1, "low-rank", "paper", 0.0)], 0.05)
    recipe = {"members": n, "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.05}
    score = iha(forms, loss, np.ones(4, bool), recipe, "IHA").score
    np.testing.assert_allclose(got["kept"], 8 * 0.1 / (2 * n * 0.4) * score, rtol=1e-12)


def test_the_dropped_part_is_the_derivative_of_the_density():
    """Equation 13 at Gaussian weights, its L* moved a little, and Equation 14 put into it."""
    values, n, mu, rate, alpha, batch, total = np.array([0.5, 2.0]), 10**7, 0.9, 0.1, 0.02, 16, 0.3
    away, weight = np.array([0.1, -0.2]), np.array([1.0, 2.0])
    mean = (values + alpha) * away - alpha * weight
    config = SimpleNamespace(learning_rate=rate, momentum=mu, weight_decay=alpha, batch_size=batch)
    loss, gradient = np.array([0.7]), np.array([[0.3, -0.1]])
    got = noise.log_ratios(values, gradient, mean, loss, total, weight, n, config)

    def log_density(least):
        shape = (2 - rate / (1 + mu) * (values + alpha)) * (values + alpha)
        variance = rate * 2 * least * values / (batch * (1 - mu)) / shape
        return -0.5 * np.log(variance).sum() - 0.5 * (away**2 / variance).sum()

    moved = total * got["change"][0]
    by_density = log_density(total + moved) - log_density(total)
    by_expansion = -batch * (1 - mu) / (2 * (1 + mu)) * got["change"][0]
    assert got["dropped"][0] == pytest.approx(by_density + by_expansion, rel=1e-4)


def test_with_weight_decay_the_kept_part_is_the_corrected_score():
    rng = np.random.default_rng(1)
    values, n = np.array([0.3, 1.0, 2.5]), 50
    gradient, mean, weight = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=3)
    loss = rng.uniform(0.1, 1.0, 4)
    config = SimpleNamespace(learning_rate=0.1, momentum=0.9, weight_decay=0.05, batch_size=8)
    vectors = gradient, mean, loss, 0.4, weight, n, config
    got = noise.log_ratios(values + 0.2, *vectors, "regularised")
    view = WhiteBoxView(gradient, loss, mean, weight, n)
    (forms,) = forms_of([view], [eigenvalues(values, 0.2, "damping", "paper", 0.05)], 0.05)
    recipe = {"members": n, "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.05}
    score = iha(forms, loss, np.ones(4, bool), recipe, "IHA*").score
    np.testing.assert_allclose(got["kept"], 8 * 0.1 / (2 * n * 0.4) * score, rtol=1e-10)


def test_a_ratio_by_damping_is_that_of_the_members_one_by_one(source):
    found = source.evidence("dropped-digits-odd")
    table = noise.control_28([found])
    row = table[(table["attack"] == "IHA*") & (table["damping"] == 0.2)].iloc[0]
    assert row["value"] == pytest.approx(
        found["ratio"].sel(attack="IHA*", damping=0.2).values.mean()
    )
    assert (found["ratio"].values > 0).all()


def test_a_power_is_found_again():
    values = np.array([0.1, 0.7, 3.0])
    assert power_law(values, 5 * values**1.3) == pytest.approx(1.3)
