import numpy as np
import pytest
from scipy import stats

from membership import attacks
from membership.studies.bmia import names, p_values, retraining, thresholds


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


@pytest.mark.slow
def test_the_reliability_of_the_same_spread_is_one_and_of_noise_zero():
    rng = np.random.default_rng(0)
    truth = np.exp(rng.normal(0, 2, 20_000))
    models = rng.standard_normal((40, 2_000))
    assert retraining.reliability(truth[:2_000] * models)[0] > 0.97
    value, low, high = retraining.reliability(rng.standard_normal((8, 2_000)))
    assert abs(value) < 0.05
    assert low < value < high


def test_log_standard_deviations_are_unbiased():
    rng = np.random.default_rng(0)
    found = retraining._log_sd(3 * rng.standard_normal((5, 100_000)))
    assert found.mean() == pytest.approx(np.log(3), abs=0.01)


def test_the_retraining_controls(source):
    points = source.table("bmia-ctl-4")
    assert (points[["laplace", "retraining"]] > 0).all(axis=None)
    table = source.table("bmia-ctl-5")
    rows = table.set_index("quantity")
    reliability = rows.loc["reliability of the sd over retraining"]
    known = reliability["low"] > 0
    assert ("corrected for noise" in rows.index) == known
    assert ("not identified" in table.attrs["note"]) != known
    if known:
        raw = rows["value"]["correlation of the logarithms"]
        expected = raw / np.sqrt(reliability["value"])
        assert rows["value"]["corrected for noise"] == pytest.approx(expected)


def test_the_full_posterior_stands_beside_the_factored_one(source, seen):
    rows = source.table("bmia-ctl-5").set_index("quantity")["value"]
    (name,) = names.files(("variants",), source.settings)
    variants = source.evidence(name)
    some = seen.on(variants["record"].values)
    over = np.exp(retraining._log_sd(some.hinge[seen.outputs.attrs["references"]]))
    sd = [variants["sd"].sel(variant="full", reference=seen.first(t)).values for t in seen.targets]
    ratio = np.mean([np.exp(np.mean(np.log(over / one))) for one in sd])
    related = np.mean([np.corrcoef(np.log(over), np.log(one))[0, 1] for one in sd])
    assert rows[f"{retraining.RATIO}, full posterior"] == pytest.approx(ratio)
    assert rows[f"{retraining.RELATED}, full posterior"] == pytest.approx(related)


def test_freezing_the_runner_up_raises_the_mean(source):
    table = source.table("bmia-ctl-7").set_index("quantity")["value"]
    assert 0 < table["P(another class overtakes), mean"] < 1
    assert table["frozen mean less mean, in sd"] > 0


def test_the_hard_record_is_a_non_member_above_the_quantile(source, seen):
    table = source.table("bmia-fig-2")
    score = table["target"].iloc[0]
    others = seen.hinge[0][~seen.member[0]]
    assert score > np.quantile(others, 0.95)
    assert np.isclose(others, score).any()
    assert table["series"].nunique() == 4
    # Equation 7: a share of 5% of the validation scores is above it, whatever their law.
    threshold = table[table["series"] == thresholds.MARGINAL]["threshold"].iloc[0]
    assert (seen.outputs["held_hinge"].values[0] > threshold).mean() == pytest.approx(
        0.05, abs=0.005
    )
    for _, rows in table.groupby("series"):
        area = np.trapezoid(rows["density"], rows["hinge"])
        assert area == pytest.approx(1, abs=0.02)


def test_what_too_few_references_say_is_not_identified():
    hinge = np.random.default_rng(0).normal(size=(3, 50))
    assert np.isnan(retraining.identified(hinge))


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
