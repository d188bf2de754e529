import numpy as np
import pytest

from membership.studies.bmia import accused


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_a_conformal_p_value_is_below_a_level_as_often_as_it_says(level):
    rng = np.random.default_rng(0)
    # A law that is far from normal.
    drawn = rng.exponential(size=(4000, 100)) ** 3
    p = [accused.conformal(one[:1], one[1:])[0] for one in drawn]
    rate = np.mean(np.array(p) <= level)
    assert rate <= level + 3 * np.sqrt(level * (1 - level) / len(p))
    assert rate >= level - 3 * np.sqrt(level * (1 - level) / len(p))


def test_records_that_tie_with_known_ones_are_not_accused_for_it():
    known = np.array([1.0, 2.0, 2.0, 3.0])
    np.testing.assert_allclose(
        accused.conformal(np.array([0.0, 2.0, 3.0, 9.0]), known), [1, 4 / 5, 2 / 5, 1 / 5]
    )


def test_benjamini_and_hochberg_by_hand():
    p = np.array([0.01, 0.04, 0.06, 0.5])
    member = np.array([True, False, True, False])
    # 10% of one to four fourths: .025, .05, .075, .1; the third is the last below its own.
    found = accused._judged(p, member)
    assert found[accused.FALSE] == pytest.approx(100 / 3)
    assert found[accused.FOUND] == pytest.approx(100)
    none = accused._judged(np.full(4, 0.9), member)
    assert (none[accused.FALSE], none[accused.FOUND]) == (0, 0)


def test_control_17_asks_members_and_the_other_half(source, seen):
    table = source.table("bmia-ctl-17")
    assert not table.duplicated(["dataset", "p_value", "metric"]).any()
    assert table["value"].between(0, 100).all()
    own = table[(table["p_value"] == accused.PUBLISHED) & (table["metric"] == accused.TPR)]
    assert own["n_repeats"].to_list() == [len(seen.targets)]
    n = seen.posterior.attrs["n_samples"]
    each = [
        100 * (accused.p_value(score, n, calibrated=False)[member] < 0.01).mean()
        for score, member in seen.attack("bmia")
    ]
    assert own["value"].iloc[0] == pytest.approx(np.mean(each), abs=0.5)
