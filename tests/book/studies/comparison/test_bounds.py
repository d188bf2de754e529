"""What is proven, and intervals where there is nothing to find."""

import numpy as np
import pytest

from membership.book.studies.comparison import bounds


def covered(levels, repeats, seed):
    """Share of simulated audits whose bound lies at or below the true mu, several attacks each."""
    rng, held = np.random.default_rng(seed), 0
    name = ("loss", "mast", "attack-r", "lira", "rmia")[: len(levels)]
    for _ in range(repeats):
        member = rng.random((4, 150)) < 0.5
        score = {
            one: rng.normal(size=member.shape) + mu * member
            for one, mu in zip(name, levels, strict=True)
        }
        held += bounds.best(score, member)[1][bounds.BOUND_MU] <= max(levels)
    return held / repeats


@pytest.mark.slow
def test_bounds_hold_after_the_choice_of_attack_and_threshold():
    # 100 audits: 95% less three standard errors of a share.
    assert covered((0.0, 1.0, 1.0), 100, 0) >= 0.95 - 3 * 0.0218
    assert covered((0.0, 0.0, 0.0), 100, 1) >= 0.95 - 3 * 0.0218


def test_a_bound_finds_a_strong_attack():
    member = np.random.default_rng(2).random((4, 2000)) < 0.5
    score = {"loss": np.zeros(member.shape), "lira": 2.0 * member}
    score["lira"] = score["lira"] + np.random.default_rng(3).normal(size=member.shape)
    chosen, found = bounds.best(score, member)
    assert chosen == "lira"
    # That a bound is at most the truth, in 19 of 20 draws, is tested above.
    assert found[bounds.BOUND_MU] > 1.8


def test_levels_are_stated_of_private_targets_only():
    assert bounds.stated({"batch_size": 1, "epochs": 1}) == {}
    own = {"clip": 1.0, "noise": 0.02}
    recipe = {"privacy": own, "batch_size": 100, "epochs": 4, "features": 9, "classes": 2}
    assert bounds.stated(recipe)[bounds.STATED_MU] == pytest.approx(2 * 2 / (100 * 0.02))


def test_intervals_leave_one_half_out_as_often_as_they_should():
    rng = np.random.default_rng(4)
    pairs = [(rng.normal(size=300), rng.random(300) < 0.5) for _ in range(400)]
    share = bounds.excluded(pairs).mean()
    assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)
    assert bounds.excluded([(member + score, member) for score, member in pairs]).all()
