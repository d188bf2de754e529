"""Small reference problems, with their posteriors written out densely from the definition."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy.linalg import block_diag
from scipy.special import log_softmax, softmax
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
    "squared error, one unit a layer": lambda: nn.Sequential(
        nn.Linear(6, 1), nn.Tanh(), nn.Linear(1, 1), nn.Tanh(), nn.Linear(1, 1, bias=False)
    ),
}
OTHERS = {"used twice": Residual, "convolution": convolutional}


@pytest.fixture(params=[*CHAINS, *OTHERS])
def problem(request):
    """A model, its loss, and records."""
    torch.manual_seed(0)
    model = {**CHAINS, **OTHERS}[request.param]()
    x = torch.randn(30, 6)
    y = torch.randint(0, 2, (30,))
    loss = squared_error if request.param.startswith("squared") else cross_entropy
    return model, loss, x, y


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


@dataclass(frozen=True)
class Problem:
    """A random last layer on random records."""

    features: np.ndarray
    weight: np.ndarray
    bias: np.ndarray | None
    label: np.ndarray
    query: np.ndarray

    @property
    def logits(self) -> np.ndarray:
        return self.answers(self.features)

    def answers(self, features: np.ndarray) -> np.ndarray:
        return features @ self.weight.T + (0 if self.bias is None else self.bias)

    @property
    def layer(self) -> dict:
        return {"weight": self.weight, "bias": self.bias, "label": self.label}

    def jacobian(self, features: np.ndarray) -> np.ndarray:
        """(records, classes, parameters): the weights row by row, then the biases if any."""
        identity = np.eye(len(self.weight))
        weights = np.einsum("nk,cd->ncdk", features, identity)
        weights = weights.reshape(len(features), len(identity), -1)
        biases = np.tile(identity, (len(features), 1, 1))
        return weights if self.bias is None else np.concatenate([weights, biases], axis=2)

    def curvature(self, structure: str) -> np.ndarray:
        """The Gauss-Newton matrix or its stand-in, record by record."""
        p = softmax(self.logits, axis=1)
        hessians = [np.diag(row) - np.outer(row, row) for row in p]
        if structure == "kron":
            q = sum(hessians)
            a = sum(np.outer(phi, phi) for phi in self.features) / len(self.features)
            return block_diag(np.kron(q, a), *([] if self.bias is None else [q]))
        full = sum(j.T @ h @ j for j, h in zip(self.jacobian(self.features), hessians, strict=True))
        return full if structure == "full" else np.diag(np.diag(full))

    def covariance(self, structure: str, precision: float) -> np.ndarray:
        """Of the query's logits, by the inverse of the dense precision."""
        curvature = self.curvature(structure)
        inverse = np.linalg.inv(curvature + precision * np.eye(len(curvature)))
        return np.stack([j @ inverse @ j.T for j in self.jacobian(self.query)])

    def evidence(self, structure: str, precision: float) -> float:
        """Laplace's log marginal likelihood, from determinants."""
        curvature = self.curvature(structure)
        size, rows = len(curvature), np.arange(len(self.label))
        likelihood = log_softmax(self.logits, axis=1)[rows, self.label].sum()
        log_det = np.linalg.slogdet(curvature + precision * np.eye(size))[1]
        norm = (self.weight**2).sum() + (0 if self.bias is None else (self.bias**2).sum())
        return likelihood - (log_det - size * np.log(precision) + precision * norm) / 2


SIZES = {"3 classes": (3, 4), "2 classes": (2, 2), "5 classes": (5, 3)}


@pytest.fixture(params=[*SIZES, *(f"{name}, no bias" for name in SIZES)])
def last_layer_problem(request) -> Problem:
    name, _, without = request.param.partition(", ")
    classes, width = SIZES[name]
    rng = np.random.default_rng(classes)
    features = rng.standard_normal((40, width)) + 0.5
    weight, bias = rng.standard_normal((classes, width)), rng.standard_normal(classes)
    label = rng.integers(0, classes, 40)
    bias = None if without else bias
    return Problem(features, weight, bias, label, rng.standard_normal((7, width)))
