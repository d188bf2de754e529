"""Linear regression retrained by SGD, against what is known of it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from membership import metrics
from membership.studies.iha import retrained
from membership.training.stationary import Sgd, theorem_covariance

pytestmark = pytest.mark.slow

SETTINGS = SimpleNamespace(seed=0, theory_draws=2000)
SGD = Sgd(0.2, 0.0, 5e-4)


@pytest.fixture(scope="module")
def table():
    return retrained.control_9(SETTINGS)


def test_the_hessian_is_ill_conditioned_as_asked():
    x, _ = retrained.problem(np.random.default_rng(0))
    values = np.linalg.eigvalsh(x.T @ x / len(x))
    np.testing.assert_allclose(values, retrained.EIGENVALUES, rtol=1e-9)
    assert values.max() / values.min() >= 10


def test_sgd_hovers_about_the_minimum_of_the_regularised_loss():
    rng = np.random.default_rng(1)
    x, y = retrained.problem(rng)
    centre, hessian, least = retrained.minimum(SGD, x, y)
    gradient = x.T @ (x @ centre - y) / len(x) + SGD.weight_decay * centre
    np.testing.assert_allclose(gradient, 0, atol=1e-12)
    assert least == pytest.approx(np.mean((x @ centre - y) ** 2) / 2)
    w = retrained.trained(rng, SGD, x, y, 4000)
    error = w.std(axis=0) / np.sqrt(len(w))
    assert (np.abs(w.mean(axis=0) - centre) < 5 * error).all()
    # Eq. 4 takes the loss of every record for the mean loss, so that it is right within a factor.
    expected = theorem_covariance(SGD, hessian, 2 * least / retrained.BATCH * hessian)
    ratio = np.trace(np.cov(w.T)) / np.trace(expected)
    assert 0.5 < ratio < 2


def test_the_loss_has_the_ratio_of_folded_normal_laws():
    rng = np.random.default_rng(2)
    outside, inside = rng.normal(0.3, 1.0, 500), rng.normal(-0.2, 0.7, 500)
    loss = np.array([0.0, 0.1, 2.0])

    def density(errors, value):
        law = norm(errors.mean(), errors.std(ddof=1))
        root = np.sqrt(2 * value)
        return law.pdf(root) + law.pdf(-root)

    expected = [np.log(density(inside, v) / density(outside, v)) for v in loss]
    np.testing.assert_allclose(retrained.loss_ratio(loss, outside, inside), expected)


def test_no_score_of_the_loss_beats_its_likelihood_ratio():
    rng = np.random.default_rng(3)
    outside, inside = rng.normal(0.0, 1.0, 20_000), rng.normal(0.0, 0.5, 20_000)
    loss = np.concatenate([outside, inside]) ** 2 / 2
    member = np.repeat([False, True], 20_000)
    best = metrics.auc(retrained.loss_ratio(loss, outside, inside), member)
    assert best >= metrics.auc(-loss, member) - 1e-9
    assert best > 0.6


def test_differences_are_those_of_their_rows(table):
    assert set(table["case"]) == set(retrained.RECIPES)
    for _, rows in table.groupby("case"):
        value = rows.set_index("metric")["value"]
        lead = value["AUC of IHA"] - value["AUC of the loss's likelihood ratio"]
        assert value[retrained.LEAD] == pytest.approx(lead)
        gain = value[retrained.LAWS["theorem"]] - value[retrained.LAWS["boltzmann"]]
        assert value[retrained.GAIN] == pytest.approx(gain)
    assert (table["n_repeats"] == retrained.RECORDS).all()
    assert (table["retrainings"] == 200).all()


def test_the_table_is_the_same_for_the_same_seed(table):
    again = retrained.control_9(SETTINGS)
    pd.testing.assert_frame_equal(table, again)
