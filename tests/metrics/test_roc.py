"""ROC curves, areas and rates against pairwise counts; bands are Student's."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from membership import metrics
from membership.metrics import resampling, roc


@st.composite
def scored(draw):
    """Few distinct scores, so that ties are frequent; both classes present."""
    n = draw(st.integers(2, 30))
    score = draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    member = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    member[0], member[1] = True, False
    return np.array(score, dtype=float), np.array(member)


def slow_auc(score, member):
    pairs = [(x > y) + (x == y) / 2 for x in score[member] for y in score[~member]]
    return sum(pairs) / len(pairs)


def slow_tpr(score, member, fpr):
    allowed = [0.0]
    for threshold in score:
        if sum(score[~member] >= threshold) / sum(~member) <= fpr:
            allowed.append(sum(score[member] >= threshold) / sum(member))
    return max(allowed)


def slow_average_precision(score, positive):
    return np.mean([positive[score >= own].mean() for own in score[positive]])


@given(scored())
def test_auc_counts_pairs_with_ties_as_half(case):
    assert metrics.auc(*case) == pytest.approx(slow_auc(*case), abs=1e-12)


@given(scored(), st.sampled_from([0.01, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.9]))
def test_tpr_at_fpr_takes_whole_tied_groups(case, fpr):
    assert metrics.tpr_at_fpr(*case, fpr) == pytest.approx(slow_tpr(*case, fpr), abs=1e-12)


@pytest.mark.slow
@given(scored())
def test_average_precision_of_either_class(case):
    score, member = case
    found = metrics.average_precision(score, member)
    assert found == pytest.approx(slow_average_precision(score, member), abs=1e-12)
    found = metrics.average_precision(score, member, positive="non-member")
    assert found == pytest.approx(slow_average_precision(-score, ~member), abs=1e-12)


@given(scored())
def test_roc_curve_has_one_point_a_threshold(case):
    score, member = case
    fpr, tpr = metrics.roc_curve(score, member)
    thresholds = [np.inf, *sorted(set(score), reverse=True)]
    assert fpr == pytest.approx([np.mean(score[~member] >= t) for t in thresholds])
    assert tpr == pytest.approx([np.mean(score[member] >= t) for t in thresholds])


@given(scored())
def test_area_under_the_curve_is_auc(case):
    fpr, tpr = metrics.roc_curve(*case)
    assert np.trapezoid(tpr, fpr) == pytest.approx(metrics.auc(*case), abs=1e-12)


@pytest.mark.slow
@given(scored(), st.randoms(use_true_random=False))
def test_order_and_scale_of_the_scores_are_irrelevant(case, random):
    score, member = case
    order = list(range(len(score)))
    random.shuffle(order)
    changed = np.exp(score[order] / 3) * 1e200, member[order]
    assert metrics.auc(*changed) == metrics.auc(*case)
    assert metrics.tpr_at_fpr(*changed, 0.2) == metrics.tpr_at_fpr(*case, 0.2)
    assert metrics.average_precision(*changed) == metrics.average_precision(*case)
    np.testing.assert_array_equal(metrics.roc_curve(*changed), metrics.roc_curve(*case))


@pytest.mark.slow
@given(scored())
def test_swapping_the_classes_and_the_sign_mirrors_the_curve(case):
    score, member = case
    fpr, tpr = metrics.roc_curve(score, member)
    mirrored_fpr, mirrored_tpr = metrics.roc_curve(-score, ~member)
    assert mirrored_fpr == pytest.approx(1 - tpr[::-1])
    assert mirrored_tpr == pytest.approx(1 - fpr[::-1])
    assert metrics.auc(-score, ~member) == pytest.approx(metrics.auc(score, member), abs=1e-12)


def test_a_tie_across_the_allowed_rate_is_refused_whole():
    score = np.array([3.0, 2.0, 2.0, 2.0, 1.0, 0.0])
    member = np.array([True, True, False, False, False, False])
    # Accepting the tied group costs two of four non-members.
    assert metrics.tpr_at_fpr(score, member, 0.49) == 0.5
    assert metrics.tpr_at_fpr(score, member, 0.5) == 1.0


def test_infinite_scores_rank_at_the_ends():
    score, member = [np.inf, np.inf, 0.0, -np.inf, -np.inf], [True, False, True, False, False]
    assert metrics.auc(score, member) == pytest.approx((2.5 + 2) / 6)
    assert metrics.tpr_at_fpr(score, member, 0.4) == 1.0


def test_torch_tensors_are_taken():
    score, member = torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([False, False, True, True])
    assert metrics.auc(score, member) == 0.75
    assert isinstance(metrics.auc(score, member), float)
    assert metrics.roc_curve(score, member)[0].dtype == np.float64


RATES = np.array([0.01, 0.05, 0.1, 0.5])


@pytest.fixture
def repeats():
    rng = np.random.default_rng(0)
    member = np.arange(200) < 100
    return [(np.round(rng.normal(member, 1), 1), member) for _ in range(4)]


def test_a_grid_holds_the_rates_that_one_asks_for_singly(repeats):
    for score, member in repeats:
        each = [metrics.tpr_at_fpr(score, member, rate) for rate in RATES]
        np.testing.assert_array_equal(metrics.tpr_on(score, member, RATES), each)


def test_nobody_is_caught_at_a_rate_of_0_beyond_the_best_and_everybody_at_1():
    found = metrics.tpr_on([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0], np.array([0.0, 1.0]))
    np.testing.assert_array_equal(found, [0.5, 1.0])


def test_a_band_is_students(repeats):
    band = metrics.roc_band(repeats, RATES)
    at_half = [metrics.tpr_at_fpr(*pair, 0.5) for pair in repeats]
    low, high = stats.t.interval(0.95, 3, np.mean(at_half), stats.sem(at_half))
    assert (band["low"][-1], band["high"][-1]) == pytest.approx((low, min(high, 1.0)))
    assert band["standard_error"][-1] == pytest.approx(stats.sem(at_half))
    assert band["n_repeats"] == 4


@pytest.mark.parametrize("n", [3, 7, 10, 30, 49, 1000])
def test_a_rate_that_is_a_whole_number_of_non_members_lets_so_many_pass(n):
    """However its product was rounded, and by whichever road the threshold is found."""
    score = np.r_[np.arange(n), np.arange(n) + 0.5]
    member = np.arange(2 * n) >= n
    order = resampling.ranked(score, member)
    for k in range(1, n):
        for rate in (k / n, 1 - (n - k) / n, k * (1 / n)):
            wanted = sum(one > n - 1 - k for one in score[member]) / n
            assert metrics.tpr_at_fpr(score, member, rate) == wanted, (k, rate)
            assert metrics.tpr_on(score, member, np.array([rate]))[0] == wanted
            assert roc.flagged(score, member, rate)[member].mean() == wanted
            assert roc.flagged(score, member, rate)[~member].sum() == k
            assert resampling.weighted_tpr(order, np.ones((2 * n, 1)), rate)[0] == wanted


def test_at_a_rate_of_1_all_are_flagged():
    score, member = np.array([3.0, -np.inf, 1.0, -np.inf]), np.array([True, True, False, False])
    assert metrics.tpr_on(score, member, np.array([1.0])).tolist() == [1.0]
    assert roc.flagged(score, member, 1.0).all()
