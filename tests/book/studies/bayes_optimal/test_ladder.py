"""Features of rising quality, penalties, and what vanishes with n, where the answer is known."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from joblib import Parallel
from scipy.special import expit

from membership import data
from membership.book.studies.bayes_optimal import (
    ladder,
    ladder_tables,
    names,
    regressions,
    splits,
)
from membership.book.studies.bayes_optimal.names import ACCURACY, AUC, LIKE_PRINT, TRAIN, VALIDATION
from membership.book.studies.bayes_optimal.regressions import (
    Features,
    Learnt,
    Records,
    with_unit_variance,
)
from membership.book.studies.bayes_optimal.settings import Settings

SIZES = (100, 400, 1600)


def rung(n=260, d=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    y = (rng.random(n) < expit(x @ rng.normal(size=d))).astype(int)
    return Records(x, y)


def test_an_edge_has_one_orientation():
    images = np.zeros((3, 3, 16, 16), dtype=np.float32)
    images[0, :, :, 8:] = 1  # upright
    images[1, :, 8:] = 1  # level
    found = ladder.gradient_histogram(images).reshape(3, 8, 8, ladder.ORIENTATIONS)
    upright, level, flat = found.sum(axis=(1, 2))
    assert np.flatnonzero(upright).tolist() == [0]
    assert np.flatnonzero(level).tolist() == [4]
    assert not flat.any()
    assert np.flatnonzero(found[0].sum(axis=(0, 2))).tolist() == [3, 4]


def test_pixels_are_averaged_square_by_square():
    images = np.arange(2 * 3 * 4 * 4, dtype=float).reshape(2, 3, 4, 4)
    found = ladder._averaged(images, 2)
    assert found.shape == (2, 3, 2, 2)
    assert found[1, 2, 0, 1] == pytest.approx(images[1, 2, :2, 2:].mean())


def test_the_penalty_is_that_of_the_least_loss(monkeypatch):
    asked = []

    def loss(rung, n, repeat, seed, penalty):
        asked.append(penalty)
        return (np.log10(penalty) + 2) ** 2

    monkeypatch.setattr(regressions, "loss_outside", loss)
    found = ladder._penalty(rung(), 100, 0, Parallel(n_jobs=1))
    assert found == pytest.approx(1e-2)
    assert max(asked) == pytest.approx(1e-1)


def test_a_split_has_the_numbers_of_table_1():
    found = ladder._at_features(rung(), 100, 3, 0.5, 0.5, seed=7)
    split = regressions._one_split(rung(), 100, 3, 0.5, 7)
    observed = (split[name] for name in ("log_odds", "reference_log_odds", "leverage"))
    scores, ratio = splits.attack_scores(*observed)
    member, correct = split["member"], split["log_odds"] > 0
    assert found["train"] == pytest.approx(100 * correct[member].mean())
    assert found["validation"] == pytest.approx(100 * correct[~member].mean())
    # Accuracy at a fixed threshold is a mean of two rates.
    assert found["zero_one"] == pytest.approx(50 + (found["train"] - found["validation"]) / 2)
    assert found["fixed_ratio"] == pytest.approx(ratio)
    half = np.zeros(len(member), dtype=bool)
    for attack in ("MALT", "MATT"):
        for metric, end in ((ACCURACY, ""), (AUC, "_auc")):
            expected = splits.MEASURES[metric](scores[attack], member, half)
            assert found[attack.lower() + end] == pytest.approx(expected)
    assert found["malt_reference"] <= found["malt"] + 1e-9
    # The one penalty is this size's own here.
    for name in ("malt", "matt", "malt_auc", "matt_auc"):
        assert found[f"fixed_{name}"] == pytest.approx(found[name])
    alone = ladder._at_penalty(rung(), 100, 3, 0.5, seed=7)
    assert alone == {name: pytest.approx(found[name]) for name in alone}
    assert len(alone) == 7


def measured(lead=lambda n: 40 * n**-0.5, ratio=lambda n: 30 * n**-0.5):
    rng = np.random.default_rng(1)
    shape = (1, len(SIZES), 8)
    noise = rng.standard_normal(shape) * 0.01
    size = np.array(SIZES, dtype=float)[None, :, None]
    values = {name: 60 + noise for name in ladder_tables.NUMBERS.values()}
    values |= {"train": 99 + noise, "validation": 95 - noise, "malt_auc": 55 + 0 * noise}
    values |= {"matt_auc": 55 + lead(size) + noise, "fixed_ratio": ratio(size) + 0 * noise}
    values |= {"fixed_malt": 55 + 0 * noise, "fixed_matt": 55 - 10 / size + 0 * noise}
    values |= {"fixed_malt_auc": 55 + 0 * noise, "fixed_matt_auc": 55 + 10 / size + 0 * noise}
    dims = ("rung", "size", "split")
    told = {k: (dims, v) for k, v in values.items()} | {
        "inverse_penalty": (dims[:2], np.ones(shape[:2]))
    }
    attrs = {
        "data": {},
        "deviations": [],
        "device": "cpu",
        "set": "made up",
        "recipe": {"rungs": {"raw": "as they are"}},
    }
    return xr.Dataset(told, {"rung": ["raw"], "size": list(SIZES)}, attrs)


def trials(splits=6):
    rng = np.random.default_rng(2)
    rows = [
        {"n": n, "repeat": r, "attack": attack, "metric": metric, "value": value}
        for n in SIZES
        for r in range(splits)
        for attack, metric, value in [
            *((a, m, 60 + rng.random()) for a, m in ladder_tables.NUMBERS if m != AUC),
            ("MALT", "auc(%)", 55.0),
            ("MATT", "auc(%)", 55 + 400 / n + 0.01 * rng.standard_normal()),
        ]
    ]
    table = pd.DataFrame(rows)
    table.attrs = {"data": {}}
    return table


def test_slopes_are_those_of_the_powers():
    table = ladder_tables.powers(measured(), trials()).set_index(["features", "quantity"])
    ratio = table.loc[("raw", f"{names.RATIO}, {names.SLOPE}")]
    assert ratio["value"] == pytest.approx(-0.5)
    lead = f"{names.LEADS['auc(%)']}, {names.SLOPE}"
    assert table.loc[("raw", lead), "value"] == pytest.approx(-0.5, abs=0.01)
    assert table.loc[(ladder_tables.OWN, lead), "value"] == pytest.approx(-1, abs=0.01)
    # The printed numbers are of the paper's data.
    assert ladder_tables.PRINTED not in table.index.get_level_values("features")
    made = measured()
    made.attrs["set"] = "CIFAR-10 trucks and ships"
    assert ladder_tables.PRINTED in set(ladder_tables.powers(made, trials())["features"])


def test_slopes_at_one_penalty_are_those_of_the_models_that_have_it():
    table = ladder_tables.powers(measured(), trials())
    one = f"{names.LEADS['auc(%)']}, {names.ONE_PENALTY}"
    leads = table[table["quantity"] == one].set_index(["features", "n"])["value"]
    assert leads["raw"].to_numpy() == pytest.approx(10 / np.array(SIZES))
    table = table.set_index(["features", "quantity"])
    assert table.loc[("raw", f"{one}, {names.SLOPE}"), "value"] == pytest.approx(-1)
    accuracy = f"{names.LEADS['attack_accuracy(%)']}, {names.ONE_PENALTY}, {names.SLOPE}"
    assert ("raw", accuracy) not in table.index  # the lead is below 0


def test_table_1s_network_has_its_own_splits_but_at_one_penalty_those_of_the_ladder():
    own = measured().assign_coords(rung=[names.TABLE_1])
    table = ladder_tables.against_gap(own, trials(splits=6))
    assert set(table["features"]) == {names.TABLE_1}
    assert set(table["n_repeats"]) == {6}
    table = ladder_tables.powers(own, trials()).set_index(["features", "quantity"])
    ratio = table.loc[(names.TABLE_1, f"{names.RATIO}, {names.SLOPE}")]
    assert (ratio["value"], ratio["n_repeats"]) == (pytest.approx(-0.5), 8)
    lead = f"{names.LEADS['auc(%)']}, {names.ONE_PENALTY}, {names.SLOPE}"
    assert table.loc[(names.TABLE_1, lead), "value"] == pytest.approx(-1)


def test_the_rungs_rise_to_table_1s_network(monkeypatch):
    rng = np.random.default_rng(4)
    x, y = rng.random((12, 3, 32, 32)), np.arange(12) % 2
    asked = []

    def trained(name, epochs, x, settings):
        asked.append((name, epochs))
        return Learnt(rng.normal(size=(len(x), 5)), "told", {"other": "data"}, "cpu")

    both = data.Dataset(x.astype(np.float32), y, "cifar10-9-8", 2, "made up", "digest")
    monkeypatch.setattr(Settings, "pair", lambda _: (both, both))
    monkeypatch.setattr(ladder, "trained", trained)
    strong = Features(rng.normal(size=(12, 7)), y, {}, (), {"data": "made up"})
    monkeypatch.setattr(ladder, "two_classes", lambda _: strong)
    settings = Settings.from_values({"profile": "paper"})
    rungs, told = ladder._rungs(settings)
    assert list(told) == [ladder.PIXEL, ladder.GRADIENTS, names.WEAKER, names.TABLE_1]
    assert asked == [("resnet18", settings.feature_epochs)]
    np.testing.assert_allclose(rungs[names.TABLE_1].x, with_unit_variance(strong.x))
    rungs, _ = ladder._rungs(Settings.from_values({"profile": "paper", "feature_network": "raw"}))
    assert list(rungs) == [ladder.PIXEL, ladder.GRADIENTS]


def test_the_error_of_a_slope_is_that_of_a_simulation():
    rng = np.random.default_rng(3)
    means, errors = np.array([4.0, 2.0, 1.0]), np.array([0.1, 0.08, 0.03])
    part = pd.DataFrame({"n": SIZES, "value": means, "standard_error": errors})
    part = part.assign(degrees_of_freedom=40.0, n_repeats=41)
    drawn = np.log(means + errors * rng.standard_normal((20_000, 3)))
    x = np.log(SIZES) - np.log(SIZES).mean()
    simulated = (drawn @ x / (x @ x)).std()
    assert ladder_tables.lead_slope(part)["standard_error"] == pytest.approx(simulated, rel=0.03)


def test_gaps_stand_beside_what_attacks_reach():
    table = ladder_tables.against_gap(measured(), trials())
    own = table[table["features"] == "raw"]
    assert own["gap"].to_numpy() == pytest.approx(4, abs=0.1)
    lead = own[(own["attack"] == "MATT less MALT") & (own["metric"] == "auc(%)")]
    assert lead["value"].to_numpy() == pytest.approx(40 / np.sqrt(SIZES), abs=0.02)
    printed = ladder_tables._printed_points()
    assert len(printed) == 10
    assert printed["gap"].max() == pytest.approx(4.1)
    one = printed[(printed["n"] == 6000) & (printed["attack"] == "MATT")].iloc[0]
    assert (one["gap"], one["value"]) == (1.5, 51.8)


PENALTY_SIZES, SPLITS = (400, 1000), 6
# At n = 400 the printed accuracies are 97.9 and 93.8: a gap of 4.1 points.
PRINTED_GAP = 4.1


def at_penalties(own="CIFAR-10 trucks and ships"):
    """Gaps of 1, 3, 5 points and accuracies that are straight lines in the gap, with noise."""
    rng = np.random.default_rng(0)
    shape = (len(PENALTY_SIZES), 3, SPLITS)
    gap = np.broadcast_to(np.array([1.0, 3.0, 5.0])[None, :, None], shape)
    noise = rng.standard_normal(shape) * 0.01
    noise -= noise.mean(axis=-1, keepdims=True)
    values = {
        "train": 94 + gap,
        "validation": 94 + 0 * gap,
        "zero_one": 50 + gap / 2,
        "malt": 50 + 2 * gap + noise,
        "malt_auc": 50 + gap,
        "matt": 55 + noise,
        "matt_auc": 56 + gap,
    }
    dims = ("size", "inverse_penalty", "split")
    attrs = {"set": own, "data": {}, "deviations": [], "device": "cpu"}
    return xr.Dataset(
        {name: (dims, value) for name, value in values.items()},
        {"size": list(PENALTY_SIZES), "inverse_penalty": [0.01, 0.1, 1.0]},
        attrs,
    )


def test_at_the_printed_gap_numbers_are_interpolated():
    table = ladder_tables.by_penalty(at_penalties())
    there = table[(table["n"] == 400) & (table["C"] == LIKE_PRINT)].set_index(["attack", "metric"])
    assert set(there["gap"]) == {PRINTED_GAP}
    value = there["value"]
    assert value["MALT", ACCURACY] == pytest.approx(50 + 2 * PRINTED_GAP)
    assert value["MALT less print", ACCURACY] == pytest.approx(50 + 2 * PRINTED_GAP - 54.4)
    assert value["MATT less print", ACCURACY] == pytest.approx(55 - 57.0)
    assert value["(model)", TRAIN] == pytest.approx(94 + PRINTED_GAP)
    assert value["(model) less print", VALIDATION] == pytest.approx(94 - 93.8)
    assert value["MATT less MALT", AUC] == pytest.approx(6)
    assert value["MATT less MALT", ACCURACY] == pytest.approx(5 - 2 * PRINTED_GAP)
    assert set(there["n_repeats"]) == {SPLITS}
    said = ladder_tables.by_penalty_said(table)
    assert "At n = 400 and the printed gap MALT has 58.2%, +3.8 points from the print" in said
    assert "From C = 0.01 to C = 1 MALT goes from 52.0% to 60.0%" in said


@pytest.mark.parametrize(("asked", "weights"), [(1, [1, 0, 0]), (4, [0, 0.5, 0.5]), (6, None)])
def test_the_nearest_two_penalties_have_the_weight(asked, weights):
    found = ladder_tables._between(np.array([1.0, 3.0, 5.0]), asked)
    assert (found is None) if weights is None else np.allclose(found, weights)


def test_every_size_penalty_and_split_is_measured():
    settings = Settings.from_strings({"profile": "tiny", "n_repeats": "2", "n_records": "[40, 60]"})
    found = ladder.by_penalty(settings)
    assert found["malt"].shape == (2, len(ladder.WEAKER_PENALTIES), 2)
    train = found["train"].mean("split")
    # The weaker the penalty, the closer the fit.
    assert (train.isel(inverse_penalty=-1) > train.isel(inverse_penalty=0)).all()
