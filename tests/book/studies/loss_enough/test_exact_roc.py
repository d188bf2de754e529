import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, f, norm

from membership import metrics
from membership.book.studies.loss_enough import exact_roc


@pytest.mark.parametrize("threshold", [2.0, 9.0, 25.0])
def test_one_weight_is_a_scaled_chi_squared_variable(threshold):
    found = exact_roc.exceeds(np.array([1.5]), 8, threshold)
    assert found == pytest.approx(chi2.sf(threshold / 1.5, 8), abs=1e-6)
    turned = exact_roc.exceeds(np.array([-1.5]), 8, -threshold)
    assert turned == pytest.approx(chi2.cdf(threshold / 1.5, 8), abs=1e-6)


def test_the_auc_of_two_scaled_losses_is_the_f_law():
    found = exact_roc.auc(np.array([-0.9]), np.array([-1.1]), 20)
    assert found == pytest.approx(f.cdf(1.1 / 0.9, 20, 20), abs=1e-6)


def test_the_weights_are_those_of_the_form():
    rng = np.random.default_rng(0)
    form, loadings = rng.standard_normal((2, 3, 3))
    weights = exact_roc.weights_of(form, loadings)
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
    assert exact_roc.tpr_at(member, other, 10, 0.01) == pytest.approx(expected, abs=0.015)
    assert exact_roc.auc(member, other, 10) == pytest.approx(metrics.auc(score, seen), abs=0.006)


WEIGHTS = st.lists(st.floats(0.05, 2).map(lambda x: round(x, 3)), min_size=1, max_size=3)


@given(WEIGHTS, WEIGHTS, st.floats(0.1, 10))
def test_areas_turn_with_the_hypotheses_and_know_no_unit(member, other, scale):
    member, other = np.array(member), -np.array(other)
    area = exact_roc.auc(member, other, 6)
    assert exact_roc.auc(other, member, 6) == pytest.approx(1 - area, abs=1e-6)
    assert exact_roc.auc(scale * member, scale * other, 6) == pytest.approx(area, abs=1e-6)
    assert exact_roc.auc(member, member, 6) == pytest.approx(0.5, abs=1e-9)


def test_many_small_weights_are_normal():
    found = exact_roc.exceeds(np.full(500, 0.1), 2, 100 + 6.5)
    assert found == pytest.approx(norm.sf(6.5 / np.sqrt(2 * 0.01 * 1000)), abs=0.01)


MASSES = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def test_the_curve_of_counts_is_that_of_so_many_records():
    score = np.array([3.0, 1.0, 2.0, 1.0])
    member, other = np.array([5, 2, 3, 0]), np.array([1, 4, 2, 3])
    drawn = np.repeat(np.concatenate([score, score]), np.concatenate([member, other]))
    seen = np.repeat([True, False], [10, 10])
    area, _ = exact_roc.rates(score, member / 10, other / 10)
    assert area == pytest.approx(metrics.auc(drawn, seen))


def test_between_two_thresholds_the_curve_is_a_line():
    score, member, other = np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([0.1, 0.9])
    assert exact_roc.rates(score, member, other, fpr=0.05)[1] == pytest.approx(0.25)


@given(MASSES, MASSES, st.permutations(range(4)))
def test_no_score_beats_the_likelihood_ratio_and_the_order_is_nothing(first, second, order):
    member, other = np.array(first) / sum(first), np.array(second) / sum(second)
    best = exact_roc.best_rates(member, other)
    order = np.array(order)
    moved = exact_roc.best_rates(member[order], other[order])
    assert moved == pytest.approx(best)
    any_score = exact_roc.rates(order.astype(float), member, other)
    assert any_score[0] <= best[0] + 1e-9
    assert any_score[1] <= best[1] + 1e-9


def test_identical_hypotheses_are_a_coin():
    mass = np.array([0.2, 0.5, 0.3])
    assert exact_roc.rates(np.array([3.0, 1.0, 2.0]), mass, mass) == pytest.approx((0.5, 0.01))
