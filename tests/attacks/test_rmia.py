import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from membership import attacks, metrics

# Eighths: sums and products are exact, so ties are ties.
probability = st.integers(0, 8).map(lambda k: k / 8)


def matrix(draw, *shape):
    flat = draw(st.lists(probability, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    return np.array(flat).reshape(shape)


@st.composite
def games(draw):
    records, population = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    models = draw(st.sampled_from([1, 2, 4]))
    return (
        matrix(draw, records),
        matrix(draw, models, records),
        matrix(draw, population),
        matrix(draw, models, population),
    )


def slow_rmia(x, x_reference, z, z_reference, a, gamma, member=None):
    """The definition, a pair at a time."""

    def ratio(own, others):
        expected = ((1 + a) * sum(others) / len(others) + 1 - a) / 2
        if own == 0:
            return 0.0
        return own / expected if expected > 0 else np.inf

    score = []
    for i, own in enumerate(x):
        others = [p for m, p in enumerate(x_reference[:, i]) if member is None or not member[m, i]]
        beaten = [
            ratio(own, others) > gamma * ratio(q, z_reference[:, k].tolist())
            for k, q in enumerate(z)
        ]
        score.append(sum(beaten) / len(beaten))
    return score


@given(games(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.5, 1.0, 2.0]))
def test_rmia_is_the_definition(game, a, gamma):
    found = attacks.rmia(*(torch.tensor(part) for part in game), a, gamma)
    assert found.dtype == np.float64
    assert found.tolist() == slow_rmia(*game, a, gamma)


def test_in_models_of_a_record_are_left_out_of_its_mean():
    rng = np.random.default_rng(0)
    game = rng.random(6), rng.random((4, 6)), rng.random(50), rng.random((4, 50))
    member = np.array([rng.permutation(4) < 1 + i % 3 for i in range(6)]).T
    found = attacks.rmia(*game, reference_member=member)
    assert found.tolist() == slow_rmia(*game, 0.3, 1.0, member)
    changed = game[0], np.where(member, 0.0, game[1]), *game[2:]
    np.testing.assert_array_equal(attacks.rmia(*changed, reference_member=member), found)


@pytest.mark.parametrize("online", [False, True])
def test_the_ratio_is_the_definition_a_record_at_a_time(online):
    rng = np.random.default_rng(5)
    own, others = rng.random(6), rng.random((4, 6))
    member = np.array([rng.permutation(4) < 1 + i % 3 for i in range(6)]).T
    found = attacks.rmia_ratio(own, others, 0.2, reference_member=member, online=online)
    for i, p in enumerate(own):
        out, inside = others[~member[:, i], i].mean(), others[member[:, i], i].mean()
        expected = (out + inside) / 2 if online else (1.2 * out + 0.8) / 2
        assert found[i] == pytest.approx(p / expected, rel=1e-14)


def test_probabilities_of_zero_beat_nothing_and_are_not_nan():
    found = attacks.rmia([0.0, 0.5], [[0.0, 0.0]], [0.0, 0.5], [[0.0, 0.0]], a=1.0)
    assert found.tolist() == [0.0, 0.5]


@pytest.fixture
def references():
    """Three models' probabilities, higher by a given shift of the logit on their own records."""
    rng = np.random.default_rng(4)
    hard, hard_z = rng.normal(0, 2, 150), rng.normal(0, 2, 100)
    member = np.array([rng.permutation(3) < 1 for _ in range(150)]).T
    logit = hard + 2 * member + 0.3 * rng.standard_normal((3, 150))
    logit_z = hard_z + 0.3 * rng.standard_normal((3, 100))
    return 1 / (1 + np.exp(-logit)), member, 1 / (1 + np.exp(-logit_z))


@pytest.mark.slow
def test_tuning_takes_the_best_value_against_the_attacked_model(references):
    p, member, z = references
    for attacked, others in ((0, [1, 2]), (2, [0, 1])):
        value = {}
        for a in np.arange(11) / 10:
            score = slow_rmia(p[attacked], p[others], z[attacked], z[others], a, 1, member[others])
            value[a] = metrics.auc(score, member[attacked])
        found = attacks.rmia_tune(p, member, z, attacked=attacked)
        assert type(found) is float
        assert value[found] == max(value.values()) > min(value.values())
        assert found == min(a for a in value if value[a] == value[found])


def test_tuning_leaves_out_records_without_an_out_model(references):
    p, member, z = references
    expected = attacks.rmia_tune(p, member, z)
    more = np.concatenate([p, np.zeros((3, 5))], axis=1)
    never_out = np.concatenate([member, np.ones((3, 5), dtype=bool)], axis=1)
    assert attacks.rmia_tune(more, never_out, z) == expected


def test_a_softmax_that_rounds_beyond_its_end_is_at_its_end():
    exact = attacks.rmia([1.0, 0.0], np.ones((3, 2)), np.ones(4), np.ones((3, 4)))
    near = attacks.rmia([1.0000001, -1e-8], np.ones((3, 2)), np.ones(4), np.ones((3, 4)))
    np.testing.assert_array_equal(near, exact)


def test_online_it_orders_records_as_base_does_and_offline_at_one_as_mast():
    rng = np.random.default_rng(6)
    own, others = rng.random(50), rng.random((8, 50))
    member = np.array([rng.permutation(8) < 4 for _ in range(50)]).T
    ratio = attacks.rmia_ratio(own, others, reference_member=member, online=True)
    base = attacks.mast(-np.log(own), -np.log(others))
    np.testing.assert_allclose(np.log(ratio), base, atol=1e-13)
    ratio = attacks.rmia_ratio(own, others, 1.0, reference_member=member)
    mast = attacks.mast(-np.log(own), -np.log(others), reference_member=member)
    np.testing.assert_allclose(np.log(ratio), mast, atol=1e-13)


def test_equal_references_leave_the_ranking_of_the_loss():
    rng = np.random.default_rng(1)
    x, z = rng.random(40), rng.random(30)
    found = attacks.rmia(x, np.full((3, 40), 0.4), z, np.full((3, 30), 0.4))
    np.testing.assert_array_equal(found, attacks.attack_p(-np.log(x), -np.log(z)))
