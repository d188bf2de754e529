"""One cell's evidence as scores, and averages over targets, cells and data sets."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from membership import metrics
from membership.book.studies.comparison import scores
from membership.book.studies.comparison.scores import Table, of_targets


def test_targets_that_saw_all_canaries_or_none_tell_nothing_of_them():
    member = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    score = {"loss": np.arange(16.0).reshape(4, 4)}
    found = Table(score, member).told_apart()
    np.testing.assert_array_equal(found.member, member[1:2])
    np.testing.assert_array_equal(found.score["loss"], score["loss"][1:2])


def test_targets_are_averaged_within_a_data_set_and_data_sets_alike():
    rng = np.random.default_rng(0)
    a, b, other = rng.normal(50, 5, 10), rng.normal(60, 5, 10), rng.normal(20, 2, 16)
    cells = [SimpleNamespace(set=name) for name in ("first", "second", "first")]
    found = of_targets(cells, [a, other, b])
    of_first = (a + b) / 2
    assert found["value"] == pytest.approx((of_first.mean() + other.mean()) / 2)
    errors = [of_first.var(ddof=1) / 10, other.var(ddof=1) / 16]
    assert found["standard_error"] == pytest.approx(np.sqrt(sum(errors)) / 2)
    # Twice the mean is a sum of two independent means: Welch's test has its degrees of freedom.
    welch = stats.ttest_ind(of_first, other, equal_var=False)
    assert found["degrees_of_freedom"] == pytest.approx(welch.df)
    assert found["n_repeats"] == 10
    alone = of_targets(cells[:1], [a], lowest=0.0, highest=50.0)
    assert alone == metrics.summary(a, lowest=0.0, highest=50.0)
    assert of_targets(cells[:2], [a, other], highest=35.0)["high"] == 35.0


@pytest.mark.slow
def test_an_average_over_cells_is_that_of_their_targets(source, seen, settings):
    found = scores.contrast(scores.plain(seen), {"lira": 1.0}, "auc", settings)
    each = [
        metrics.auc(score, member)
        for one in seen
        for score, member in zip(one.table.score["lira"], one.table.member, strict=True)
    ]
    assert found["value"] == pytest.approx(np.mean(each))
    assert found["low"] < found["value"] < found["high"]
    assert found["n_repeats"] == settings.n_targets


@pytest.mark.slow
def test_canaries_are_in_no_other_table(seen):
    one = seen[0]
    assert one.table.member.shape[1] == int((~one.canary).sum())
    assert one.everyone.member.shape[1] == one.canary.size


@pytest.mark.slow
def test_nobody_is_its_own_reference_nor_its_complements(seen):
    one, chosen = seen[0], ("loss", "attack-r")
    table = one.every_model(chosen)
    assert len(table.member) == len(one.targets) + len(one.references)
    # Attack-R by all references but the last pair, by hand.
    order = one.references[:-2]
    seen_by = one.one_model(one.targets[0], chosen, order)
    np.testing.assert_array_equal(table.score["attack-r"][0], seen_by["attack-r"])
