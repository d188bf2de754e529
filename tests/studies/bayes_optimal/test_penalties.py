"""Attacks as the penalty moves the gap: against Table 1's split, and where numbers are known."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit

from membership.studies.bayes_optimal import gather, logistic, more_sentences, penalties
from membership.studies.bayes_optimal.features import Features
from membership.studies.bayes_optimal.names import ACCURACY, AUC, LIKE_PRINT, TRAIN, VALIDATION
from membership.studies.bayes_optimal.settings import Settings

SIZES, SPLITS = (400, 1000), 6
# At n = 400 the printed accuracies are 97.9 and 93.8: a gap of 4.1 points.
PRINTED_GAP = 4.1


def made_up(own="CIFAR-10 trucks and ships"):
    """Gaps of 1, 3, 5 points and accuracies that are straight lines in the gap, with noise."""
    rng = np.random.default_rng(0)
    shape = (len(SIZES), 3, SPLITS)
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
        {"size": list(SIZES), "inverse_penalty": [0.01, 0.1, 1.0]},
        attrs,
    )


def test_a_split_has_the_numbers_of_table_1():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(260, 5))
    y = (rng.random(260) < expit(x @ rng.normal(size=5))).astype(int)
    features = Features(x, y, {}, (), {})
    found = penalties._one_split(features, 100, 3, 0.5, seed=7)
    split = gather._one_split(features, 100, 3, 0.5, 7)
    seen = xr.Dataset({name: ("query", values) for name, values in split.items()})
    scores, _ = logistic.attack_scores(seen)
    member, correct = split["member"], split["log_odds"] > 0
    assert found["train"] == pytest.approx(100 * correct[member].mean())
    assert found["validation"] == pytest.approx(100 * correct[~member].mean())
    # Accuracy at a fixed threshold is a mean of two rates.
    assert found["zero_one"] == pytest.approx(50 + (found["train"] - found["validation"]) / 2)
    half = np.zeros(len(member), dtype=bool)
    for attack in ("MALT", "MATT"):
        for metric, end in ((ACCURACY, ""), (AUC, "_auc")):
            expected = logistic.MEASURES[metric](scores[attack], member, half)
            assert found[attack.lower() + end] == pytest.approx(expected)


def test_at_the_printed_gap_numbers_are_interpolated():
    table = penalties.by_penalty(made_up())
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
    said = more_sentences.of_penalties(table)
    assert "At the printed gap, and less the printed number: MALT 58.2% (+3.8)" in said
    assert "From C = 0.01 to C = 1 MALT goes from 52.0% to 60.0%" in said
    assert "MALT's accuracy spans 8.0 to 8.0 points" in more_sentences.penalties_picture(table)


@pytest.mark.parametrize(("asked", "weights"), [(1, [1, 0, 0]), (4, [0, 0.5, 0.5]), (6, None)])
def test_the_nearest_two_penalties_have_the_weight(asked, weights):
    found = penalties._between(np.array([1.0, 3.0, 5.0]), asked)
    assert (found is None) if weights is None else np.allclose(found, weights)


def test_print_stands_beside_the_papers_data_alone():
    table = penalties.by_penalty(made_up("digits"))
    assert LIKE_PRINT not in set(table["C"])
    shown, printed = penalties.drawn(table)
    assert printed is None
    assert set(shown["size"]) == {"n = 400", "n = 1000"}
    assert "printed" not in more_sentences.of_penalties(table)
    _, printed = penalties.drawn(penalties.by_penalty(made_up()))
    one = printed[(printed["n"] == 6000) & (printed["attack"] == "MATT")].iloc[0]
    assert (one["gap"], one["value"]) == (1.5, 51.8)


def test_every_size_penalty_and_split_is_measured():
    settings = Settings.from_strings({"profile": "tiny", "n_repeats": "2", "n_records": "[40, 60]"})
    found = penalties.measured(settings)
    assert found["malt"].shape == (2, len(penalties.INVERSE_PENALTIES), 2)
    train = found["train"].mean("split")
    # The weaker the penalty, the closer the fit.
    assert (train.isel(inverse_penalty=-1) > train.isel(inverse_penalty=0)).all()
