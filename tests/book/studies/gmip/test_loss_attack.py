"""The loss attack: who is its target and shadow, what it finds, and what it takes."""

import numpy as np
import pytest

from membership import data
from membership.book.studies.gmip import loss_attack


def test_a_start_of_their_own_costs_the_loss_attack(gathered):
    one = gathered["starts-digits"]
    table = loss_attack.by_start([one]).set_index(["quantity", "start"])["value"]
    assert table["AUC (%)", "shared"] > table["AUC (%)", "own"]
    less = table["AUC (%)", "shared less own"]
    assert less == pytest.approx(table["AUC (%)", "shared"] - table["AUC (%)", "own"])
    shared = loss_attack.outcomes(gathered["outputs-digits-few"])
    np.testing.assert_allclose(one["auc"].sel(start="shared"), shared["auc"])


def test_each_of_several_sets_of_models_counts_once(gathered, settings):
    made = gathered["sets-digits"]
    sets = [loss_attack.outputs("digits", settings, "few", "own", place) for place in (0, 1)]
    areas = [loss_attack.outcomes(one)["auc"].mean() for one in sets]
    np.testing.assert_allclose(made["auc"].sel(start="own"), areas)
    assert areas[0] != areas[1]
    assert set(sets[0]["record"].values) != set(sets[1]["record"].values)
    table = loss_attack.by_start([gathered["starts-digits"]], [made]).set_index(
        ["quantity", "start"]
    )
    assert table.loc[("AUC (%)", "own"), "value"] == pytest.approx(np.mean(areas))


def test_a_target_is_no_shadow_model(gathered):
    one = gathered["outputs-digits-few"].copy(deep=True)
    before, member = loss_attack.loss_scores(one)
    one["log_odds"][1] += 5  # another target
    after, _ = loss_attack.loss_scores(one)
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])
    assert member.sum() == len(member) // 2


def test_the_loss_attack_finds_planted_members():
    rng = np.random.default_rng(0)
    inside = data.random_halves(40, 60, 0)
    odds = rng.standard_normal((40, 60)) + 4 * inside
    score = loss_attack.likelihood_ratio(odds[0], odds[1:], inside[1:])
    assert score[inside[0]].min() > score[~inside[0]].max() - 8
    assert score[inside[0]].mean() > 4 > -4 > score[~inside[0]].mean()


def test_times_are_told_with_their_ratio(gathered):
    one = gathered["times-digits"]
    table = loss_attack.times([one]).set_index("quantity")["value"]
    spent = one["seconds"].values
    assert table[loss_attack.RATIO] == pytest.approx((spent[0] / spent[1]).mean())
    area = one["auc"].values
    assert table[loss_attack.MORE] == pytest.approx((area[0] - area[2]).mean())
    assert one["attack"].values[2] == "loss (LiRA), 320 shadow models"
