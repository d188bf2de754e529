import math

import numpy as np
import pytest

from membership import published
from membership.errors import InputError

TABLES = [
    *(f"bayes_optimal_table{n}" for n in (1, 2, 3)),
    *("bmia_table1", "bmia_table2", "gmip_table5"),
    *(f"iha_table{n}" for n in ("2", "3", "4", "5a", "5b", "6", "7", "8", "9")),
    *("iha_appD1", "iha_sec4_1", "iha_sec4_4"),
]


@pytest.mark.parametrize("name", TABLES)
def test_every_number_has_a_margin_of_at_least_its_rounding_and_a_set_up(name):
    found = published.reference(name)
    judged = found[~found["seconds"]]
    assert (judged["margin"] >= 1.1 * 10.0 ** -judged["decimals"] - 1e-12).all()
    assert found["setup"].isin(list(published.setup(found["chapter"].iloc[0]))).all()
    assert len(found) == published.table(name).filter(["value", "tau"]).notna().sum().sum()


def test_the_margins_are_those_of_the_rule():
    rates = published.reference("iha_table2").set_index(["dataset", "attack", "metric"])
    assert (rates.xs("AUC", level="metric")["margin"] == 0.01).all()
    one = rates.loc[("MNIST-Odd", "LiRA", "TPR@1%FPR (%)")]
    assert one["margin"] == pytest.approx(2.77 / 4)
    least = rates.loc[("Purchase-100", "LOSS", "TPR@0.1%FPR (%)")]
    assert (least["value"], least["margin"]) == (0.0, 0.05)
    accuracy = published.reference("iha_sec4_1").set_index("metric")["margin"]
    assert accuracy["test accuracy (%)"].iloc[0] == pytest.approx(1.1)
    assert accuracy["test loss (MSE)"] == pytest.approx(0.05 * 0.078)


def test_digits_are_those_of_the_column_as_printed():
    table_5 = published.reference("gmip_table5")
    assert (table_5["value"] == 0).any()
    assert (table_5["decimals"] == 2).all()
    assert table_5["margin"].to_numpy() == pytest.approx(0.011)


def test_a_printed_spread_becomes_a_sample_standard_deviation():
    found = published.reference("iha_table2").set_index(["dataset", "attack", "metric"])
    row = found.loc[("FashionMNIST", "IHA (Exact)", "AUC")]
    assert row["spread"] == pytest.approx(0.018 * math.sqrt(10 / 9))
    assert row["n_models"] == 10
    assert math.isnan(found.loc[("FashionMNIST", "IHA (Exact)", "TPR@1%FPR (%)"), "spread"])


def test_a_bare_number_takes_its_spread_from_the_table_that_prints_it():
    found = published.reference("iha_table8").set_index(["dataset", "attack"])["spread"]
    assert found["FashionMNIST", "IHA (damping eps=2e-1)"] == pytest.approx(0.018974, abs=1e-6)
    assert np.isnan(found["FashionMNIST", "IHA (damping eps=1e-1)"])


def test_the_papers_repeats_stand_where_no_spread_is_printed():
    assert (published.reference("bayes_optimal_table1")["n_models"] == 100).all()
    assert (published.reference("bayes_optimal_table2")["n_models"] == 1).all()
    assert published.reference("bmia_table1")["spread"].isna().all()


def test_seconds_have_no_margin():
    found = published.reference("iha_table6")
    assert found[found["seconds"]]["margin"].isna().all()
    assert set(found[found["seconds"]]["metric"]) == {"precompute time (s)", "time per sample (s)"}


def test_a_table_without_results_is_refused():
    with pytest.raises(InputError, match="no results"):
        published.reference("gmip_table3")
    with pytest.raises(InputError, match="no published table"):
        published.reference("iha_table99")
