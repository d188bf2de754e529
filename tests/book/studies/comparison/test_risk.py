"""Who is at risk, and the panel of another game."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from membership.book.studies.comparison import risk
from tests.book.studies.comparison.conftest import scored


def test_risk_is_each_records_auc_and_reliable_where_records_differ():
    table = scored(np.linspace(0, 3, 100), (164, 100), seed=6)
    score, member = table.score["loss"], table.member
    found = risk.risks(score, member)
    assert stats.spearmanr(found, np.arange(100)).statistic > 0.9
    assert risk.reliability(score, member, 4) > 0.8
    same = scored(1.0, (164, 400), seed=7)
    assert risk.reliability(same.score["loss"], same.member, 4) < 0.3
    assert np.isnan(risk.risks(score[:1], member[:1])).all()


@pytest.mark.slow
def test_the_third_panel_has_no_attack_of_the_others(source):
    table = source.table("comparison-ctl-5")
    others = [source.table(f"comparison-tab-{one}")["attack"] for one in (1, 2)]
    assert not set(table["what"]) & set(pd.concat(others))
    own = source.table("comparison-fig-4").query("predictor == 'LOOD, KL at the record'")
    assert set(table["dataset"]) > set(own["dataset"])
    assert (table.loc[table["metric"] == "AUC", "value"] < 1).all()
