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
    assert "it fails on what the model answers" in by_numpy
    assert "not finite" in refused(loss=lambda output, y: output.sum(1) / 0)


WEIGHT = torch.tensor([0.2, 1.0, 3.0])


class Focal(nn.Module):
    """A loss that holds its weights beside buffers, as many are written."""

    def __init__(self):
        super().__init__()
        self.alpha = WEIGHT.clone()

    def forward(self, output, y):
        value = nn.functional.cross_entropy(output, y, weight=self.alpha, reduction="none")
        return (1 - torch.exp(-value)) ** 2 * value


def weighted(output, y):
    weight = WEIGHT.to(output.dtype)
    return nn.functional.cross_entropy(output, y, weight=weight, reduction="none")


def focal(output, y):
    return (1 - torch.exp(-weighted(output, y))) ** 2 * weighted(output, y)


@pytest.mark.parametrize(
    ("given", "by_hand"),
    [(nn.CrossEntropyLoss(weight=WEIGHT, reduction="none"), weighted), (Focal(), focal)],
    ids=["weights of classes", "focal"],
)
def test_a_loss_is_taken_in_float64_with_what_it_holds(given, by_hand):
    model = models.mlp(6, (5,), 3)
    for curve in CURVES:
        found, wanted = (curve(model, loss, X, Y) for loss in (given, by_hand))
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
    held = given.weight if hasattr(given, "weight") else given.alpha
    assert held.dtype == torch.float32


def test_a_loss_whose_own_parameters_are_to_be_trained_is_refused():
    loss = Focal()
    loss.alpha = nn.Parameter(WEIGHT.clone())
    loss.forward = lambda output, y: loss.alpha[y] * cross_entropy(output, y)
    assert "reads trainable tensors" in refused(loss=loss)


def test_a_loss_that_holds_float32_is_named_with_what_would_do():
    def closed(output, y):
        return nn.functional.cross_entropy(output, y, weight=WEIGHT, reduction="none")

    assert "cast the numbers that it holds" in refused(loss=closed)
    elsewhere = refused(loss=lambda output, y: cross_entropy(output[:1], y))
    assert elsewhere.startswith("loss: it fails on what the model answers")
    assert "cast" not in elsewhere


BINARY = nn.BCEWithLogitsLoss(reduction="none")


@pytest.mark.parametrize("form", ["a column of labels", "a head that squeezes"])
def test_one_logit_is_read_as_people_have_it(form):
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 1), nn.Flatten(0))
    label = (Y > 0).float()
    model, y = (plain[:3], label[:, None]) if "column" in form else (Squeezed(plain[:3]), label)
    for curve in CURVES:
        np.testing.assert_allclose(
            curve(model, BINARY, X, y), curve(plain, BINARY, X, label), rtol=1e-9, atol=1e-12
        )
    given = {"damping": 2.0, "solver": "cg"}
    found = attacks.sif(model, BINARY, (X, y), (X[:3], y[:3]), **given)
    wanted = attacks.sif(plain, BINARY, (X, label), (X[:3], label[:3]), **given)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


class Squeezed(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x).squeeze()


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize(
    ("model", "loss", "y", "message"),
    [
        (nn.Sequential(nn.Linear(6, 1), nn.Flatten(0)), BINARY, "column", "give y.squeeze(1)"),
        (nn.Linear(6, 1), BINARY, "row", "y has (2,): give y.reshape((-1, 1))"),
        (nn.Linear(6, 1), nn.MSELoss(reduction="none"), "row", "give y.reshape((-1, 1))"),
        (nn.Linear(6, 2), BINARY, "two", ".flatten(1).sum(1) where a record has several"),
    ],
)
def test_answers_and_targets_that_do_not_fit_are_told_what_to_give(model, loss, y, message):
    label = (Y > 0).float()
    targets = {"row": label, "column": label[:, None], "two": torch.stack([label, label], dim=1)}
    assert message in refused(model, loss, y=targets[y])


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_loss_without_second_derivatives_has_gradients_and_no_hessian():
    hinge = nn.MultiMarginLoss(reduction="none")
    assert curvature.per_record_gradients(models.mlp(6, (5,), 3), hinge, X, Y).shape == (8, 53)
    for solver in ("exact", "cg"):
        with pytest.raises(InputError, match="torch cannot take their derivatives"):
            attacks.sif(models.mlp(6, (5,), 3), hinge, (X, Y), (X, Y), solver=solver)


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_where_gradients_are_off_that_is_said(off):
    with off():
        assert refused().startswith("gradients are off: call this outside of torch.no_grad")


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
