from types import SimpleNamespace

import pandas as pd
import pytest

from membership import privacy
from membership.studies.gmip import law_of_k, moments, several_steps

SETTINGS = SimpleNamespace(seed=0, simulated_repeats=3)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module in (moments, law_of_k):
        monkeypatch.setattr(module, "SIZES", {"CIFAR-10": (130, 100), "Purchase": (65, 50)})
    monkeypatch.setattr(moments, "BACKGROUNDS", (250, 4000))


def test_only_the_corrected_p_values_are_calibrated():
    table = pd.DataFrame(moments.calibration(SETTINGS))
    rates = table[table["nominal"] == 5.0].set_index("convention")["value"]
    assert rates["paper"] == pytest.approx(5.0, abs=1.0)
    assert rates["authors"] > 10
    areas = table[table["metric"] == "auc(%)"]["value"].to_list()
    assert areas[0] == pytest.approx(areas[1], abs=0.3)


@pytest.mark.slow
def test_the_joint_test_finds_what_the_sum_misses():
    rows = pd.DataFrame(several_steps.simulated(SETTINGS))
    table = rows.set_index(["case", "attack"])["value"]
    for correlation in several_steps.CORRELATIONS:
        case = f"correlation {correlation:g}"
        assert table[case, "joint test"] == pytest.approx(table[case, "bound"], abs=2.5)
    one = 100 * privacy.gaussian_auc(privacy.mip_mu_step(20, 60, 20))
    assert table["correlation 0.99", "sum of log p"] == pytest.approx(one, abs=2.5)


@pytest.mark.slow
def test_shrinkage_helps_where_the_background_is_small():
    table = moments.background(SETTINGS)
    auc = table[table["metric"] == "auc(%)"].set_index(["n_background", "estimator"])["value"]
    assert auc[250, "sample"] + 3 < auc[250, "Ledoit-Wolf"] < auc[4000, "sample"]
    assert auc[4000, "sample"] < auc[0, "known"]


def test_records_with_large_k_are_found_first():
    rows = pd.DataFrame(law_of_k.susceptible_records(SETTINGS))
    low = rows.set_index(["quantity", "method"])["value"]["TPR (%) at FPR 0.001"]
    assert low["all records at K = d"] < low["one FPR for all (GLiR)"] < low["optimal composition"]
