"""What follows from the formulas, against the printed numbers and simulation."""

from types import SimpleNamespace

import numpy as np
import pytest

from membership.book.studies.gmip import theory

SETTINGS = SimpleNamespace(seed=0, monte_carlo=400_000)


def test_figure_1_curves_converge():
    table = theory.figure_1()
    gaps = []
    for _, part in table.groupby("panel", sort=False):
        theorem, limit = (
            part[part["series"] == s]["fnr"].to_numpy() for s in ("Theorem 5.1", "Gaussian limit")
        )
        gaps.append(np.abs(theorem - limit).max())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3


def test_table_5_agrees_in_all_120_places():
    table = theory.table_5()
    compared = theory.table_5_judged(table)
    assert len(compared) == 120
    assert (compared["verdict"] == "agrees").all()
    assert (compared["published"] - compared["value"]).abs().max() < 0.005
    off = table.assign(value=table["value"] + 0.05)
    assert set(theory.table_5_judged(off)["verdict"]) == {"differs"}


def test_every_noise_level_above_zero_is_the_dp_one():
    table = theory.table_5_origin().set_index(["quantity", "dataset"])["value"]
    assert table["levels that need noise"].sum() == 14
    assert table["levels that need noise, but less than DP"].sum() == 0
    assert table["noise by Corollary 5.1 over that of DP, least"].min() > 2
    free, printed = table["mu without noise"], table["mu without noise, the authors' notebook"]
    assert free.to_numpy() == pytest.approx(printed.to_numpy(), abs=1e-9)
    assert (table["mu without noise, with the rank for d"] < free).all()
    assert table["rank"].to_dict() == {"CIFAR-10": 585, "Purchase": 2451, "Adult": 513}


def test_the_theorem_holds_within_2e_3_of_400_000_draws():
    table = theory.control_1(SETTINGS)
    assert len(table) == 2 * 5
    assert 0 < table["value"].max() < 2e-3


@pytest.mark.slow
def test_equation_10_is_loose_and_so_is_the_bound_on_the_covariance():
    table = theory.looseness().set_index(["data", "quantity", "method"])
    table = table["value"].sort_index()
    for dataset in ("CIFAR-10", "Purchase", "Adult"):
        rate = table[dataset, "TPR at 1% FPR (%)"]
        assert rate["numerical"] < 0.75 * rate["Equation 10"]
        tau = table[dataset, "tau for mu = 0.4"]
        assert tau["eigenvalues all C^2 / d"] < tau["DP"] < tau["eigenvalues at most C^2"]
    few = table["d = 400, n = 100, N = 10,000, 10 steps", "TPR at 0.1% FPR (%)"]
    assert few["numerical"] > 1.5 * few["Equation 10"] > 1.5 * few["one-sided"]
