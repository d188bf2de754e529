"""Several steps jointly on real gradients, and what attacks cost, at the sizes of tiny."""

import numpy as np
import pandas as pd
import pytest

from membership import evidence
from membership.attacks.glir import glir
from membership.curvature import gradient_moments
from membership.studies.gmip import evidence as gathering
from membership.studies.gmip import loss_attack, several_steps
from membership.studies.gmip.settings import Settings
from membership.studies.gmip.several_steps import _p_values

SETTINGS = Settings.from_values({"profile": "tiny"})


@pytest.fixture(scope="module")
def gathered(tmp_path_factory):
    """What a run keeps, as its files give it back."""
    folder, sources = tmp_path_factory.mktemp("evidence"), gathering.sources(SETTINGS)
    return {
        name: evidence.load(evidence.save(folder / f"{name}.evidence", sources[name]()))
        for name in ("joint-digits", "times-digits")
    }


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


def test_times_are_told_with_their_ratio(gathered):
    one = gathered["times-digits"]
    table = loss_attack.times([one]).set_index("quantity")["value"]
    spent = one["seconds"].values
    assert table[loss_attack.RATIO] == pytest.approx((spent[0] / spent[1]).mean())
    area = one["auc"].values
    assert table[loss_attack.MORE] == pytest.approx((area[0] - area[2]).mean())
    assert one["attack"].values[2] == "loss (LiRA), 320 shadow models"
