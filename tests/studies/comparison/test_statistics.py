"""The chapter's own statistics on scores whose truth is known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from membership import metrics
from membership.exhibits import declared
from membership.studies.comparison import (
    agreement,
    bounds,
    leaderboard,
    risk,
    sentences,
    thresholds,
)
from membership.studies.comparison.scores import Table, of_targets


def _table(mu, shape=(30, 400), seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    member = rng.random(shape) < 0.5
    return Table({"loss": rng.normal(size=shape) + mu * member + offset}, member)


def test_a_records_rates_are_equal_where_scores_are_exchangeable_and_not_otherwise():
    fair = _table(0.0)
    rate, count = thresholds.record_rates(fair.score["loss"], fair.member)
    assert np.average(rate, weights=count) == pytest.approx(0.05, abs=0.002)
    found = thresholds._of_rates(rate, count)
    assert found[thresholds.SPREAD]["low"] < 1
    hard = np.random.default_rng(1).normal(size=400) * 2
    unfair = _table(0.0, offset=hard)
    found = thresholds._of_rates(*thresholds.record_rates(unfair.score["loss"], unfair.member))
    assert found[thresholds.SPREAD]["low"] > 5
    assert found[thresholds.ABOVE]["low"] > found[thresholds.BY_CHANCE]["value"]


@pytest.mark.parametrize("nominal", [0.01, 0.05])
def test_a_threshold_from_references_keeps_its_rate_and_gives_bayes_its_values(nominal):
    table = _table(1.0, (40, 2000))
    found = thresholds.rates(table, "loss", 10, nominal)
    assert found[thresholds.REALISED].mean() == pytest.approx(100 * nominal, rel=0.1)
    tpr = stats.norm.sf(stats.norm.isf(nominal) - 1)
    assert found[thresholds.DETECTED].mean() == pytest.approx(100 * tpr, rel=0.1)
    expected = 100 * 0.1 * tpr / (0.1 * tpr + 0.9 * nominal)
    rates = found[thresholds.REALISED], found[thresholds.DETECTED]
    worth = thresholds.worth([rates[0]], [rates[1]], 0.1, seed=0)
    assert worth["low"] < worth["value"] < worth["high"]
    assert worth["value"] == pytest.approx(expected, rel=0.1)


def test_a_target_without_false_positives_does_not_make_a_flag_certain():
    false, true = np.array([0.0, 2.0]), np.array([1.0, 3.0])
    # Of 1,000 records of which 100 are members: 2 and 9 flagged on average.
    assert thresholds.worth([false], [true], 0.1, seed=0)["value"] == pytest.approx(100 * 2 / 11)
    assert thresholds.worth([0 * false], [0 * true], 0.1, seed=0)["value"] == 0


def test_overlaps_have_their_closed_forms():
    a = np.array([True, True, False, False])
    same = agreement.of_flags(a, a)
    assert same[agreement.JACCARD] == same[agreement.KAPPA] == 1
    assert agreement.of_flags(a, ~a)[agreement.JACCARD] == 0
    assert agreement.of_flags(a, ~a)[agreement.KAPPA] == -1
    assert same[agreement.BY_CHANCE] == pytest.approx(0.25 / 0.75)
    rng = np.random.default_rng(0)
    flags = rng.random((2, 100_000)) < 0.05
    found = agreement.of_flags(*flags)
    assert found[agreement.JACCARD] == pytest.approx(found[agreement.BY_CHANCE], abs=0.005)
    assert found[agreement.KAPPA] == pytest.approx(0, abs=0.01)
    assert agreement.of_flags(a & False, a & False)[agreement.KAPPA] == 0


def test_groups_are_disjoint_and_as_large_as_independence_says():
    rng = np.random.default_rng(0)
    member = rng.random((2, 200_000)) < 0.5
    rates = np.array([0.3, 0.2, 0.1, 0.05])
    flags = (rng.random((4, *member.shape)) < rates[:, None, None]) & member
    groups = agreement.groups(flags)
    assert sum(group.astype(int) for group in groups.values()).max() == 1
    assert not any((group & ~member).any() for group in groups.values())
    expected = agreement.by_chance(flags, member)
    assert expected[0] == pytest.approx(np.full(2, rates.prod()), rel=0.1)
    for group, share in zip(groups.values(), expected, strict=True):
        seen = group.sum(axis=1) / member.sum(axis=1)
        assert seen == pytest.approx(share, abs=0.002)


def test_flagged_records_keep_the_rate():
    table = _table(1.0, (1, 1000))
    score, member = table.score["loss"][0], table.member[0]
    for rate in agreement.RATES:
        found = agreement.flagged(score, member, rate)
        assert (found & ~member).sum() <= rate * (~member).sum()
        assert (found & ~member).sum() > rate * (~member).sum() - 1


def covered(levels, repeats, seed):
    """Share of simulated audits whose bound lies at or below the true mu, several attacks each."""
    rng, held = np.random.default_rng(seed), 0
    name = ("loss", "mast", "attack-r", "lira", "rmia")[: len(levels)]
    for _ in range(repeats):
        member = rng.random((4, 150)) < 0.5
        score = {
            one: rng.normal(size=member.shape) + mu * member
            for one, mu in zip(name, levels, strict=True)
        }
        held += bounds.best(score, member)[1][bounds.BOUND_MU] <= max(levels)
    return held / repeats


@pytest.mark.slow
def test_bounds_hold_after_the_choice_of_attack_and_threshold():
    # 100 audits: 95% less three standard errors of a share.
    assert covered((0.0, 1.0, 1.0), 100, 0) >= 0.95 - 3 * 0.0218
    assert covered((0.0, 0.0, 0.0), 100, 1) >= 0.95 - 3 * 0.0218


def test_a_bound_finds_a_strong_attack():
    member = np.random.default_rng(2).random((4, 2000)) < 0.5
    score = {"loss": np.zeros(member.shape), "lira": 2.0 * member}
    score["lira"] = score["lira"] + np.random.default_rng(3).normal(size=member.shape)
    chosen, found = bounds.best(score, member)
    assert chosen == "lira"
    # That a bound is at most the truth, in 19 of 20 draws, is tested above.
    assert found[bounds.BOUND_MU] > 1.8


def test_levels_are_stated_of_private_targets_only():
    assert bounds.stated({"batch_size": 1, "epochs": 1}) == {}
    own = {"clip": 1.0, "noise": 0.02}
    recipe = {"privacy": own, "batch_size": 100, "epochs": 4, "features": 9, "classes": 2}
    assert bounds.stated(recipe)[bounds.STATED_MU] == pytest.approx(2 * 2 / (100 * 0.02))


def test_intervals_leave_one_half_out_as_often_as_they_should():
    rng = np.random.default_rng(4)
    pairs = [(rng.normal(size=300), rng.random(300) < 0.5) for _ in range(400)]
    share = bounds.excluded(pairs).mean()
    assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)
    assert bounds.excluded([(member + score, member) for score, member in pairs]).all()


def test_false_discoveries_of_uniform_p_values_are_kept():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        member = rng.random(500) < 0.5
        p = stats.norm.sf(rng.normal(size=500) + 3 * member)
        found.append(thresholds.of_target(p, member)[thresholds.FALSE])
    # Benjamini and Hochberg keep the level times the share of non-members.
    assert np.mean(found) == pytest.approx(5, abs=1)


def test_risk_is_each_records_auc_and_reliable_where_records_differ():
    table = _table(np.linspace(0, 3, 100), (164, 100), seed=6)
    score, member = table.score["loss"], table.member
    found = risk.risks(score, member)
    assert stats.spearmanr(found, np.arange(100)).statistic > 0.9
    assert risk.reliability(score, member, 4) > 0.8
    same = _table(1.0, (164, 400), seed=7)
    assert risk.reliability(same.score["loss"], same.member, 4) < 0.3
    assert np.isnan(risk.risks(score[:1], member[:1])).all()


def test_targets_that_saw_all_canaries_or_none_tell_nothing_of_them():
    member = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    score = {"loss": np.arange(16.0).reshape(4, 4)}
    found = Table(score, member).told_apart()
    np.testing.assert_array_equal(found.member, member[1:2])
    np.testing.assert_array_equal(found.score["loss"], score["loss"][1:2])


def test_without_mislabelled_records_asked_nothing_is_said_of_them():
    plain = pd.DataFrame({"attack": ["LiRA"], "records": ["as they are"], "value": [0.6]})
    (exhibit,) = (exhibit for exhibit in declared("comparison") if exhibit.id == "comparison-ctl-1")
    assert exhibit.says(plain) == ""
    both = pd.concat([plain, plain.assign(records="mislabelled", value=0.9)])
    assert exhibit.says(both).endswith("0.900 on mislabelled ones.")


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


def test_costs_that_differ_by_less_than_a_reference_model_are_equal():
    rows = [
        ("LOSS", 0.01, 0.70),
        ("LOSS", 0.01, 0.70),
        ("RMIA", 0.9428, 0.74),
        ("BASE", 0.9430, 0.78),
        ("BMIA, mixture", 1.4, 0.79),
        ("LiRA", 30.0, 0.78),
    ]
    points = pd.DataFrame(rows, columns=["attack", "seconds", "value"])
    on = leaderboard.front(points, step=0.47)
    assert on.tolist() == [True, True, False, False, True, False]
    # Where a model takes next to nothing to train, a tenth of a millisecond counts.
    assert leaderboard.front(points, step=1e-5).tolist() == [True, True, True, True, True, False]
    said = sentences.of_seconds(points.assign(**{leaderboard.FRONT: np.where(on, "yes", "no")}))
    assert "none is better than LOSS and BMIA, mixture. LOSS takes 0.01 s" in said
