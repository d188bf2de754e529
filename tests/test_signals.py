"""Signals against probabilities computed the long way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from membership import signals
from membership.errors import InputError

LOGITS = hnp.arrays(np.float64, (2, 5, 4), elements=st.floats(-8, 8))
LABELS = np.array([0, 1, 2, 3, 0])


def probability(logits):
    """Of each record's label, by the definition of the softmax, in float64."""
    total = np.exp(logits).sum(-1)
    of_label = np.stack(
        [[np.exp(row[y]) for row, y in zip(m, LABELS, strict=True)] for m in logits]
    )
    return of_label / total


@given(LOGITS)
def test_loss_and_scaled_logit_are_functions_of_the_probability(logits):
    p = probability(logits)
    np.testing.assert_allclose(signals.loss(logits, None, LABELS), -np.log(p), atol=1e-9)
    expected = np.log(p / (1 - p))
    np.testing.assert_allclose(signals.scaled_logit(logits, None, LABELS), expected, atol=1e-7)


@given(LOGITS)
def test_hinge_and_correct_agree_with_a_loop(logits):
    hinge = signals.hinge(logits, None, LABELS)
    correct = signals.correct(logits, None, LABELS)
    for model in range(2):
        for record, label in enumerate(LABELS):
            others = [v for c, v in enumerate(logits[model, record]) if c != label]
            expected = logits[model, record, label] - max(others)
            assert hinge[model, record] == expected
            if expected != 0:
                assert correct[model, record] == (expected > 0)


@given(LOGITS, st.floats(-20, 20))
def test_a_constant_added_to_all_logits_changes_nothing(logits, shift):
    for signal in (signals.loss, signals.hinge, signals.scaled_logit):
        moved = signal(logits + shift, None, LABELS)
        np.testing.assert_allclose(moved, signal(logits, None, LABELS), atol=1e-9)


def test_losses_of_confident_models_stay_apart():
    logits = np.array([[[60.0, 0.0], [61.0, 0.0]]])
    loss = signals.loss(logits, None, [0, 0])[0]
    np.testing.assert_allclose(loss, np.exp([-60.0, -61.0]), rtol=1e-12)


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        (np.zeros((5, 4)), LABELS, "models, records, classes"),
        (np.zeros((2, 5, 4)), LABELS[:4], "models, records, classes"),
        (np.full((2, 5, 4), np.nan), LABELS, "not finite"),
        (np.zeros((2, 5, 3)), LABELS, "do not fit 3 classes"),
        (np.zeros((2, 5, 4)), LABELS - 1, "labels -1"),
    ],
)
def test_bad_input_is_named(logits, labels, message):
    with pytest.raises(InputError, match=message):
        signals.loss(logits, None, labels)
