from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from membership import metrics, privacy
from membership.studies.gmip import curves, simulated
from membership.studies.gmip.settings import PROFILES

SETTINGS = SimpleNamespace(seed=0, simulated_repeats=3, simulated_records=2000)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(simulated, "SIZES", {"CIFAR-10": (130, 100), "Purchase": (65, 50)})
    monkeypatch.setattr(simulated, "BACKGROUNDS", (250, 4000))
    monkeypatch.setattr(simulated, "QUANTILES_OF_K", 20)


def test_curves_are_read_off_against_the_attacker():
    score, member = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])
    table = curves.measured({"a": 1}, [score, score], member)
    at = table.set_index(table["fpr"].round(6))["tpr"]
    assert at[0.48] == 0.5
    assert at[0.5] == 1.0
    assert (table["low"] == table["high"]).all()


def test_figure_2a_meets_the_bound():
    table = simulated.figure_2a(SETTINGS)
    for _, part in table.groupby("panel"):
        measured = part[part["series"] == "GLiR"]["tpr"].to_numpy()
        bound = part[part["series"] != "GLiR"]["tpr"].to_numpy()
        # Some 2,000 members a repeat, 3 repeats; batches share their noise.
        assert np.abs(measured - bound).max() < 0.06


def test_figure_4_has_every_setting():
    table = simulated.figure_4(SETTINGS)
    assert set(table["panel"]) == set(simulated.ABLATIONS)
    for name, part in table.groupby("panel"):
        curve = part.pivot(index="fpr", columns="series", values="tpr")
        gap = (curve["GLiR"] - curve["Theorem 5.1, K as drawn"]).abs().max()
        assert gap < 0.08, name


def test_only_the_corrected_p_values_are_calibrated():
    table = simulated.calibration(SETTINGS)
    rates = table[table["nominal"] == 5.0].set_index("convention")["value"]
    assert rates["paper"] == pytest.approx(5.0, abs=1.0)
    assert rates["authors"] > 10
    areas = table[table["metric"] == "auc(%)"]["value"].to_list()
    assert areas[0] == pytest.approx(areas[1], abs=0.3)


def test_the_joint_test_finds_what_the_sum_misses():
    table = simulated.five_steps(SETTINGS).set_index(["correlation", "attack"])["value"]
    for correlation in simulated.CORRELATIONS:
        assert table[correlation, "joint test"] == pytest.approx(
            table[correlation, "bound"], abs=2.5
        )
    one = 100 * privacy.gaussian_auc(privacy.mip_mu_step(20, 60, 20))
    assert table[0.99, "sum of log p"] == pytest.approx(one, abs=2.5)


def test_shrinkage_helps_where_the_background_is_small():
    table = simulated.background(SETTINGS)
    auc = table[table["metric"] == "auc(%)"].set_index(["n_background", "estimator"])["value"]
    assert auc[250, "sample"] + 3 < auc[250, "Ledoit-Wolf"] < auc[4000, "sample"]
    assert auc[4000, "sample"] < auc[0, "known"]


def test_records_with_large_k_are_found_first():
    table = simulated.susceptible_records(SETTINGS).set_index(["fpr", "attack"])["value"]
    low = table[0.001]
    assert low["all records at K = d"] < low["one FPR for all (GLiR)"] < low["optimal composition"]


def test_an_empirical_rate_leans_upwards_by_less_than_a_tenth():
    """0.1% of a repeat's non-members are ten; the true rate above the eleventh is a beta's."""
    n, rate, mu = PROFILES["paper"]["simulated_records"], 0.001, 1.14
    accused = round(n * rate)
    # The middle of each percent of the law of the true rate.
    true = stats.beta.ppf((np.arange(100) + 0.5) / 100, accused + 1, n - accused)
    bias = privacy.gaussian_tpr(true, mu).mean() / privacy.gaussian_tpr(rate, mu) - 1
    assert 0 < bias < 0.1
    rng = np.random.default_rng(0)
    member = np.arange(2 * n) < n
    found = [
        metrics.tpr_at_fpr(rng.standard_normal(2 * n) + mu * member, member, rate)
        for _ in range(100)
    ]
    excess = np.array(found) / privacy.gaussian_tpr(rate, mu) - 1
    assert abs(excess.mean() - bias) < 4 * excess.std() / 10
