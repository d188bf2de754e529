"""Thresholds of other models against the library's own, pooled the slow way."""

import numpy as np
import pytest

from membership import metrics
from membership.book.studies.bayes_optimal import splits


def played(models=5, records=40, levels=None, seed=0):
    rng = np.random.default_rng(seed)
    member = rng.permuted(np.tile(np.arange(records) < records // 2, (models, 1)), axis=1)
    score = rng.normal(size=member.shape) + 0.5 * member
    return score if levels is None else np.round(levels * score) / levels, member


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("levels", [None, 2])
@pytest.mark.parametrize("sign", [1, -3])
def test_a_threshold_is_the_best_of_the_next_models_pooled(count, levels, sign):
    """With and without equal scores; where scores mislead, nobody or nearly nobody is accepted."""
    score, member = played(levels=levels)
    score = sign * score
    for model, found in enumerate(splits.of_others(score, member, count)):
        rows = (model + 1 + np.arange(count)) % len(score)
        expected = metrics.best_threshold(score[rows].ravel(), member[rows].ravel())
        assert found == pytest.approx(expected)


def test_scores_that_are_all_equal_accept_nobody():
    _, member = played()
    assert np.isposinf(splits.of_others(np.zeros(member.shape), member, 4)).all()


def test_the_cut_of_scores_that_tell_everything_lies_between_the_two_kinds():
    _, member = played()
    score = np.where(member, 3.0, 1.0)
    np.testing.assert_array_equal(splits.of_others(score, member, 4), 2.0)


@pytest.mark.parametrize(
    ("models", "found"), [(2, [1]), (4, [1, 3]), (11, [1, 3, 10]), (100, [1, 3, 10, 30, 99])]
)
def test_each_number_of_models_is_tried_once(models, found):
    assert splits.counts(models) == found


def test_0_1_is_malt_at_log_2():
    """Of two classes: the label's probability is above one half where the loss is below log 2."""
    odds = np.array([-3.0, -1e-9, 1e-9, 3.0])
    assert ((-np.logaddexp(0, -odds) > -splits.RIGHT) == (odds > 0)).all()
