"""What estimated moments do: p-values, rank, and the parts of the gap."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from membership.book.studies.gmip import moments
from membership.book.studies.gmip.audit import ranks
from membership.book.studies.gmip.settings import Recipe

SETTINGS = SimpleNamespace(seed=0, simulated_repeats=3)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(moments, "SIZES", {"CIFAR-10": (130, 100)})
    monkeypatch.setattr(moments, "BACKGROUNDS", (250, 4000))


def test_only_the_corrected_p_values_are_calibrated():
    table = pd.DataFrame(moments.calibration(SETTINGS))
    rates = table[table["nominal"] == 5.0].set_index("convention")["value"]
    assert rates["paper"] == pytest.approx(5.0, abs=1.0)
    assert rates["authors"] > 10
    areas = table[table["metric"] == "auc(%)"]["value"].to_list()
    assert areas[0] == pytest.approx(areas[1], abs=0.3)


@pytest.mark.slow
def test_shrinkage_helps_where_the_background_is_small():
    table = moments.background(SETTINGS)
    auc = table[table["metric"] == "auc(%)"].set_index(["n_background", "estimator"])["value"]
    assert auc[250, "sample"] + 3 < auc[250, "Ledoit-Wolf"] < auc[4000, "sample"]
    assert auc[4000, "sample"] < auc[0, "known"]


def test_the_rank_is_that_of_one_class_less(audits):
    recipe = Recipe(**audits[0].attrs["recipe"])
    assert set(ranks(audits[0]).ravel()) == {recipe.rank} == {audits[0].attrs["rank"]}
    table = moments.control_2(audits).set_index("quantity")["value"]
    assert table["mu with the rank"] < table["mu with d"]
    assert table["AUC of GLiR, one step (%)"] > 60
    assert table["mu by the eigenvalues"] < table["mu by the paper's bound"]


def test_the_parts_of_the_gap_add_up(audits, settings):
    table = moments.decomposition(audits, settings)
    found = moments.control_2(audits).set_index("quantity")["value"]
    for steps, quantity in (("one step", "one step"), ("5 steps", "all steps")):
        value = table[table["steps"] == steps]["value"].to_numpy()
        assert value[:-1].sum() == pytest.approx(value[-1])
        assert value[-1] == pytest.approx(found[f"AUC of GLiR, {quantity} (%)"])
    part = table.set_index(["steps", "part"])["value"]
    assert part["one step", moments.RANK] < 0 > part["one step", moments.SPREAD]
    assert part["one step", moments.BACKGROUND] < 0


def test_the_simulated_covariance_is_a_sample_covariance():
    rng = np.random.default_rng(1)
    roots = [moments._sample_root(rng, 3, 8) for _ in range(4000)]
    drawn = np.array([root @ root.T for root in roots])
    records = rng.standard_normal((4000, 8, 3))
    known = np.array([np.cov(one, rowvar=False) for one in records])
    np.testing.assert_allclose(drawn.mean(axis=0), np.eye(3), atol=0.04)
    np.testing.assert_allclose(drawn.var(axis=0), known.var(axis=0), atol=0.06)
