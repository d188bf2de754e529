import numpy as np
import pytest
from scipy import stats

from membership.studies.bmia import measured, names, predictive


def test_references_are_asked_about_their_own_records(source):
    [name] = names.of_last((names.POPULATION,), source.settings)
    population = source.evidence(name)
    member = population["member"].values
    assert np.array_equal(member.sum(axis=1), np.full(len(member), member.shape[1] // 2))
    odds = population["log_odds"].values
    assert odds[member].mean() > odds[~member].mean()


def test_the_distance_is_scipys():
    rng = np.random.default_rng(0)
    drawn = rng.standard_t(5, (400, 3))
    expected = [
        stats.kstest(one, stats.norm(one.mean(), one.std(ddof=1)).cdf).statistic for one in drawn.T
    ]
    np.testing.assert_allclose(measured.distance_from_normal(drawn), expected)


def test_control_13_compares_kinds_of_draws(source):
    value = source.table("bmia-ctl-13").set_index("quantity")["value"]
    assert value[predictive.LESS] == pytest.approx(value[predictive.LLN] - value[predictive.MC])
    assert 0 < value[predictive.DISTANCE] < 0.2
