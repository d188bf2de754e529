import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, f, norm

from membership import metrics
from membership.studies.loss_enough import chi_squared


@pytest.mark.parametrize("threshold", [2.0, 9.0, 25.0])
def test_one_weight_is_a_scaled_chi_squared_variable(threshold):
    found = chi_squared.exceeds(np.array([1.5]), 8, threshold)
    assert found == pytest.approx(chi2.sf(threshold / 1.5, 8), abs=1e-6)
    turned = chi_squared.exceeds(np.array([-1.5]), 8, -threshold)
    assert turned == pytest.approx(chi2.cdf(threshold / 1.5, 8), abs=1e-6)


def test_the_auc_of_two_scaled_losses_is_the_f_law():
    found = chi_squared.auc(np.array([-0.9]), np.array([-1.1]), 20)
    assert found == pytest.approx(f.cdf(1.1 / 0.9, 20, 20), abs=1e-6)


def test_the_weights_are_those_of_the_form():
    rng = np.random.default_rng(0)
    form, loadings = rng.standard_normal((2, 3, 3))
    weights = chi_squared.weights_of(form, loadings)
    x = loadings @ rng.standard_normal((3, 200_000))
    drawn = np.sum(x * (form @ x), axis=0)
    error = drawn.std() / np.sqrt(drawn.size)
    assert weights.sum() == pytest.approx(drawn.mean(), abs=5 * error)
    assert 2 * np.square(weights).sum() == pytest.approx(drawn.var(), rel=0.03)


def test_the_rate_at_1_percent_is_that_of_draws():
    rng = np.random.default_rng(1)
    member, other = np.array([0.6, -0.1]), np.array([0.3, -0.2])
    score = np.concatenate([rng.chisquare(10, (100_000, 2)) @ one for one in (other, member)])
    seen = np.arange(200_000) >= 100_000
    expected = metrics.tpr_at_fpr(score, seen, 0.01)
    assert chi_squared.tpr_at(member, other, 10, 0.01) == pytest.approx(expected, abs=0.015)
    assert chi_squared.auc(member, other, 10) == pytest.approx(metrics.auc(score, seen), abs=0.006)


WEIGHTS = st.lists(st.floats(0.05, 2).map(lambda x: round(x, 3)), min_size=1, max_size=3)


@given(WEIGHTS, WEIGHTS, st.floats(0.1, 10))
def test_areas_turn_with_the_hypotheses_and_know_no_unit(member, other, scale):
    member, other = np.array(member), -np.array(other)
    area = chi_squared.auc(member, other, 6)
    assert chi_squared.auc(other, member, 6) == pytest.approx(1 - area, abs=1e-6)
    assert chi_squared.auc(scale * member, scale * other, 6) == pytest.approx(area, abs=1e-6)
    assert chi_squared.auc(member, member, 6) == pytest.approx(0.5, abs=1e-9)


def test_many_small_weights_are_normal():
    found = chi_squared.exceeds(np.full(500, 0.1), 2, 100 + 6.5)
    assert found == pytest.approx(norm.sf(6.5 / np.sqrt(2 * 0.01 * 1000)), abs=0.01)
