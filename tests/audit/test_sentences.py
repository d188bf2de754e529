"""Where a sentence beside the numbers stands and where not: of a rare side, of bounds of 0."""

import numpy as np
import pytest
from scipy import stats

from membership.audit import Scored, audit

ASKS_MORE = "An AUC above 0.5 does not contradict that"


@pytest.mark.parametrize(
    ("members", "few"),
    [(8, True), (10, False), (60, False), (150, False), (190, False), (193, True)],
)
def test_a_side_of_less_than_a_twentieth_is_noted(members: int, few: bool) -> None:
    score = np.random.default_rng(members).normal(size=200)
    notes = audit(Scored(score, np.arange(200) < members))["warnings"]
    said = f"{members / 2:.1f}% of the records are members; the smaller side sets the precision."
    assert [note for note in notes if "members;" in note] == [said] * few


@pytest.mark.parametrize(("shift", "leaks"), [(0.0, False), (0.3, False), (0.4, True)])
def test_a_bound_of_0_is_set_against_an_auc_that_is_surely_more(shift: float, leaks: bool) -> None:
    member = np.arange(200) < 100
    score = np.random.default_rng(8).normal(size=200) + shift * member
    report = audit(Scored(score, member))
    assert report["epsilon_lower_bound"]["value"] == report["mu_lower_bound"]["value"] == 0
    by_ranks = stats.mannwhitneyu(score[member], score[~member], alternative="greater")
    assert (by_ranks.pvalue < 0.025) == leaks
    assert any(ASKS_MORE in text for text in report["meaning"]) == leaks
