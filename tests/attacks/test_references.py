import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from membership import attacks, data, evidence, metrics
from membership.attacks.references import evened
from tests.attacks.slow import released_rule

N_RECORDS, REPEATS = 2000, 8
# Few distinct values, so that ties are common.
loss = st.integers(0, 12).map(lambda k: k / 4)


def losses(size):
    return st.lists(loss, min_size=size, max_size=size).map(np.array)


@st.composite
def references(draw):
    records, models = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    return draw(losses(records)), np.array([draw(losses(records)) for _ in range(models)])


@given(losses(7), losses(5))
def test_attack_p_is_the_share_of_larger_losses(target, population):
    found = attacks.attack_p(torch.tensor(target), torch.tensor(population))
    assert found.dtype == np.float64
    assert found.tolist() == [sum(p > t for p in population) / 5 for t in target]


@given(references())
def test_attack_r_follows_the_released_rule(data):
    target, reference = data
    found = attacks.attack_r(torch.tensor(target), torch.tensor(reference))
    expected = [released_rule(v, own) for v, own in zip(target, reference.T, strict=True)]
    assert found == pytest.approx(np.array(expected), abs=1e-15)
    halved = attacks.attack_r(target / 2, reference / 2, bounds=(0, 500))
    np.testing.assert_array_equal(halved, found)
    for beta in (0.13, 0.31, 0.57, 0.83):
        grid = np.concatenate(
            [np.zeros((1, target.size)), reference, np.full_like(target, 1000)[None]]
        )
        called = target <= np.quantile(grid, beta, axis=0)
        np.testing.assert_array_equal(called, found >= -beta)


def test_attack_r_tells_tiny_losses_apart():
    found = attacks.attack_r([1e-20, 1e-18, 1e-18 + 1e-30], np.full((3, 3), 0.5))
    assert found[0] > found[1] > found[2]


def test_the_difference_is_to_the_references_mean():
    target, reference = [1.0, 2.0], [[0.0, 1.0], [2.0, 5.0]]
    np.testing.assert_array_equal(attacks.difference(target, reference), [0.0, -1.0])
    np.testing.assert_array_equal(attacks.difference(target, reference[0]), [1.0, 1.0])


# Designs in which the numbers of IN and OUT models tell the answer.


def test_one_model_of_the_larger_side_is_left_out():
    inside = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=bool)
    values = np.arange(15.0).reshape(5, 3)
    references, member = evened(values, inside)
    # Record 0 has three IN of five, so loses its last IN; the others lose their last OUT.
    np.testing.assert_array_equal(references.T, [[0, 3, 6, 12], [1, 4, 7, 10], [2, 5, 8, 11]])
    assert member.sum(axis=0).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "counts", [(3, 3, 3), (1, 3, 2), (5, 4, 4)], ids=["equal", "independent", "no OUT model"]
)
def test_other_designs_keep_every_model(counts):
    inside = np.arange(5)[:, None] < np.array(counts)
    references, member = evened(np.zeros((5, 3)), inside)
    assert references.shape == (5, 3)
    np.testing.assert_array_equal(member, inside)


@pytest.mark.parametrize("references_leak", [False, True])
@pytest.mark.parametrize("n_models", [6, 8])
def test_a_balanced_design_tells_nothing_of_a_target_that_leaks_nothing(n_models, references_leak):
    rng = np.random.default_rng(n_models)
    areas: dict[str, list[float]] = {}
    for seed in range(REPEATS):
        member = data.balanced_membership(n_models, N_RECORDS, seed)
        odds = rng.normal(size=member.shape)
        odds[1:] += 2 * references_leak * member[1:]
        held = rng.normal(size=(n_models, 200))
        observed = evidence.dataset(
            "outputs",
            {"log_odds": odds, "hinge": odds, "member": member, "held_log_odds": held},
            {"record": np.arange(N_RECORDS)},
            **{"set": "noise", "data": {}, "recipe": {}, "targets": [0]},
        )
        scores = attacks.scores(observed, target=0)
        for name, score in scores.score.items():
            areas.setdefault(name, []).append(metrics.auc(score, scores.member))
    assert {"lira", "lira-global", "bavaria", "mast", "mast-best", "base", "rmia"} <= set(areas)
    # The standard deviation of an AUC of n members and n others without a difference.
    error = np.sqrt((N_RECORDS + 1) / (12 * (N_RECORDS / 2) ** 2) / REPEATS)
    assert {k: v for k, v in areas.items() if abs(np.mean(v) - 0.5) > 4 * error} == {}


def test_attack_p_keeps_its_false_positive_rate():
    rng = np.random.default_rng(0)
    population, queried = rng.exponential(size=2000), rng.exponential(size=5000)
    called = attacks.attack_p(queried, population) >= 0.95
    # The threshold is a sample quantile too.
    error = np.sqrt(0.05 * 0.95 * (1 / 2000 + 1 / 5000))
    assert abs(called.mean() - 0.05) < 4 * error


def test_rank_alone_has_no_power_at_low_false_positive_rates():
    rng = np.random.default_rng(1)
    hardness, member = rng.exponential(size=4000), np.arange(4000) % 2 == 0
    reference = hardness * rng.lognormal(size=(4, 4000))
    target = hardness * rng.lognormal(size=4000) * np.where(member, 0.2, 1)
    rank = -(reference < target).sum(axis=0)
    assert metrics.tpr_at_fpr(rank, member, 0.01) == 0
    assert metrics.tpr_at_fpr(attacks.attack_r(target, reference), member, 0.01) > 0.01
