import numpy as np
import pytest
import torch
from torch import nn

from membership import curvature, models
from membership.curvature import gradients
from membership.curvature.objective import objective
from membership.errors import InputError


def test_each_is_the_gradient_of_one_record(problem, monkeypatch):
    model, loss, x, y = problem
    monkeypatch.setattr(gradients, "PART_NUMBERS", 300)
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
    with pytest.raises(InputError, match=r"10 gradients needs about 0\.0 gig.*gradient_parts"):
        curvature.per_record_gradients(
            model,
            lambda output, y: output.sum(1),
            torch.randn(10, 600),
            torch.zeros(10).long(),
        )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("batch_size", [None, 1, 7, 1000])
def test_parts_are_the_gradients_in_their_order(problem, dtype, batch_size):
    whole = curvature.per_record_gradients(*problem)
    how = {"dtype": dtype, "batch_size": batch_size}
    parts = list(curvature.gradient_parts(*problem, **how))
    assert {part.dtype for part in parts} == {np.dtype(dtype)}
    if batch_size is not None:
        assert [len(part) for part in parts] == [
            min(batch_size, 30 - first) for first in range(0, 30, batch_size)
        ]
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=tolerance)
    found = curvature.per_record_gradients(*problem, **how)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.concatenate(parts))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"dtype": "float16"}, "dtype = 'float16'"),
        ({"batch_size": 0}, "batch_size = 0"),
        ({"parameters": ["nothing"]}, "'nothing' is no parameter"),
    ],
)
@pytest.mark.parametrize("name", ["gradient_parts", "per_record_gradients"])
def test_what_is_asked_is_checked_before_the_first_part(problem, name, how, words):
    with pytest.raises(InputError, match=words):
        getattr(curvature, name)(*problem, **how)


def test_the_mean_gradient_is_that_of_the_records(problem):
    model, loss, x, y = problem
    goal = objective(model, loss, x, y)
    expected = curvature.per_record_gradients(*problem).mean(axis=0)
    found = gradients.mean_gradient(goal, *goal.records(x, y))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_single_precision_that_overflows_in_the_sum_alone_is_no_reason_to_refuse():
    x = torch.full((4, 40), 1e37, dtype=torch.float64)
    given = nn.Linear(40, 1), lambda output, y: output[:, 0], x, torch.zeros(4)
    found = curvature.per_record_gradients(*given, dtype="float32", batch_size=4)
    np.testing.assert_allclose(found[:, :40], 1e37, rtol=1e-6)
