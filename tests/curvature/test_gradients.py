import numpy as np
import pytest
import torch

from membership import curvature, models
from membership.curvature import gradients
from membership.curvature.objective import objective
from membership.errors import InputError


def test_each_is_the_gradient_of_one_record(problem, monkeypatch):
    model, loss, x, y = problem
    monkeypatch.setattr(gradients, "BLOCK_NUMBERS", 300)
    ours = curvature.per_record_gradients(model, loss, x, y)
    assert ours.dtype == np.float64
    double = model.double()
    for row, record, target in zip(ours, x, y, strict=True):
        value = loss(double(record[None].double()), target[None]).sum()
        expected = torch.autograd.grad(value, list(double.parameters()))
        flat = torch.cat([part.flatten() for part in expected])
        np.testing.assert_allclose(row, flat, rtol=1e-10, atol=1e-14)


def test_losses_come_with_the_gradients(problem):
    model, loss, x, y = problem
    goal = objective(*problem)
    losses = torch.cat([part for _, part in gradients.gradient_blocks(goal, *goal.records(x, y))])
    expected = loss(model.double()(x.double()), y)
    np.testing.assert_allclose(losses.detach(), expected.detach(), rtol=1e-12)


def test_arrays_do_as_well_as_tensors(problem):
    model, loss, x, y = problem
    ours = curvature.per_record_gradients(model, loss, x.numpy(), y.numpy())
    np.testing.assert_array_equal(ours, curvature.per_record_gradients(*problem))


def test_more_gradients_than_memory_are_refused(monkeypatch):
    monkeypatch.setattr("membership.memory.available", lambda device: 1e6)
    model = models.mlp(600, (32,), 100)
    with pytest.raises(InputError, match=r"10 gradients needs about 0\.0 gig.*fewer records"):
        curvature.per_record_gradients(
            model,
            lambda output, y: output.sum(1),
            torch.randn(10, 600),
            torch.zeros(10).long(),
        )
