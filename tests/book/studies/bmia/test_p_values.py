import numpy as np
import pytest
from scipy import stats

from membership import attacks
from membership.book.studies.bmia import p_values


@pytest.mark.slow
def test_the_published_p_value_accuses_half_and_the_corrected_one_a_hundredth(source):
    table = source.table("bmia-ctl-2")
    perfect = table[table["panel"].str.startswith(p_values.PERFECT)]
    value = perfect.set_index(["series", "n_samples"])["value"]
    for n, expected in ((10, 20.8), (100, 40.7), (1000, 47.1)):
        assert value["published, exact", n] == pytest.approx(expected, abs=0.1)
        assert value["published", n] == pytest.approx(value["published, exact", n], abs=0.5)
        # Four standard errors of 200,000 draws.
        assert value["corrected", n] == pytest.approx(1.0, abs=0.09)


def test_the_exact_rate_against_a_simulation_of_algorithm_1():
    rng = np.random.default_rng(0)
    draws, target = rng.standard_normal((20, 50_000)), rng.standard_normal(50_000)
    t = (target - draws.mean(axis=0)) / (draws.std(axis=0, ddof=1) / np.sqrt(20))
    rate = (stats.t.sf(t, 19) < 0.01).mean()
    assert rate == pytest.approx(p_values.exact_rate(20), abs=0.009)


def test_p_values_from_moments_are_those_of_the_draws():
    rng = np.random.default_rng(0)
    draws, target = rng.standard_normal((20, 500)), 2 + rng.standard_normal(500)
    z = (target - draws.mean(axis=0)) / draws.std(axis=0, ddof=1)
    for calibrated in (False, True):
        expected = attacks.bmia_p_value(target, draws, calibrated)
        np.testing.assert_allclose(p_values.p_value(z, 20, calibrated), expected)


@pytest.mark.slow
def test_ranking_by_a_rounded_p_ties_records(source):
    table = source.table("bmia-ctl-3").set_index(["ranking", "metric"])["value"]
    top = "non-members at the top(%)"
    assert table["p, as 1 - F(t)", top] >= table["log survival", top]
    assert table["log survival", "auc(%)"] == pytest.approx(table["z", "auc(%)"])


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_a_conformal_p_value_is_below_a_level_as_often_as_it_says(level):
    rng = np.random.default_rng(0)
    # A law that is far from normal.
    drawn = rng.exponential(size=(4000, 100)) ** 3
    p = [p_values.conformal(one[:1], one[1:])[0] for one in drawn]
    rate = np.mean(np.array(p) <= level)
    assert rate <= level + 3 * np.sqrt(level * (1 - level) / len(p))
    assert rate >= level - 3 * np.sqrt(level * (1 - level) / len(p))


def test_records_that_tie_with_known_ones_are_not_accused_for_it():
    known = np.array([1.0, 2.0, 2.0, 3.0])
    np.testing.assert_allclose(
        p_values.conformal(np.array([0.0, 2.0, 3.0, 9.0]), known), [1, 4 / 5, 2 / 5, 1 / 5]
    )


def test_benjamini_and_hochberg_by_hand():
    p = np.array([0.01, 0.04, 0.06, 0.5])
    member = np.array([True, False, True, False])
    # 10% of one to four fourths: .025, .05, .075, .1; the third is the last below its own.
    found = p_values._judged(p, member)
    assert found[p_values.FALSE] == pytest.approx(100 / 3)
    assert found[p_values.FOUND] == pytest.approx(100)
    none = p_values._judged(np.full(4, 0.9), member)
    assert (none[p_values.FALSE], none[p_values.FOUND]) == (0, 0)


def test_control_17_asks_members_and_the_other_half(source, seen):
    table = source.table("bmia-ctl-17")
    assert not table.duplicated(["dataset", "p_value", "metric"]).any()
    assert table["value"].between(0, 100).all()
    own = table[(table["p_value"] == p_values.PUBLISHED) & (table["metric"] == p_values.TPR)]
    assert own["n_repeats"].to_list() == [len(seen.targets)]
    n = seen.posterior.attrs["n_samples"]
    each = [
        100 * (p_values.p_value(score, n, calibrated=False)[member] < 0.01).mean()
        for score, member in seen.attack("bmia")
    ]
    assert own["value"].iloc[0] == pytest.approx(np.mean(each), abs=0.5)
