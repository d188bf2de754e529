import numpy as np
import pandas as pd
import pytest

from membership import published
from membership.errors import InputError
from membership.studies.bmia import mismatch, misprints, predictive, summaries, tables, times
from membership.studies.bmia.settings import Settings


@pytest.fixture(scope="module")
def found(small):
    return tables.attack([small])


def test_table_1_has_three_numbers_an_attack(found):
    table = tables.table_1(found)
    assert not table.duplicated(tables.ON).any()
    assert (table.groupby(["attack", "n_reference"]).size() == 3).all()
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
    assert table["value"].between(0, 100).all()


def test_simulated_data_are_never_called_agreement():
    keys = {"dataset": "Purchase-like (simulated)", "attack": "BMIA", "n_reference": 1}
    row = {**keys, "metric": "TPR(%)@FPR=1%", "value": 4.61, "low": 4.0, "high": 5.0}
    table = pd.DataFrame([row])
    table.attrs = {"comparable": False, "deviations": ["simulated data for Purchase-100"]}
    judged = tables.table_1_comparison(table)
    assert judged["published"].to_list() == [4.61]
    assert judged["verdict"].to_list() == ["not comparable"]


def test_control_1_is_a_paired_gain(found):
    gains = tables.control_1(found).set_index(["attack", "metric"])["value"]
    table = tables.table_1(found).set_index(["attack", "metric"])["value"]
    expected = table["BMIA", "auc(%)"] - table["difference", "auc(%)"]
    assert gains["BMIA", "AUC(%) gained"] == pytest.approx(expected)


def test_table_2_of_shifted_digits(small, settings):
    table = tables.table_2(tables.ood_evidence([small.world], settings), settings)
    assert set(table["metric"]) == {summaries.rate_name(r) for r in (0.001, 0.005, 0.01, 0.05)} | {
        "auc(%)"
    }
    judged = tables.table_2_comparison(table)
    assert judged["published"].notna().sum() == 24
    assert set(judged["verdict"]) == {"", "not comparable"}


def test_larger_images_are_averaged_down():
    x = np.arange(28.0 * 28).reshape(1, 1, 28, 28)
    small = tables._averaged(x, (1, 8, 8))
    assert small.shape == (1, 1, 8, 8)
    assert small[0, 0, 0, 0] == x[0, 0, 2:5, 2:5].mean()
    with pytest.raises(InputError, match="averaged down"):
        tables._averaged(x, (1, 32, 32))


def test_curves_are_read_off_against_the_attacker():
    score, member = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])
    curve = summaries.roc({"series": "a"}, [(score, member)] * 2).set_index("fpr")["tpr"]
    assert curve.iloc[0] == 0.5
    assert curve[1.0] == 1.0


def test_figures_3_5_6_7_have_their_series(small, settings):
    three = predictive.figure_3([small], settings)
    assert sorted(three["n_samples"].unique()) == [10, 30, settings.n_samples]
    closed = three[three["series"] == "KFAC, closed form"].groupby("metric")["value"].nunique()
    assert (closed == 1).all()
    five, seven = predictive.figure_5([small]), predictive.figure_7([small])
    assert set(five["series"]) == {"full", "KFAC", "diagonal", "difference"}
    assert len(seven["series"].unique()) == 4
    six = predictive.figure_6([small])
    assert "weight decay: 0.0359" in six.attrs["note"]


def test_figure_4_pairs_every_architecture(small, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMBERSHIP_CACHE", str(tmp_path))
    values = {**small.world.settings.parameters(), "architectures": ["logistic", "mlp-8"]}
    settings = Settings.from_values(values)
    table = mismatch.figure_4(small.world, settings)
    assert len(table) == 4
    assert "of 4 pairs" in table.attrs["note"]
    bad = Settings.from_values({**values, "architectures": ["logistic", "resnet"]})
    with pytest.raises(InputError, match="architecture = 'resnet'"):
        mismatch.figure_4(small.world, bad)


def test_times_are_marked_as_such(small, settings):
    table = times.control_10([small], settings)
    assert table.attrs["timing"] is True
    assert (table["value"] > 0).all()
    minutes = table[table["metric"] == "time_min"].set_index(["attack", "n_reference"])["value"]
    assert minutes["LiRA", 8] == pytest.approx(8 * minutes["BMIA", 1])
    assert set(times.control_10_comparison(table)["verdict"]) == {""}


def test_the_published_tables_contradictions():
    table = misprints.control_8(None)
    where = dict(table.groupby("finding").size())
    assert where["copied cells"] == 2
    assert where["doubled time"] == 2
    headline = table[table["finding"] == "headline"].set_index("where")["computed"]
    assert headline.filter(like="CIFAR-100").to_list() == ["+54.1%", "+30.7%"]
    # 64% is the lead over four references, not over the eight of "1/8 computation cost".
    assert headline.filter(like="on CIFAR-10").to_list()[:2] == ["+6.6%", "+63.7%"]
    assert 37.5 not in set(published.table("bmia_table1")["value"])
