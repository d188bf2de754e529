"""Many attacks under one set of resamples: each number is that of one attack alone."""

import numpy as np
import pytest

from membership import metrics
from membership.errors import InputError


@pytest.mark.parametrize("targets", [1, 3])
def test_each_number_is_that_of_resampled(targets: int) -> None:
    rng = np.random.default_rng(2)
    member = rng.random((targets, 90)) < 0.5
    asked = rng.random((targets, 90)) < 0.9
    scores = {
        "rounded": np.where(asked, np.round(rng.normal(size=member.shape) + member, 1), np.nan),
        "plain": np.where(asked, rng.normal(size=member.shape) + member, np.nan),
    }
    found = metrics.resampled_rates(scores, member, fprs=(0.1, 0.3), resamples=50, seed=4)
    for name, score in scores.items():
        for key, one in found[name].items():
            further = {} if key == "auc" else {"fpr": key}
            statistic = "auc" if key == "auc" else "tpr_at_fpr"
            wanted = metrics.resampled(statistic, score, member, resamples=50, seed=4, **further)
            np.testing.assert_allclose(one.value, wanted.value)
            np.testing.assert_allclose(one.under, wanted.under)


def test_scores_of_other_records_are_refused() -> None:
    score = np.arange(40.0)[None]
    other = np.where(score == 3, np.nan, score)
    with pytest.raises(InputError, match="give scores of the same targets and records"):
        metrics.resampled_rates({"a": score, "b": other}, np.arange(40)[None] % 2)
