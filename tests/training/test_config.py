"""Schedules against torch's own, and the range of every value."""

import pytest
import torch

from membership.errors import InputError
from membership.training import TrainingConfig

GOOD = {"epochs": 10, "batch_size": 4, "learning_rate": 0.3}


def torch_schedule(name, optimiser):
    schedulers = torch.optim.lr_scheduler
    if name == "cosine":
        return schedulers.CosineAnnealingLR(optimiser, T_max=10)
    return schedulers.MultiStepLR(optimiser, milestones=[3, 7], gamma=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cosine", "milestones"])
def test_schedules_are_those_of_torch(name):
    config = TrainingConfig(**GOOD, schedule=name, milestones=(3, 7), gamma=0.2)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    scheduler = torch_schedule(name, optimiser)
    for epoch in range(10):
        assert config.learning_rate_at(epoch) == pytest.approx(optimiser.param_groups[0]["lr"])
        optimiser.step()
        scheduler.step()


def test_a_constant_rate_stays():
    assert {TrainingConfig(**GOOD).learning_rate_at(epoch) for epoch in range(10)} == {0.3}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0),
        ("batch_size", 0),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("momentum", 1.0),
        ("weight_decay", -1e-4),
        ("gamma", 0.0),
        ("schedule", "linear"),
        ("optimiser", "lbfgs"),
        ("loss", "hinge"),
    ],
)
def test_a_value_out_of_range_is_named(name, value):
    with pytest.raises(InputError, match=rf"{name} = .*must be"):
        TrainingConfig(**{**GOOD, name: value})
