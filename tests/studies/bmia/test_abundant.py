import numpy as np
import pytest

from membership import metrics
from membership.attacks.bmia import bmia_from_moments
from membership.studies.bmia import abundant, truth

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def value(source):
    table = source.table("bmia-ctl-15")
    return table.set_index(["attack", "n_reference", "metric"])["value"]


def test_bmia_has_its_one_reference(source, value):
    seen = truth.read_many(source)
    rates = []
    for target in seen.targets:
        score = bmia_from_moments(seen.hinge[target], *seen.moments(seen.first(target)))
        rates.append(100 * metrics.tpr_at_fpr(score, seen.member[target], 0.01))
    assert value["BMIA", 1, abundant.RATE] == pytest.approx(np.mean(rates))


@pytest.mark.parametrize("attack", [abundant.ATTACK_R, abundant.LIRA, abundant.GLOBAL])
def test_gains_are_differences_of_rates(value, attack):
    rate = value.xs(abundant.RATE, level="metric")
    for n in (8, 64):
        less = value[attack, n, abundant.LESS_BMIA]
        assert less == pytest.approx(rate[attack, n] - rate["BMIA", 1])
    more = value[attack, 64, abundant.LESS_FEWER]
    assert more == pytest.approx(rate[attack, 64] - rate[attack, 8])
    assert (attack, 8, abundant.LESS_FEWER) not in value.index
