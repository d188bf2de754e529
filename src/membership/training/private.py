"""Noisy SGD: clip each record's gradient, average, add Gaussian noise (Abadi et al. 2016).

All three networks of Leemann et al. (2023) train a last linear layer on fixed features. The
gradient of one record is then an outer product, r (f, 1)' with r = softmax - one-hot, and its
norm is |r| |(f, 1)|: clipping needs no gradient of any single record. Runs that differ in their
noise share each batch, so that a whole figure of noise levels trains at once.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from membership.arrays import FloatArray, as_float64, one_of
from membership.errors import InputError
from membership.training.config import check_fields
from membership.training.ensemble import device_of

OPTIMISERS = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
NOISES = ("independent", "shared")


@dataclass(frozen=True)
class PrivateConfig:
    """The optimisation of one softmax layer.

    Parameters
    ----------
    epochs : int
        Passes over the records, at least 1.
    batch_size : int
        Records in a step, at least 1. Records left over at the end of an epoch sit it out.
    learning_rate : float
        Of every step, positive.
    clip : float
        C, the largest norm of a record's gradient, above 0; infinity clips nothing.
    optimiser : {"adam", "sgd"}
        What the noisy mean gradient is handed to.
    noise : {"independent", "shared"}
        "independent": every entry of the gradient has its own noise, as the theorems assume.
        "shared": all classes have the same, as in the optimiser the authors released. A softmax
        does not change when one number is added to all its logits, so that with "sgd" this noise
        changes no prediction: it hides nothing and costs nothing.

    Raises
    ------
    InputError
        A value is outside its range.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    clip: float
    optimiser: Literal["adam", "sgd"] = "adam"
    noise: Literal["independent", "shared"] = "independent"

    def __post_init__(self) -> None:
        checks = [
            ("epochs", self.epochs >= 1, "at least 1"),
            ("batch_size", self.batch_size >= 1, "at least 1"),
            ("learning_rate", 0 < self.learning_rate < np.inf, "a positive number"),
            ("clip", self.clip > 0, "a norm above 0"),
        ]
        check_fields(self, checks)
        one_of("optimiser", self.optimiser, OPTIMISERS)
        one_of("noise", self.noise, NOISES)


def with_constant(features: Any) -> torch.Tensor:
    """Append a column of ones for the bias: (records, p) -> float32 (records, p + 1)."""
    checked = torch.as_tensor(as_float64("features", features, 2), dtype=torch.float32)
    return torch.cat([checked, torch.ones(len(checked), 1)], dim=1)


def residual(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Softmax minus one-hot: gradients of each record's loss by its logits.

    Parameters
    ----------
    weight : tensor of shape (runs, classes, p + 1)
    x : tensor of shape (records, p + 1)
    y : int64 tensor of shape (records,)

    Returns
    -------
    tensor of shape (records, runs, classes)
    """
    runs, classes, width = weight.shape
    logits = (x @ weight.reshape(-1, width).T).view(len(x), runs, classes)
    return logits.softmax(dim=-1) - torch.nn.functional.one_hot(y, classes)[:, None]


def record_gradients(weight: Any, features: Any, y: Any) -> FloatArray:
    """Gradients of each record's cross-entropy by the weights of one softmax layer."""
    x = as_float64("features", features, 2)
    x = torch.as_tensor(np.c_[x, np.ones(len(x))])
    weight = torch.as_tensor(as_float64("weight", weight, 2))
    r = residual(weight[None], x, torch.tensor(np.asarray(y), dtype=torch.long))[:, 0]
    return (r[:, :, None] * x[:, None, :]).flatten(1).numpy()


def private_mean(
    weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor, clip: float
) -> torch.Tensor:
    """The mean over a batch of each record's gradient, clipped to the norm `clip`."""
    r = residual(weight, x, y)
    norm = r.norm(dim=-1) * x.norm(dim=-1)[:, None]
    factor = (clip / norm.clamp(min=torch.finfo(norm.dtype).tiny)).clamp(max=1.0)
    total = (r * factor[..., None]).flatten(1).T @ x
    return total.view(weight.shape) / len(x)


def draw_noise(shape: tuple[int, ...], kind: str, generator: torch.Generator) -> torch.Tensor:
    """Standard normal noise for gradients of shape (runs, classes, p + 1); see PrivateConfig."""
    if kind == "shared":
        runs, classes, width = shape
        return torch.randn(runs, 1, width, generator=generator).expand(runs, classes, width)
    return torch.randn(shape, generator=generator)


def initial_weight(classes: int, width: int, generator: torch.Generator) -> torch.Tensor:
    """The start that torch gives a linear layer, bias in the last column."""
    bound = 1 / np.sqrt(width - 1)
    return (2 * torch.rand(classes, width, generator=generator) - 1) * bound


def train_softmax_layers(
    features: Any,
    y: Any,
    n_classes: int,
    config: PrivateConfig,
    noise: Any,
    seed: int,
    device: str = "auto",
) -> np.ndarray:
    """Train one softmax layer for each noise level, all from the same start on the same batches.

    Parameters
    ----------
    features : array of shape (records, p)
    y : int array of shape (records,)
        Labels in 0..n_classes-1.
    n_classes : int
    config : PrivateConfig
    noise : array of shape (runs,)
        tau, the standard deviation of the noise on each entry of the mean gradient, 0 or more.
    seed : int
        Of the start, the order of the batches and the noise.
    device : {"auto", "cpu", "cuda"}
        Random numbers are drawn on the CPU, the same on both.

    Returns
    -------
    ndarray of float32, shape (runs, classes, p + 1)
        The bias in the last column.

    Raises
    ------
    InputError
        A value is out of range, or there are fewer records than one batch.
    """
    place = device_of(device)
    x, labels = with_constant(features), torch.tensor(np.asarray(y), dtype=torch.long)
    tau = as_float64("noise", noise, 1)
    if (tau < 0).any():
        raise InputError(f"noise is as low as {tau.min()}: give standard deviations of 0 or more")
    if len(x) != len(labels) or labels.min() < 0 or labels.max() >= n_classes:
        raise InputError(
            f"y has {len(labels)} labels from {labels.min()} to {labels.max()} for {len(x)} "
            f"records; give one a record, 0 to {n_classes - 1}"
        )
    if len(x) < config.batch_size:
        raise InputError(f"batch_size = {config.batch_size}: there are {len(x)} records only")
    generator = torch.Generator().manual_seed(seed)
    start = initial_weight(n_classes, x.shape[1], generator)
    weight = start.repeat(len(tau), 1, 1).to(place)
    scale = torch.as_tensor(tau, dtype=torch.float32)[:, None, None]
    x, labels = x.to(place), labels.to(place)
    optimiser = OPTIMISERS[config.optimiser]([weight], lr=config.learning_rate)
    for _ in range(config.epochs):
        order = torch.randperm(len(x), generator=generator).to(place)
        for rows in order[: len(x) // config.batch_size * config.batch_size].split(
            config.batch_size
        ):
            drawn = draw_noise(tuple(weight.shape), config.noise, generator)
            weight.grad = private_mean(weight, x[rows], labels[rows], config.clip)
            weight.grad += (scale * drawn).to(place)
            optimiser.step()
    return weight.cpu().numpy()
