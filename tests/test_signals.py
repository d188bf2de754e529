"""Signals against probabilities computed the long way."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit
from sklearn.linear_model import LinearRegression
from torch import nn
from torch.utils.data import TensorDataset

from membership import signals, training
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
        (np.zeros(4), LABELS, "models, records, classes"),
        (np.zeros((2, 5, 4)), LABELS[:4], "models, records, classes"),
        (np.full((2, 5, 4), np.nan), LABELS, "not finite"),
        (np.zeros((2, 5, 3)), LABELS, "do not fit 3 classes"),
        (np.zeros((2, 5, 4)), LABELS - 1, "labels -1"),
        (np.zeros((2, 5, 4)), LABELS + 0.5, "whole numbers"),
        (np.zeros((2, 5, 1)), LABELS, "0 or 1 for models with one logit"),
        (
            "logits",
            LABELS,
            "source is str; give an Ensemble, a torch.nn.Module or a list of them",
        ),
        (nn.Linear(3, 4), LABELS, "x is None"),
    ],
)
def test_bad_input_is_named(logits, labels, message):
    with pytest.raises(InputError, match=message):
        signals.loss(logits, None, labels)


def test_a_module_is_asked_in_evaluation_mode_and_left_in_its_own():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.9), nn.Linear(8, 4))
    x = np.random.default_rng(0).standard_normal((5, 3))
    found = signals.hinge(model, x, LABELS)
    assert model.training
    expected = model.eval()(torch.tensor(x, dtype=torch.float32)).detach()
    np.testing.assert_allclose(found, signals.hinge(expected[None], None, LABELS))
    assert found.shape == (1, 5)
    double = model.double()
    np.testing.assert_allclose(signals.hinge(double, x, LABELS), found, rtol=1e-4)


def test_records_that_do_not_fit_a_module_are_named():
    with pytest.raises(InputError, match=r"x of shape \(5, 2\) cannot be put to the model"):
        signals.loss(nn.Linear(3, 4), np.zeros((5, 2)), LABELS)


def test_logits_may_be_of_one_model_and_part_of_a_graph():
    logits = torch.randn(5, 4, requires_grad=True)
    found = signals.loss(logits, None, torch.tensor(LABELS))
    np.testing.assert_allclose(found, signals.loss(logits.detach()[None], None, LABELS))


@pytest.mark.parametrize("signal", [signals.loss, signals.hinge, signals.scaled_logit])
def test_one_logit_answers_for_two_classes(signal):
    f = np.array([[2.0, -1.0, 0.5]])
    y = np.array([1, 1, 0])
    two = np.stack([np.zeros_like(f), f], axis=-1)
    np.testing.assert_allclose(signal(f[..., None], None, y), signal(two, None, y))
    np.testing.assert_allclose(signals.scaled_logit(f[..., None], None, y), [[2.0, -1.0, -0.5]])


@given(LOGITS)
def test_probability_is_the_softmax(logits):
    np.testing.assert_allclose(signals.probability(logits, None, LABELS), probability(logits))


def test_losses_follow_from_the_log_odds():
    s = np.array([[-3.0, 0.0, 40.0]])
    np.testing.assert_allclose(signals.loss_of_log_odds(s), np.log1p(np.exp(-s)), rtol=1e-12)
    squared = signals.loss_of_log_odds(s, "squared-error")
    np.testing.assert_allclose(squared, expit(-s) ** 2)
    config = training.TrainingConfig(1, 10, 0.1, loss="squared-error")
    logit = torch.tensor(s[..., None])
    expected = config.loss_of(logit, torch.ones(1, 3)).numpy()
    np.testing.assert_allclose(squared, expected, atol=1e-12)
    with pytest.raises(InputError, match="loss = 'hinge'"):
        signals.loss_of_log_odds(s, "hinge")


def test_models_come_as_a_list_and_logits_as_a_list_in_a_graph():
    x = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    models = [nn.Linear(3, 4), nn.Linear(3, 4)]
    wanted = np.concatenate([signals.loss(model, x, LABELS) for model in models])
    for source in (models, tuple(models), nn.ModuleList(models)):
        np.testing.assert_array_equal(signals.loss(source, x, LABELS), wanted)
    logits = [model(torch.tensor(x)) for model in models]
    np.testing.assert_array_equal(signals.loss(logits, None, LABELS), wanted)


@pytest.mark.parametrize(
    ("source", "x", "said"),
    [
        ([nn.Linear(3, 4), len], np.zeros((5, 3)), "models and of builtin_function_or_method"),
        ([nn.Linear(3, 4), nn.Linear(3, 5)], np.zeros((5, 3)), r"answer \[\(5, 4\), \(5, 5\)\]"),
        ([len, len], np.zeros((5, 3)), "source is a list of builtin_function_or_method; give"),
        ((one for one in [nn.Linear(3, 4)]), None, "source is generator; give an Ensemble"),
        (LinearRegression(), None, 'source is LinearRegression; .* outputs="probabilities"'),
        (nn.Linear(3, 4), TensorDataset(torch.zeros(5, 3)), "x is a TensorDataset; give its rec"),
        (np.zeros((2, 5)), None, r"of models with one logit, give logits\[..., None\]"),
        (nn.Linear(3, 4), np.zeros((5, 2), int), r"x of shape \(5, 2\), whole numbers 0 to 0,"),
    ],
)
def test_what_is_no_source_is_named_with_what_would_do(source, x, said):
    with pytest.raises(InputError, match=said):
        signals.loss(source, x, LABELS)


def test_labels_in_a_column_are_told_what_to_do():
    with pytest.raises(InputError, match=r"y.ravel\(\) has one label a record"):
        signals.loss(np.zeros((5, 4)), None, LABELS[:, None])


def test_what_lies_from_0_to_1_is_what_the_caller_says():
    p = expit(np.random.default_rng(2).normal(size=(5, 1)))
    y = LABELS % 2
    sign = np.where(y == 1, 1, -1)
    odds = signals.scaled_logit(p, None, y, outputs="probabilities")[0]
    np.testing.assert_allclose(odds, sign * np.log(p / (1 - p))[:, 0], rtol=1e-9)
    np.testing.assert_allclose(
        signals.scaled_logit(p, None, y, outputs="logits")[0], sign * p[:, 0], rtol=1e-12
    )
    for bad, said in ((3 * p, "outside 0 and 1"), (np.c_[p, p], "sum to 1 in each row")):
        with pytest.raises(InputError, match=said):
            signals.loss(bad, None, y, outputs="probabilities")
    with pytest.raises(InputError, match="outputs = 'odds': expected one of logits, prob"):
        signals.loss(p, None, y, outputs="odds")
