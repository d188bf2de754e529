import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from membership import metrics
from membership.studies.loss_enough import discrete

MASSES = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def test_the_curve_of_counts_is_that_of_so_many_records():
    score = np.array([3.0, 1.0, 2.0, 1.0])
    member, other = np.array([5, 2, 3, 0]), np.array([1, 4, 2, 3])
    drawn = np.repeat(np.concatenate([score, score]), np.concatenate([member, other]))
    seen = np.repeat([True, False], [10, 10])
    area, _ = discrete.rates(score, member / 10, other / 10)
    assert area == pytest.approx(metrics.auc(drawn, seen))


def test_between_two_thresholds_the_curve_is_a_line():
    score, member, other = np.array([1.0, 0.0]), np.array([0.5, 0.5]), np.array([0.1, 0.9])
    assert discrete.rates(score, member, other, fpr=0.05)[1] == pytest.approx(0.25)


@given(MASSES, MASSES, st.permutations(range(4)))
def test_no_score_beats_the_likelihood_ratio_and_the_order_is_nothing(first, second, order):
    member, other = np.array(first) / sum(first), np.array(second) / sum(second)
    best = discrete.best_rates(member, other)
    order = np.array(order)
    moved = discrete.best_rates(member[order], other[order])
    assert moved == pytest.approx(best)
    any_score = discrete.rates(order.astype(float), member, other)
    assert any_score[0] <= best[0] + 1e-9
    assert any_score[1] <= best[1] + 1e-9


def test_identical_hypotheses_are_a_coin():
    mass = np.array([0.2, 0.5, 0.3])
    assert discrete.rates(np.array([3.0, 1.0, 2.0]), mass, mass) == pytest.approx((0.5, 0.01))
