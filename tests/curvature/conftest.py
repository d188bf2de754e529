import copy

import pytest
import torch
from torch import nn

from membership import models


def cross_entropy(output, y):
    return nn.functional.cross_entropy(output, y, reduction="none")


def squared_error(output, y):
    return (output[:, 0] - y) ** 2


class Residual(nn.Module):
    """No chain: one layer is used twice, and its input comes back at the end."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 6)
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        return self.out(x + torch.tanh(self.inner(torch.tanh(self.inner(x)))))


def convolutional():
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 3)),
        nn.Conv2d(1, 2, 2),
        nn.BatchNorm2d(2),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(4, 3),
    ).eval()


CHAINS = {
    "relu": lambda: models.mlp(6, (5,), 3),
    "tanh, two hidden layers": lambda: models.mlp(6, (5, 4), 3, activation="tanh"),
    "no biases, mixed activations": lambda: nn.Sequential(
        nn.Linear(6, 4, bias=False),
        nn.GELU(),
        nn.Linear(4, 3, bias=False),
        nn.SiLU(),
        nn.Linear(3, 3),
    ),
    "softmax between layers": lambda: nn.Sequential(
        nn.Linear(6, 4), nn.Softmax(dim=-1), nn.Linear(4, 3)
    ),
    "logistic regression": lambda: models.logistic_regression(6, 3),
    "squared error": lambda: nn.Sequential(nn.Linear(6, 1), nn.Sigmoid()),
}
OTHERS = {"used twice": Residual, "convolution": convolutional}


@pytest.fixture(params=[*CHAINS, *OTHERS])
def problem(request):
    """A model, its loss, and records."""
    torch.manual_seed(0)
    model = {**CHAINS, **OTHERS}[request.param]()
    x = torch.randn(30, 6)
    y = torch.randint(0, 2, (30,))
    return model, squared_error if request.param == "squared error" else cross_entropy, x, y


def mean_loss(model, loss, x, y):
    """The mean loss as a function of one vector, and the vector, by torch alone, in float64."""
    model = copy.deepcopy(model).double()
    names = [name for name, _ in model.named_parameters()]
    shapes = [value.shape for value in model.parameters()]
    w = torch.nn.utils.parameters_to_vector(model.parameters()).detach()

    def of(vector):
        parts = vector.split([shape.numel() for shape in shapes])
        values = {k: v.view(s) for k, v, s in zip(names, parts, shapes, strict=True)}
        return loss(torch.func.functional_call(model, values, (x.double(),)), y).mean()

    return of, w


@pytest.fixture
def reference(problem):
    """The Hessian of the mean loss, by torch alone."""
    of, w = mean_loss(*problem)
    return torch.func.hessian(of)(w).numpy()
