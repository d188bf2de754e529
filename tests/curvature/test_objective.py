import numpy as np
import pytest
import torch
from torch import nn

from membership import attacks, curvature, models
from membership.curvature.objective import objective
from membership.errors import InputError

X, Y = torch.randn(8, 6, generator=torch.Generator().manual_seed(0)), torch.arange(8) % 3

CURVES = (curvature.per_record_gradients, curvature.hessian)


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def refused(model=None, loss=cross_entropy, x=X, y=Y):
    with pytest.raises(InputError) as error:
        curvature.hessian(model or models.mlp(6, (5,), 3), loss, x, y)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_training_mode_is_refused_where_it_matters():
    normalised = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    assert "1 is BatchNorm1d in training mode" in refused(normalised)
    assert "model.eval()" in refused(nn.Sequential(nn.Linear(6, 4), nn.Dropout(), nn.Linear(4, 3)))
    assert curvature.hessian(normalised.eval(), cross_entropy, X, Y).shape == (51, 51)
    # Without such layers the mode makes no difference.
    assert curvature.hessian(models.mlp(6, (), 3).train(), cross_entropy, X, Y).shape == (21, 21)


def test_frozen_parameters_are_constants():
    model = models.mlp(6, (5,), 3)
    every = [curve(model, cross_entropy, X, Y) for curve in CURVES]
    # The first layer's weights go, the bias stays and so does the last layer.
    model.features[1].weight.requires_grad_(False)
    left = slice(30, None)
    for curve, whole in zip(CURVES, every, strict=True):
        found, square = curve(model, cross_entropy, X, Y), curve is curvature.hessian
        np.testing.assert_allclose(
            found, whole[left, left] if square else whole[:, left], atol=1e-12
        )
    given = (model, cross_entropy, (X, Y), (X, Y), 2.0)
    exact = attacks.sif(*given)
    assert np.abs(attacks.sif(*given, solver="cg") - exact).max() < 1e-4 * np.abs(exact).max()
    message = refused(model.requires_grad_(False))
    assert "all its parameters are frozen" in message
    assert curvature.hessian(model.requires_grad_(True), cross_entropy, X, Y).shape == (53, 53)


def test_missing_parameters_are_refused():
    assert "no parameters" in refused(nn.Sequential(nn.Flatten()))
    assert "expected a torch nn.Module" in refused(lambda x: x)


def test_a_model_that_has_diverged_is_refused():
    model = models.mlp(6, (5,), 3)
    with torch.no_grad():
        model.classifier.bias[0] = torch.nan
    assert "parameters are not finite" in refused(model)


def test_a_loss_must_give_one_differentiable_value_a_record():
    assert "shape (2,)" in refused(loss=nn.CrossEntropyLoss())
    assert "one value a record" in refused(loss=lambda output, y: 1.0)
    wrong = refused(loss=lambda output, y: (output.argmax(1) != y).double())
    assert "cannot be differentiated" in wrong
    by_numpy = refused(loss=lambda output, y: np.log(output.numpy()))
    assert "they fail on the first records" in by_numpy
    assert "not finite" in refused(loss=lambda output, y: output.sum(1) / 0)


def test_records_must_fit():
    assert "the same number of records" in refused(y=Y[:7])
    assert "the same number of records" in refused(x=X[:0], y=Y[:0])
    assert "not finite" in refused(x=torch.full((8, 6), torch.inf))
    assert "they fail on the first records" in refused(x=X[:, :4])


def test_vectors_and_named_values_are_the_same_thing():
    goal = objective(models.mlp(6, (5,), 3), cross_entropy, X, Y)
    vector = torch.arange(goal.size, dtype=torch.float64)
    torch.testing.assert_close(goal.flatten(goal.unflatten(vector)), vector)
    assert goal.device.type == "cpu"


WEIGHT = torch.tensor([1.0, 2.0, 0.5])
BINARY = nn.BCEWithLogitsLoss(reduction="none")


def one_logit(turn=lambda output: output):
    class Turned(nn.Linear):
        def forward(self, x):
            return turn(super().forward(x))

    return Turned(6, 1)


def test_a_loss_module_s_tensors_are_in_the_precision_of_the_work():
    model = models.mlp(6, (5,), 3)
    weighted = nn.CrossEntropyLoss(weight=WEIGHT, reduction="none")
    for curve in CURVES:
        found = curve(model, weighted, X, Y)
        by_hand = curve(model, lambda output, y: WEIGHT[y] * cross_entropy(output, y), X, Y)
        np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    assert weighted.weight.dtype == torch.float32
    positive = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0), reduction="none")
    labels = (Y > 0).float()
    assert curvature.hessian(one_logit(lambda v: v.squeeze(1)), positive, X, labels).shape == (7, 7)


class Weighted(nn.Module):
    """A loss with class weights in a tensor that it has not registered."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, output, y):
        return self.weight[y].to(output.dtype) * cross_entropy(output, y)


def test_a_loss_module_whose_tensors_are_to_be_trained_is_refused():
    trained = WEIGHT.clone().requires_grad_()
    for weight in (nn.Parameter(WEIGHT.clone()), trained, 2 * trained):
        assert "reads trainable tensors" in refused(loss=Weighted(weight))
    model = models.mlp(6, (5,), 3)
    found = curvature.hessian(model, Weighted(WEIGHT), X, Y)
    by_hand = curvature.hessian(model, nn.CrossEntropyLoss(WEIGHT, reduction="none"), X, Y)
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize(
    ("model", "loss", "y", "message"),
    [
        (
            None,
            lambda output, y: nn.functional.cross_entropy(
                output, y, weight=WEIGHT, reduction="none"
            ),
            Y,
            "it takes float32 and not float64",
        ),
        (one_logit(lambda v: v.squeeze(1)), BINARY, (Y > 0).float()[:, None], "give y.squeeze(1)"),
        (one_logit(), BINARY, (Y > 0).float(), "y has (2,): give y.reshape((-1, 1))"),
        (one_logit(), BINARY, (Y > 0).float()[:, None], ".flatten(1).sum(1) where"),
        (one_logit(), nn.MSELoss(reduction="none"), Y.float(), "give y.reshape((-1, 1))"),
        (one_logit(lambda v: v.squeeze()), BINARY, (Y > 0).float(), "keep the axis of the records"),
        (
            one_logit(lambda v: v.squeeze()),
            lambda output, y: (output - y) ** 2 if output.ndim else output**2,
            Y.float(),
            "they give shape () for a single record, where (1,) is expected",
        ),
    ],
)
def test_answers_and_targets_that_do_not_fit_are_told_what_to_give(model, loss, y, message):
    assert message in refused(model, loss, y=y)
