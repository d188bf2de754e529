"""The shadow attack on answers whose law is known."""

import numpy as np
import pytest
from scipy.special import expit

from membership import attacks
from membership.errors import InputError

MODELS, RECORDS = 9, 400


def answers(seed=0, classes=2):
    """Members' answers one above the others', with the roles exchanged in every other class."""
    rng = np.random.default_rng(seed)
    member = rng.random((MODELS, RECORDS)) < 0.5
    label = np.arange(RECORDS) % classes
    sign = np.where(label % 2, -1.0, 1.0)
    first = sign * (member - 0.5) + rng.standard_normal(member.shape)
    return np.stack([first, rng.standard_normal(member.shape)], axis=-1), label, sign, member


def test_it_finds_the_probability_that_can_be_computed():
    """Of two normal laws one apart, the log-odds of membership are the answer itself."""
    output, label, sign, member = answers()
    score = attacks.shadow(output[0], label, output[1:], member[1:])
    exact = expit(sign * output[0, :, 0])
    assert np.abs(score - exact).mean() < 0.06
    assert np.corrcoef(score, exact)[0, 1] > 0.95


def test_it_finds_members_in_the_middle_where_no_threshold_does():
    """Of normal laws of spread 0.3 and 2, the best interval is right on 82%, a threshold on 68%."""
    output, label, _, member = answers(classes=1)
    inside = np.where(member, 0.3, 2.0) * output[..., 1]
    score = attacks.shadow(inside[0][:, None], label, inside[1:][..., None], member[1:])
    assert np.mean((score > 0.5) == member[0]) > 0.76
    assert max(np.mean((inside[0] > cut) == member[0]) for cut in inside[0]) < 0.74


def test_each_class_has_its_own_attack_model():
    output, label, _, member = answers()
    both = attacks.shadow(output[0], label, output[1:], member[1:])
    for one in range(2):
        rows = label == one
        alone = attacks.shadow(output[0, rows], label[rows], output[1:, rows], member[1:, rows])
        np.testing.assert_array_equal(both[rows], alone)


def test_a_class_of_members_only_has_nothing_to_learn_from():
    output, label, _, member = answers()
    member[1:, label == 1] = True
    score = attacks.shadow(output[0], label, output[1:], member[1:])
    assert (score[label == 1] == 1).all()
    assert np.ptp(score[label == 0]) > 0.1


def test_the_same_seed_gives_the_same_numbers():
    output, label, _, member = answers()
    one, same, other = (
        attacks.shadow(output[0], label, output[1:], member[1:], seed=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target_output": np.zeros((RECORDS, 3))}, "reference_output has shape"),
        ({"label": np.zeros(5)}, "label has 5 entries for 400 records"),
        ({"reference_member": np.ones((2, RECORDS), bool)}, "reference_member has shape"),
        ({"target_output": np.full((RECORDS, 2), np.nan)}, "target_output holds 800"),
    ],
)
def test_bad_input_is_named(change, message):
    output, label, _, member = answers()
    given = {
        "target_output": output[0],
        "label": label,
        "reference_output": output[1:],
        "reference_member": member[1:],
    }
    with pytest.raises(InputError, match=message):
        attacks.shadow(**{**given, **change})
