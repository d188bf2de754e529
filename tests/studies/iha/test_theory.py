import numpy as np
import pandas as pd
import pytest

from membership.studies.iha import theory
from membership.studies.iha.settings import Settings
from membership.studies.iha.stationary import (
    Sgd,
    simulated_covariance,
    stationary_covariance,
    theorem_covariance,
)


@pytest.fixture(scope="module")
def table():
    return theory.control_6(Settings(profile="tiny").resolve())


def values(table, check, case, metric):
    rows = table[(table.check == check) & (table.case == case) & (table.metric == metric)]
    assert len(rows) > 0
    return rows.set_index("weight_decay").value


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


def test_the_corrected_score_is_the_true_ratio_and_the_published_one_without_decay(table):
    error = "largest error (sd of the true ratio)"
    corrected = values(table, "optimal score", "IHA*", error)
    assert (corrected == 0).all()
    published = values(table, "optimal score", "IHA", error)
    assert published[0.0] == 0
    assert published[5e-4] > 0.001
    assert published[0.05] > 1
    # The loss enters with a plus sign: leaving it out costs half of what turning it round does.
    without = values(table, "optimal score", "IHA* without the loss", error)
    turned = values(table, "optimal score", "IHA* with minus the loss", error)
    np.testing.assert_allclose(turned, 2 * without)
    assert (without > 0.01).all()


def test_nothing_beats_the_true_ratio_in_the_exact_worlds(table):
    optimal = table[(table.check == "optimal score") & (table.metric == "AUC(%)")]
    best = optimal[optimal.case == "true ratio"].set_index("weight_decay").value
    # AUC of 4,000 pairs: standard error about 0.7 points, and the scores share the draws.
    assert (optimal.value.to_numpy() <= best[optimal.weight_decay].to_numpy() + 0.2).all()
    corrected = values(table, "optimal score", "IHA*", "AUC(%)")
    pd.testing.assert_series_equal(corrected, best)
    assert values(table, "optimal score", "IHA", "AUC(%)")[0.05] < best[0.05] - 3


def test_theorem_2_2_is_exact_for_noise_that_commutes(table):
    rows = table[table.metric == "relative error, Theorem 2.2"]
    commutes = rows.case.str.contains(r"\(commutes")
    assert (rows.value[commutes] == 0).all()
    assert (rows.value[~commutes] > 0.1).all()
    assert (table.value[table.metric == "relative error, simulated SGD"] < 0.2).all()


def test_the_table_is_the_same_for_the_same_seed(table):
    again = theory.control_6(Settings(profile="tiny").resolve())
    pd.testing.assert_frame_equal(table, again)
