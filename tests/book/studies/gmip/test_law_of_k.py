"""Levels of single records, and the attack that heeds them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from membership import privacy
from membership.attacks.glir import glir_log_ratio
from membership.book.studies.gmip import law_of_k
from membership.book.studies.gmip.audit import members, ranks


def test_real_gradients_are_no_chi_squared(audits):
    table = pd.DataFrame(law_of_k.quantiles(audits))
    upper = table[table["quantity"] == law_of_k.k_at(0.99)].set_index("method")["value"]
    assert upper["measured"] > 1.5 * upper["chi-squared law"]
    assert (table["low"] >= 0).all()


def test_k_is_scaled_to_its_mean(audits):
    shares = law_of_k.k_over_rank(audits[0])
    np.testing.assert_allclose(shares.mean(axis=1), 1.0)
    raw = audits[0]["susceptibility"].values[:, 0, ~members(audits[0])]
    np.testing.assert_allclose(shares[1] * raw[1].mean(), raw[1], rtol=1e-5)


def test_levels_grow_with_k_and_are_those_of_the_accountant(audits):
    table = law_of_k.levels(audits).set_index(["record", "quantity"])["value"]
    level = {record: table[record, law_of_k.ONE_STEP] for record in law_of_k.RECORDS}
    assert level["1% quantile"] < level["median"] < level["99% quantile"] < level["largest K"]
    n, rank = audits[0].attrs["batch_size"], int(ranks(audits[0])[0, 0])
    shares = np.quantile(law_of_k.k_over_rank(audits[0]), 0.5, axis=1)
    expected = np.mean([privacy.mip_mu_step(rank, n, k * rank) for k in shares])
    assert level["median"] == pytest.approx(expected)
    # Digits are none of the paper's data sets: no training of Table 4 to speak of.
    assert not any("training" in quantity for _, quantity in table.index)


def test_differences_of_attacks_are_paired(audits):
    table = law_of_k.likelihood_ratio(audits)
    area = table[table["quantity"] == "AUC (%)"].set_index(["asked", "attack"])
    for asked in ("all records", law_of_k.TOP):
        ours, theirs, less = (
            area.loc[(asked, attack)]
            for attack in ("likelihood ratio", "GLiR", "likelihood ratio less GLiR")
        )
        assert less["value"] == pytest.approx(ours["value"] - theirs["value"])
        assert less["standard_error"] < np.hypot(ours["standard_error"], theirs["standard_error"])


def test_where_the_largest_k_are_all_on_one_side_they_are_left_out(audits):
    one_sided = audits[0].copy(deep=True)
    one_sided["susceptibility"] += 1e6 * members(one_sided)
    table = law_of_k.likelihood_ratio([one_sided])
    assert set(table["asked"]) == {"all records"}


def test_records_with_large_k_are_found_first(monkeypatch):
    monkeypatch.setattr(law_of_k, "SIZES", {"CIFAR-10": (130, 100)})
    rows = pd.DataFrame(law_of_k.susceptible_records(SimpleNamespace(seed=0)))
    low = rows.set_index(["quantity", "method"])["value"]["TPR (%) at FPR 0.001"]
    assert low["all records at K = d"] < low["one FPR for all (GLiR)"] < low["optimal composition"]


def test_the_log_ratio_is_that_of_the_two_normal_laws():
    rng = np.random.default_rng(0)
    d, n = 7, 30
    x, m = rng.standard_normal((5, d)), rng.standard_normal(d) / np.sqrt(n)
    distance, k = np.square(x - m).sum(axis=1), np.square(x).sum(axis=1)
    inside = multivariate_normal(np.zeros(d), (n - 1) / n**2 * np.eye(d))
    outside = multivariate_normal(np.zeros(d), np.eye(d) / n)
    expected = [inside.logpdf(m - one / n) - outside.logpdf(m) for one in x]
    np.testing.assert_allclose(glir_log_ratio(distance, k, n, d), expected, rtol=1e-9)
