"""What the metrics refuse: a call, and words of the one line."""

import math
from functools import partial

import numpy as np
import pytest

from membership import metrics
from membership.errors import InputError

SCORE, MEMBER = np.arange(40.0), np.arange(40) % 2 == 0
PAIR = {"score_a": SCORE.reshape(4, 10), "score_b": SCORE[::-1].reshape(4, 10)}
OTHER = np.where(SCORE == 3, np.nan, SCORE)

# Calls that are fine before an argument of theirs is changed.
interval = partial(metrics.interval, "auc", SCORE, MEMBER)
paired = partial(metrics.paired_interval, statistic="auc", **PAIR, member=MEMBER.reshape(4, 10))
two = partial(metrics.interval, score=[0.0, 1.0, 2.0], member=[0, 1, 1])


@pytest.mark.parametrize("call", [interval, paired])
def test_the_call_without_the_change_is_fine(call):
    assert call() is not None


REFUSED = [
    (partial(metrics.peak_accuracy_null, 0, 4, 0), "n_member = 0"),
    (partial(metrics.accuracy, [0.0, 1.0], [False, True], np.nan), "threshold is NaN"),
    (partial(metrics.best_threshold, [0.0, 1.0], [True, True]), "members only"),
    (partial(metrics.best_threshold, [0.0, np.inf], [False, True]), "score holds 1 infinite"),
    (partial(two, "f1"), "statistic is 'f1'; give one of accuracy, auc"),
    (partial(two, "auc", level=1.0), "level is 1.0"),
    (partial(two, "auc", method="wald"), "method is 'wald'"),
    (partial(two, "auc", method="clopper-pearson"), 'takes "tpr_at_fpr" or "accuracy"'),
    (partial(two, "auc", score=[0.0, np.nan, 1.0]), "score holds 1 NaN"),
    (partial(two, "auc"), "at least two members and two non-members"),
    (partial(metrics.auc_interval, SCORE, SCORE < 1), "at least two"),
    (partial(metrics.tpr_interval, SCORE, SCORE < 1, 0.1), "at least two"),
    (partial(metrics.tpr_interval, SCORE, MEMBER, 0.0), "fpr is 0"),
    (partial(metrics.auc_interval, SCORE, MEMBER, level=2), "level is 2"),
    (partial(metrics.summary, []), "values"),
    (partial(metrics.summary, [1.0, math.nan]), "values"),
    (partial(metrics.summary, [1.0, 2.0], [0]), "units"),
    (partial(paired, score_b=np.zeros((4, 9))), "score_b and score_a"),
    (partial(paired, score_a=[["x"]]), "score_a must be an array of real numbers"),
    (partial(paired, score_a=np.zeros((1, 4, 9))), r"give \(targets, records\), or"),
    (partial(paired, member=np.zeros((4, 10))), "target 0 was asked 0 members"),
    (partial(paired, member=np.zeros((4, 9))), "member has shape"),
    (partial(paired, units=[1, 2]), "units has shape"),
    (partial(paired, asked_share=1.5), "asked_share is 1.5"),
    (partial(paired, level=95), "level is 95"),
    (partial(paired, resamples=1), "resamples is 1"),
    (partial(paired, statistic="roc"), "statistic is 'roc'"),
    (
        partial(metrics.contrast_interval, "auc", [*PAIR.values()], [1], MEMBER.reshape(4, 10)),
        "coefficients has 1 entries; give 2",
    ),
    (
        partial(metrics.resampled_rates, {"a": SCORE[None], "b": OTHER[None]}, MEMBER[None]),
        "give scores of the same targets and records",
    ),
    *((partial(metrics.tpr_at_fpr, SCORE, MEMBER, rate), "fpr is") for rate in (0.0, 1.0, -0.1)),
    (partial(metrics.tpr_at_fpr, SCORE, MEMBER, np.nan), "fpr is"),
    (partial(metrics.average_precision, SCORE, MEMBER, positive="train"), "give .member."),
    (partial(metrics.tpr_on, SCORE, MEMBER, np.array([-0.1, 0.5])), r"give some in \[0, 1\]"),
    (partial(metrics.tpr_on, SCORE, MEMBER, np.array([0.5, 1.1])), r"give some in \[0, 1\]"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_a_bad_argument_is_one_line_that_names_it(call, words):
    with pytest.raises(InputError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
