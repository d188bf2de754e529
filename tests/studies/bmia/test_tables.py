import numpy as np
import pandas as pd
import pytest
import xarray as xr

from membership.errors import InputError
from membership.exhibits import declared, files
from membership.studies.bmia import scores, tables
from membership.studies.bmia.settings import Settings


def test_table_1_has_three_numbers_an_attack(source):
    table = source.table("bmia-tab-1")
    assert not table.duplicated(tables.ON).any()
    assert (table.groupby(["attack", "n_reference"]).size() == 3).all()
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
    assert table["value"].between(0, 100).all()
    assert table.attrs["setup"]["digits"]["reference_models"] == 8


def test_simulated_data_are_never_called_agreement():
    keys = {"dataset": "Purchase-like (simulated)", "attack": "BMIA", "n_reference": 1}
    row = {**keys, "metric": "TPR(%)@FPR=1%", "value": 4.61, "low": 4.0, "high": 5.0}
    table = pd.DataFrame([row])
    table.attrs = {"setup": {"Purchase-like (simulated)": {"data": "Purchase-like (simulated)"}}}
    judged = tables.judged(table)
    assert judged["published"].to_list() == [4.61]
    assert judged["verdict"].to_list() == ["not comparable"]


def test_control_1_is_a_paired_gain(source):
    gains = source.table("bmia-ctl-1").set_index(["attack", "metric"])["value"]
    table = source.table("bmia-tab-1").set_index(["attack", "metric"])["value"]
    expected = table["BMIA", "auc(%)"] - table["difference", "auc(%)"]
    assert gains["BMIA", "AUC(%) gained"] == pytest.approx(expected)


@pytest.mark.slow
def test_table_2_of_shifted_digits(source, seen):
    table = source.table("bmia-tab-2")
    rates = {scores.rate_name(rate) for rate in (0.001, 0.005, 0.01, 0.05)} | {"auc(%)"}
    assert set(table["metric"]) == rates | {f"{name}, less BMIA's" for name in rates}
    value = table.set_index(["attack", "metric"])["value"]
    for name in rates:
        less = value["Attack-P", name] - value["BMIA", name]
        assert value["Attack-P", f"{name}, less BMIA's"] == pytest.approx(less)
    judged = tables.table_2_comparison(table)
    assert judged["published"].notna().sum() == 24
    assert set(judged["verdict"]) == {"", "not comparable"}


def test_the_strangers_are_the_only_non_members_of_table_2(source, seen):
    outputs = source.evidence("outputs-strangers")
    asked, stranger = outputs["asked"].values, outputs["stranger"].values
    for target in outputs.attrs["targets"]:
        member = outputs["member"].values[target]
        assert member.sum() == seen.member[target].sum()
        np.testing.assert_array_equal(asked[target], member | stranger)


def test_curves_are_read_off_against_the_attacker():
    score, member = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False])
    curve = scores.roc({"series": "a"}, [(score, member)] * 2).set_index("fpr")["tpr"]
    assert curve.iloc[0] == 0.5
    assert curve[1.0] == 1.0


@pytest.mark.slow
def test_figure_4_pairs_every_architecture(source, settings):
    table = source.table("bmia-fig-4")
    assert len(table) == 4
    assert "of 4 pairs" in table.attrs["note"]
    with pytest.raises(InputError, match="architecture 'resnet': give logistic"):
        Settings.from_values({**settings.parameters(), "architectures": ["logistic", "resnet"]})


def test_times_are_marked_as_such(source):
    table = source.table("bmia-ctl-10")
    assert table.attrs["timing"] is True
    assert (table["value"] > 0).all()
    assert set(table["n_repeats"]) == {3}
    minutes = table[table["metric"] == "time_min"].set_index(["attack", "n_reference"])["value"]
    assert minutes["LiRA", 8] == pytest.approx(8 * minutes["BMIA", 1])
    assert set(tables.judged(table)["verdict"]) == {""}


def test_ratios_of_times_are_taken_within_one_timing():
    training, took = np.array([10.0, 20.0, 40.0]), np.array([[1.0, 2.0], [1.0, 4.0], [2.0, 8.0]])
    inference = xr.DataArray(took, dims=("timing", "draws"), coords={"draws": [10, 200]})
    rows = pd.DataFrame(tables._of_structure("digits", "kron", inference, training))
    value = rows.set_index(["attack", "metric"])["value"]
    assert value["BMIA, KFAC, 200 samples", "inference(s)"] == pytest.approx(14 / 3)
    assert value["BMIA", tables.SHARE] == pytest.approx(0.2)
    assert value["BMIA", tables.LIRA] == pytest.approx(1.2 / 8)
    assert value["BMIA", tables.DRAWS] == pytest.approx((2 + 4 + 4) / 3)


@pytest.mark.slow
def test_every_picture_and_sentence_can_be_made(source):
    for exhibit in declared("bmia"):
        if exhibit.id == "bmia-fig-1":
            continue
        table = files.read_back(source.table(exhibit.id))
        assert exhibit.says is None or exhibit.says(table).endswith(".")
        assert exhibit.draw is None or exhibit.described(table).endswith(".")


def test_scores_cover_the_papers_rows_and_ours(seen):
    found = scores.all_scores(seen)
    assert list(found)[:5] == [
        ("Attack-P", 0),
        ("QMIA", 0),
        ("Attack-R", 2),
        ("Attack-R", 4),
        ("Attack-R", 8),
    ]
    assert {name for name, _ in found} >= {"LiRA", "RMIA", "BMIA", "difference"}
    for pairs in found.values():
        for score, member in pairs:
            assert score.shape == member.shape == (seen.hinge.shape[1],)
            assert np.isfinite(score).all()


def test_lira_of_the_registry_is_the_papers(seen):
    """Offline, one-sided, a variance a record."""
    order = np.argsort(seen.outputs["record"].values)
    ours = scores.with_references(seen, scores.LIRA, 4)
    for (score, _), (expected, _) in zip(seen.attack("lira-offline", 4), ours, strict=True):
        np.testing.assert_allclose(score, expected[order], rtol=1e-9)


def test_lira_with_one_variance_ranks_as_the_difference_of_its_own_score(seen):
    odds = seen.outputs["log_odds"].values.astype(float)
    expected = odds[0] - odds[seen.references(0, 4)].mean(axis=0)
    score = scores.with_references(seen, scores.GLOBAL, 4)[0][0]
    np.testing.assert_array_equal(np.argsort(score), np.argsort(expected))


def test_a_data_sets_printed_rows_stand_under_each_of_its_names():
    printed = tables.printed_1()
    names = {"CIFAR-10", "CIFAR-10 (patch features)"}
    each = [printed[printed["dataset"] == name].drop(columns="dataset") for name in names]
    assert len(each[0]) == 35  # Attack-P takes no time
    assert each[0].reset_index(drop=True).equals(each[1].reset_index(drop=True))


@pytest.mark.parametrize(
    ("name", "draw", "rows", "line"),
    [
        ("tab-1", tables.draw_table_1, tables.ATTACKS, "difference"),
        ("ctl-6", tables.draw_control_6, tables.VARIANCES, "BMIA"),
    ],
)
def test_attacks_stand_by_what_they_need_beside_one_on_its_line(name, draw, rows, line):
    table, _ = files.load(f"bmia-{name}", "paper")
    figure = draw(table)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == list(rows.values())
    whole, _ = files.load("bmia-tab-1", "paper")
    one = whole[(whole["attack"] == line) & (whole["metric"] == tables.FOUND)]["value"]
    assert [axis.lines[-1].get_xdata()[0] for axis in figure.axes] == one.tolist()
