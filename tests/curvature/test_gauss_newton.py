"""The Gauss-Newton matrix against J' H J, built record by record."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from membership import curvature, models
from membership.curvature import gauss_newton, hessians, products
from membership.curvature.conjugate_gradients import Solver, ends
from membership.curvature.inverse import factor, least_damping
from membership.curvature.objective import objective
from membership.errors import InputError


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def record_by_record(model, loss, x, y):
    """By torch alone: a Jacobian and a small Hessian for each record."""
    model = copy.deepcopy(model).double()
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    total = 0.0
    for one_x, one_y in zip(x.double(), y, strict=True):

        def answer(values, one_x=one_x):
            return torch.func.functional_call(model, values, (one_x[None],))

        answered = answer(parameters).detach()
        each = torch.func.jacrev(answer)(parameters).values()
        jacobian = torch.cat([part.reshape(answered.numel(), -1) for part in each], dim=1)
        second = torch.func.hessian(lambda f, one_y=one_y: loss(f, one_y[None]).sum())(answered)
        total += jacobian.T @ second.reshape(answered.numel(), -1) @ jacobian
    return (total / len(x)).detach().numpy()


def test_it_is_the_mean_over_records_of_the_jacobians_around_the_loss_s_hessian(problem):
    expected = record_by_record(*problem)
    np.testing.assert_allclose(curvature.ggn(*problem), expected, atol=1e-12)
    decayed = curvature.ggn(*problem, weight_decay=0.3)
    np.testing.assert_allclose(decayed, expected + 0.3 * np.eye(len(expected)), atol=1e-12)


@pytest.mark.parametrize("vectorised", [True, False])
def test_rows_and_products_of_any_model_are_of_it(problem, vectorised, monkeypatch):
    expected = record_by_record(*problem)
    goal = objective(*problem, matrix="ggn")
    x, y = goal.records(*problem[2:])
    object.__setattr__(goal, "vectorised", vectorised)
    vectors = torch.randn(7, goal.size, dtype=torch.float64)
    wanted = vectors.numpy() @ expected
    product = products.curvature_product(goal, x, y)
    np.testing.assert_allclose(gauss_newton.ggn_by_rows(goal, x, y), expected, atol=1e-12)
    np.testing.assert_allclose(product(vectors), wanted, atol=1e-11)
    # Blocks of records do not show.
    monkeypatch.setattr(hessians, "BLOCK_NUMBERS", 300)
    monkeypatch.setattr(gauss_newton, "BLOCK_NUMBERS", 300)
    monkeypatch.setattr(gauss_newton, "ANSWER_NUMBERS", 50)
    monkeypatch.setattr(products, "BLOCK_NUMBERS", 1)
    np.testing.assert_allclose(gauss_newton.ggn_by_rows(goal, x, y), expected, atol=1e-12)
    np.testing.assert_allclose(hessians.curvature_products(goal, x, y, vectors), wanted, atol=1e-11)
    np.testing.assert_allclose(product(vectors), wanted, atol=1e-11)


def test_of_a_linear_model_it_is_the_hessian():
    torch.manual_seed(0)
    given = nn.Linear(5, 3), cross_entropy, torch.randn(20, 5), torch.randint(0, 3, (20,))
    np.testing.assert_allclose(curvature.ggn(*given), curvature.hessian(*given), atol=1e-14)


class Once(torch.autograd.Function):
    """A function without second derivatives, which the Gauss-Newton matrix does not need."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, given):
        return 2 * ctx.saved_tensors[0] * given


class Squares(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.out(Once.apply(self.inner(x)))


def test_no_second_derivative_of_the_model_is_needed():
    torch.manual_seed(2)
    model, x, y = Squares(), torch.randn(8, 4), torch.randint(0, 2, (8,))
    expected = record_by_record(
        nn.Sequential(model.inner, Square(), model.out), cross_entropy, x, y
    )
    np.testing.assert_allclose(curvature.ggn(model, cross_entropy, x, y), expected, atol=1e-12)
    with pytest.raises(InputError, match="once_differentiable"):
        curvature.hessian(model, cross_entropy, x, y)


class Square(nn.Module):
    def forward(self, x):
        return x * x


def bent_down(output, y):
    return torch.cos(output[:, 0])


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, x):
        return {"logits": self.inner(x)}


@pytest.mark.parametrize(
    ("model", "loss", "words"),
    [
        (nn.Linear(4, 1), bent_down, "convex"),
        (Named(), lambda output, y: cross_entropy(output["logits"], y), "tensor of real numbers"),
    ],
)
def test_what_has_no_such_matrix_is_told_before_the_work(model, loss, words):
    x, y = torch.zeros(6, 4), torch.zeros(6).long()
    goal = objective(model, loss, x, y, matrix="ggn")
    asked = (
        lambda: curvature.ggn(model, loss, x, y),
        lambda: products.curvature_product(goal, *goal.records(x, y)),
    )
    for ask in asked:
        with pytest.raises(InputError, match=words):
            ask()


def test_answers_that_are_sure_are_no_reason_to_refuse():
    torch.manual_seed(3)
    model = nn.Linear(4, 3).double()
    model.weight.data *= 1e3
    found = curvature.ggn(model, cross_entropy, torch.randn(9, 4), torch.arange(9) % 3)
    assert np.linalg.eigvalsh(found).min() > -1e-12


@pytest.mark.parametrize("few", [0, 500])
@pytest.mark.parametrize("matrix", ["hessian", "ggn"])
def test_the_least_damping_leaves_the_least_eigenvalue_a_thousandth_of_the_largest(
    few, matrix, monkeypatch
):
    monkeypatch.setattr("membership.curvature.conjugate_gradients.FEW", few)
    torch.manual_seed(4)
    model, x, y = models.mlp(6, (5,), 3), 2 * torch.randn(40, 6), torch.randint(0, 3, (40,))
    values = np.linalg.eigvalsh(getattr(curvature, matrix)(model, cross_entropy, x, y))
    assert (values[0] < -1e-3) == (matrix == "hessian")
    largest = np.abs(values).max()
    found = least_damping(model, cross_entropy, x, y, matrix=matrix)
    np.testing.assert_allclose(found, 1e-3 * largest - values[0], atol=2e-4 * largest)
    goal = objective(model, cross_entropy, x, y, matrix=matrix)
    records = goal.records(x, y)
    assert factor(goal, *records, "least")[1] == pytest.approx(found, abs=1e-4 * largest)
    assert ends(Solver(goal, *records, 8).products[torch.float64], goal.size, goal.device)[
        0
    ] == pytest.approx(values[0], abs=1e-4 * largest)


def test_a_matrix_far_above_zero_needs_no_damping():
    x = torch.tensor([[1.0], [2.0]])
    model = nn.Linear(1, 1, bias=False)
    given = model, lambda output, y: output[:, 0] ** 2, x, [0, 0]
    assert curvature.least_damping(*given) == 0.0
