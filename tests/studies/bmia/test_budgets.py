import numpy as np
import pytest
import xarray as xr
from scipy.special import expit

from membership import attacks, metrics
from membership.studies.bmia import budgets, names, predictive, summaries
from membership.studies.bmia.seen import further


@pytest.fixture(scope="module")
def table(source):
    return source.table("bmia-ctl-12")


def rate(table, attack, n):
    part = table[(table["attack"] == attack) & (table["n_reference"] == n)]
    return part.set_index("metric")["value"]


def test_regressed_quantiles_need_no_reference(table, source, seen):
    found = rate(table, "QMIA, quantiles", 0)
    (name,) = names.files((names.QMIA,), source.settings)
    score = source.evidence(name)["score"].values.astype(float)
    each = [metrics.auc(score[t], seen.member[t]) for t in seen.targets]
    assert found[budgets.AUC] == pytest.approx(100 * np.mean(each))


def test_all_attacks_stand_at_all_budgets(table):
    assert not table.duplicated(["dataset", "attack", "n_reference", "metric"]).any()
    rates = table[table["metric"] == budgets.RATE]
    assert (rates.groupby("attack")["n_reference"].nunique().loc[list(budgets.DRAWN)] >= 3).all()
    assert rates["value"].between(0, 100).all()


def test_a_paired_difference_is_the_difference(table):
    found = rate(table, "Attack-R", 4)
    for metric in (budgets.RATE, budgets.AUC):
        less = found[metric] - rate(table, "BMIA", 1)[metric]
        assert found[f"{metric}, {budgets.LESS_BMIA}"] == pytest.approx(less)
    mixed = rate(table, budgets.POSTERIOR, 2)
    expected = mixed[budgets.AUC] - rate(table, budgets.PLAIN, 2)[budgets.AUC]
    assert mixed[f"{budgets.AUC}, {budgets.LESS_PLAIN}"] == pytest.approx(expected)


def test_rmias_score_is_a_step_function_of_its_ratio():
    rng = np.random.default_rng(0)
    odds, held = rng.normal(0, 2, (4, 300)), rng.normal(0, 2, (4, 100))
    asked, population = expit(odds), expit(held)
    share = attacks.rmia(asked[0], asked[1:], population[0], population[1:])
    order = np.argsort(budgets._ratio(odds[0], odds[1:], 0.3))
    assert (np.diff(share[order]) >= 0).all()


def test_a_posterior_is_worth_the_references_at_which_the_gain_is_nothing():
    sizes = [1, 2, 4, 8]
    gains = np.log2(sizes)[:, None] - 1.5 + np.array([-0.01, 0.0, 0.01])
    found = budgets.worth(sizes, gains)
    assert found["low"] <= found["value"] <= found["high"]
    assert np.log2(found["value"]) == pytest.approx(1.5, abs=0.02)
    # Half the width: Student's 97.5% quantile times the standard error, at one unit an octave.
    assert np.log2(found["high"] / found["low"]) / 2 == pytest.approx(
        4.303 * 0.01 / 3**0.5, abs=0.02
    )


@pytest.mark.parametrize(("level", "end"), [(5.0, 1.0), (-5.0, 8.0)])
def test_what_the_sizes_do_not_reach_ends_at_them(level, end):
    gains = np.full((4, 3), level) + np.array([-0.1, 0.0, 0.1])
    found = budgets.worth([1, 2, 4, 8], gains)
    assert list(found.values()) == pytest.approx([end] * 3)


def test_the_full_posterior_is_compared_on_its_own_queries(table, source, seen):
    (variants,) = further(source, "variants")
    asked, pairs = predictive.full_posterior(seen, variants)
    found = rate(table, budgets.FULL, 1)
    assert found[budgets.AUC] == pytest.approx(np.mean(summaries.auc(pairs)))
    for name, words in (("bmia", budgets.LESS_BMIA), ("difference", budgets.LESS_PLAIN)):
        other = summaries.auc(asked.attack(name))
        expected = np.mean(np.subtract(summaries.auc(pairs), other))
        assert found[f"{budgets.AUC}, {words}"] == pytest.approx(expected)
    one = source.table("bmia-tab-1").set_index(["attack", "metric"])["value"]
    assert one[budgets.FULL, budgets.AUC] == pytest.approx(found[budgets.AUC])


def test_queries_of_the_full_posterior_are_counted_where_they_are_fewer(seen):
    some = seen.on(seen.outputs["record"].values[:40])
    assert predictive.asked_less([(seen, seen)]) == ""
    said = predictive.asked_less([(seen, some), (seen, seen)])
    assert said == f"Queries of the full posterior: digits 40 of {len(seen.hinge[0])}."
    variants = xr.Dataset(coords={"variant": ["mc"], "record": seen.outputs["record"].values})
    assert predictive.full_posterior(seen, variants) is None
