import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from membership import attacks, metrics
from membership.errors import InputError

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


@given(games(), st.randoms(use_true_random=False))
def test_order_and_a_common_factor_do_not_matter(game, random):
    x, x_reference, z, z_reference = game
    expected = attacks.rmia(*game)
    models = random.sample(range(len(x_reference)), len(x_reference))
    records, population = random.sample(range(x.size), x.size), random.sample(range(z.size), z.size)
    found = attacks.rmia(x, x_reference[models], z[population], z_reference[models][:, population])
    np.testing.assert_array_equal(found, expected)
    found = attacks.rmia(x[records], x_reference[:, records], z, z_reference)
    np.testing.assert_array_equal(found, expected[records])
    np.testing.assert_array_equal(attacks.rmia(x / 2, x_reference, z / 2, z_reference), expected)


@given(games(), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_share_is_a_step_function_of_the_ratio(game, gamma):
    share = attacks.rmia(*game, gamma=gamma)
    order = np.argsort(attacks.rmia_ratio(*game[:2]), kind="stable")
    assert (np.diff(share[order]) >= 0).all()


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
    with pytest.raises(InputError, match="IN"):
        attacks.rmia_ratio(own, others, reference_member=np.zeros_like(member), online=True)


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


@given(games())
def test_a_larger_gamma_never_raises_a_score(game):
    low, high = attacks.rmia(*game, gamma=1.0), attacks.rmia(*game, gamma=2.0)
    assert (high <= low).all()


def test_equal_references_leave_the_ranking_of_the_loss():
    rng = np.random.default_rng(1)
    x, z = rng.random(40), rng.random(30)
    found = attacks.rmia(x, np.full((3, 40), 0.4), z, np.full((3, 30), 0.4))
    np.testing.assert_array_equal(found, attacks.attack_p(-np.log(x), -np.log(z)))


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target_probability": [1.5]}, "target_probability runs from 1.5"),
        ({"reference_probability": [[-0.1]]}, "reference_probability runs from -0.1"),
        ({"reference_probability": [[0.1, 0.2]]}, r"reference_probability has shape \(1, 2\)"),
        ({"population_target": []}, "population_target"),
        ({"population_reference": [[0.1, 0.2]] * 2}, "population_reference has 2 models"),
        ({"a": 1.1}, "a is 1.1"),
        ({"a": True}, "a is True"),
        ({"gamma": 0}, "gamma is 0"),
        ({"gamma": np.inf}, "gamma is inf"),
        ({"reference_member": [[True]]}, "1 of 1 records have fewer than 1 OUT models"),
    ],
)
def test_bad_input(change, message):
    valid = {
        "target_probability": [0.5],
        "reference_probability": [[0.5]],
        "population_target": [0.5, 0.6],
        "population_reference": [[0.5, 0.6]],
    }
    with pytest.raises(InputError, match=message):
        attacks.rmia(**valid | change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p, m, z: (p[:1], m[:1], z[:1], {}), "has 1 models"),
        (lambda p, m, z: (p, m, z[:2], {}), "population_reference 2"),
        (lambda p, m, z: (p, m, z, {"attacked": 3}), "attacked is 3"),
        (lambda p, m, z: (p, m, z, {"attacked": 0.0}), "attacked is 0.0"),
        (lambda p, m, z: (p, m | True, z, {}), "leaves 0 members and 0 non-members"),
        (lambda p, m, z: (p, m & False, z, {}), "leaves 0 members and 150 non-members"),
        (lambda p, m, z: (p, m, z, {"grid": [2.0]}), "a is 2.0"),
    ],
)
def test_bad_input_to_tuning(references, change, message):
    *arrays, options = change(*references)
    with pytest.raises(InputError, match=message):
        attacks.rmia_tune(*arrays, **options)


def test_a_softmax_that_rounds_beyond_its_end_is_at_its_end():
    exact = attacks.rmia([1.0, 0.0], np.ones((3, 2)), np.ones(4), np.ones((3, 4)))
    near = attacks.rmia([1.0000001, -1e-8], np.ones((3, 2)), np.ones(4), np.ones((3, 4)))
    np.testing.assert_array_equal(near, exact)
    with pytest.raises(InputError, match=r"runs from 1\.00001 to 1\.00001; give probabilities"):
        attacks.rmia([1.00001], np.ones((3, 1)), np.ones(4), np.ones((3, 4)))
