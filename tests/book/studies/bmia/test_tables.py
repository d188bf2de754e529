import numpy as np
import pandas as pd
import pytest
import xarray as xr

from membership.book.studies.bmia import scores, tables


def test_simulated_data_are_never_called_agreement():
    keys = {"dataset": "Purchase-like (simulated)", "attack": "BMIA", "n_reference": 1}
    row = {**keys, "metric": "TPR(%)@FPR=1%", "value": 4.61, "low": 4.0, "high": 5.0}
    table = pd.DataFrame([row])
    table.attrs = {"setup": {"Purchase-like (simulated)": {"data": "Purchase-like (simulated)"}}}
    judged = tables.judged(table)
    assert judged["published"].to_list() == [4.61]
    assert judged["verdict"].to_list() == ["not comparable"]


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


def test_ratios_of_times_are_taken_within_one_timing():
    training, took = np.array([10.0, 20.0, 40.0]), np.array([[1.0, 2.0], [1.0, 4.0], [2.0, 8.0]])
    inference = xr.DataArray(took, dims=("timing", "draws"), coords={"draws": [10, 200]})
    rows = pd.DataFrame(tables._of_structure("digits", "kron", inference, training))
    value = rows.set_index(["attack", "metric"])["value"]
    assert value["BMIA, KFAC, 200 samples", "inference(s)"] == pytest.approx(14 / 3)
    assert value["BMIA", tables.SHARE] == pytest.approx(0.2)
    assert value["BMIA", tables.LIRA] == pytest.approx(1.2 / 8)
    assert value["BMIA", tables.DRAWS] == pytest.approx((2 + 4 + 4) / 3)


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
