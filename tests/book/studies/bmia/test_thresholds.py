import numpy as np
import pytest
from scipy import stats

from membership.book.studies.bmia import thresholds


@pytest.fixture(scope="module")
def table(source):
    return source.table("bmia-ctl-14")


@pytest.fixture(scope="module")
def value(table):
    return table.set_index(["threshold", "metric"])["value"]


def test_thresholds_are_quantiles(many):
    seen = many
    target, regressed = seen.targets[1], np.arange(float(seen.hinge.shape[1]))
    laws = thresholds.thresholds(seen, target, regressed)
    mean, sd = seen.moments(seen.first(target))
    np.testing.assert_allclose(laws["BMIA"][0], stats.norm(mean, sd).isf(0.05))
    np.testing.assert_array_equal(laws[thresholds.QUANTILES][0], regressed)
    held = seen.outputs["held_hinge"].values[target]
    assert (held >= laws[thresholds.MARGINAL][0][0]).mean() == pytest.approx(
        0.05, abs=1 / len(held)
    )
    assert [used for _, used in laws.values()] == [1, 1, 8, 1, 1, 1]


def test_exceedances_are_counted_by_models_that_made_no_threshold(many, value):
    seen = many
    off = []
    for target in seen.targets:
        models = seen.references(target, seen.n_reference)
        few = seen.hinge[models[:8]].astype(float)
        level = few.mean(axis=0) + stats.norm.isf(0.05) * few.std(axis=0, ddof=1)
        each = []
        for record in np.flatnonzero(~seen.member[target]):
            above = sum(seen.hinge[model, record] >= level[record] for model in models[8:])
            each.append(abs(above / (len(models) - 8) - 0.05))
        off.append(100 * np.mean(each))
    assert value["LiRA (n=8)", thresholds.OFF] == pytest.approx(np.mean(off))


def test_the_pinball_loss_is_smallest_at_the_quantile_and_a_shift_of_all_levels_is_undone():
    rng = np.random.default_rng(0)
    hinge = rng.standard_normal((4000, 3)) * [1.0, 2.0, 5.0] + [0.0, 3.0, -2.0]
    exact = stats.norm(loc=[0, 3, -2], scale=[1, 2, 5]).isf(0.05)
    loss = {
        shift: thresholds._measured(hinge, exact + shift)[thresholds.LOSS]
        for shift in (-0.5, 0.0, 0.5)
    }
    assert loss[0.0] < min(loss[-0.5], loss[0.5])
    one, moved = (
        thresholds._measured(hinge, exact + shift)[thresholds.SHIFTED] for shift in (0.0, 7.0)
    )
    assert one == pytest.approx(moved)
    slow = np.mean([max(0.95 * d, -0.05 * d) for d in (hinge - exact).ravel()])
    assert loss[0.0] == pytest.approx(slow)


def test_an_exact_threshold_is_off_by_its_binomial(table, value):
    n = int(table.attrs["sizes"][thresholds.MODELS])
    share = np.random.default_rng(0).binomial(n, 0.05, 200_000) / n
    assert value[thresholds.FLOOR, thresholds.OFF] == pytest.approx(
        100 * np.abs(share - 0.05).mean(), rel=0.02
    )


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


def test_to_accuse_nobody_is_nearer_to_5_percent_than_any_attack(value):
    off = value.xs(thresholds.OFF, level="metric")
    assert off[thresholds.NOBODY] == 5.0
    assert value[thresholds.NOBODY, thresholds.TRUE] == 0.0
