"""Several steps on one batch, simulated and on real gradients."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from membership import privacy
from membership.attacks.glir import glir
from membership.book.studies.gmip import several_steps
from membership.book.studies.gmip.several_steps import _p_values
from membership.curvature import gradient_moments

SETTINGS = SimpleNamespace(seed=0, simulated_repeats=3)


def test_differences_of_steps_test_what_the_steps_test():
    rng = np.random.default_rng(4)
    back, asked = rng.standard_normal((3, 400, 5)), rng.standard_normal((3, 60, 5))
    n = 30
    rows = back.transpose(1, 0, 2).reshape(400, -1)
    mean, covariance = gradient_moments(rows)
    each = asked.transpose(1, 0, 2).reshape(60, -1)
    expected = glir(each[:n].mean(axis=0), each, mean, covariance, n)
    distance, k, rank = several_steps._forms(
        several_steps._differences(back), several_steps._differences(asked), n
    )
    np.testing.assert_allclose(_p_values((distance, k, rank), n), expected, rtol=1e-6)


def test_several_steps_are_tested_jointly_where_records_suffice(gathered):
    one = gathered["joint-digits"]
    rows = pd.DataFrame(several_steps.on_data([one]))
    table = rows.set_index(["case", "attack"])["value"]
    first, every = one.attrs["backgrounds"]
    assert first <= every
    case = f"one step, {every:,} background records"
    assert set(table[case].index) == {several_steps.ATTACKS[0], several_steps.ATTACKS[2]}
    # Five steps have more dimensions than there are records.
    assert not any(case.startswith("5 steps") for case, _ in table.index)
    assert one["auc"].sel(steps=5).isnull().all()


@pytest.mark.slow
def test_the_joint_test_finds_what_the_sum_misses():
    rows = pd.DataFrame(several_steps.simulated(SETTINGS))
    table = rows.set_index(["case", "attack"])["value"]
    for correlation in several_steps.CORRELATIONS:
        case = f"correlation {correlation:g}"
        assert table[case, "joint test"] == pytest.approx(table[case, "bound"], abs=2.5)
    one = 100 * privacy.gaussian_auc(privacy.mip_mu_step(20, 60, 20))
    assert table["correlation 0.99", "sum of log p"] == pytest.approx(one, abs=2.5)
