"""What a training run is: its optimiser, schedule and length, and what happens to images."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F

from membership.arrays import one_of
from membership.errors import InputError

REACH = {"flip-and-shift": 1, "flip-and-crop": 4}
"""Pixels that a window of the image moves either way, by augmentation."""
AUGMENTATIONS = ("none", *REACH)
# A stream of its own: the order of the batches has that of the seed and the epoch alone.
_STREAM = 1


def drawn(seed: int, epoch: int, n_members: int, reach: int) -> np.ndarray:
    """What happens to each member of one model in one epoch, (members, 3), in batch order.

    How far the window lies from the top and from the left of the padded image, 0 to ``2 * reach``
    (`reach`: the image itself), and whether it is mirrored, 0 or 1.
    """
    rng = np.random.default_rng([seed, epoch, _STREAM])
    return rng.integers([2 * reach + 1, 2 * reach + 1, 2], size=(n_members, 3))


def moved(images: torch.Tensor, moves: torch.Tensor, reach: int) -> torch.Tensor:
    """Pad images with zeros, take a window of the old size, mirror it or not; moves of `drawn`."""
    height, width = images.shape[-2:]
    padded = F.pad(images, (reach,) * 4)
    down, across, mirrored = moves.unbind(1)
    columns = torch.arange(width, device=images.device).expand(len(images), width)
    columns = torch.where(mirrored[:, None] == 1, columns.flip(1), columns) + across[:, None]
    lines = down[:, None] + torch.arange(height, device=images.device)
    record = torch.arange(len(images), device=images.device)[:, None, None]
    # Indices round a slice come first: (records, height, width, channels).
    windows = padded[record, :, lines[:, :, None], columns[:, None, :]]
    return windows.permute(0, 3, 1, 2)


PRECISIONS = ("float32", "bfloat16")
LOSSES = ("cross-entropy", "squared-error")
OPTIMISERS = ("sgd", "adam")
SCHEDULES = ("constant", "cosine", "milestones")


@dataclass(frozen=True)
class TrainingConfig:
    """The optimisation of one model, as a paper states it.

    Parameters
    ----------
    epochs : int
        Passes over the members, at least 1.
    batch_size : int
        Records in a step, at least 1. The last batch of an epoch may be smaller.
    learning_rate : float
        Of the first epoch, positive.
    momentum : float
        Of SGD, in [0, 1); the velocity is ``v <- momentum * v + gradient`` (as in torch).
    weight_decay : float
        Added to the gradient as ``weight_decay * parameter``, not negative.
    schedule : {"constant", "cosine", "milestones"}
        How the learning rate changes from epoch to epoch. "cosine" falls from the first value to
        zero at ``epochs``; "milestones" multiplies by `gamma` at each epoch in `milestones`.
    milestones : tuple of int
        Epochs, counted from 0, at whose start the learning rate drops.
    gamma : float
        The factor of each drop, in (0, 1].
    optimiser : {"sgd", "adam"}
        Adam uses torch's own constants (0.9, 0.999, 1e-8).
    loss : {"cross-entropy", "squared-error"}
        What is minimised, as a mean over a batch. "squared-error" is for two classes and a model
        that answers one logit: ``(sigmoid(logit) - y)**2``.
    precision : {"float32", "bfloat16"}
        In which convolutions and matrix products are computed while training; parameters, the
        optimiser and the loss are float32 either way (torch's autocast).
    augmentation : {"none", "flip-and-shift", "flip-and-crop"}
        Each time a member is seen it is a random window of the image, padded with zeros on each
        side, mirrored half the time: "flip-and-shift" pads by 1, "flip-and-crop" by 4.

    Raises
    ------
    InputError
        A value is outside its range.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    momentum: float = 0.0
    weight_decay: float = 0.0
    schedule: Literal["constant", "cosine", "milestones"] = "constant"
    milestones: tuple[int, ...] = ()
    gamma: float = 0.1
    optimiser: Literal["sgd", "adam"] = "sgd"
    loss: Literal["cross-entropy", "squared-error"] = "cross-entropy"
    precision: Literal["float32", "bfloat16"] = "float32"
    augmentation: Literal["none", "flip-and-shift", "flip-and-crop"] = "none"

    def __post_init__(self) -> None:
        checks = [
            ("epochs", self.epochs >= 1, "at least 1"),
            ("batch_size", self.batch_size >= 1, "at least 1"),
            ("learning_rate", 0 < self.learning_rate < math.inf, "a positive number"),
            ("momentum", 0 <= self.momentum < 1, "in [0, 1)"),
            ("weight_decay", 0 <= self.weight_decay < math.inf, "zero or positive"),
            ("gamma", 0 < self.gamma <= 1, "in (0, 1]"),
        ]
        check_fields(self, checks)
        one_of("schedule", self.schedule, SCHEDULES)
        one_of("optimiser", self.optimiser, OPTIMISERS)
        one_of("loss", self.loss, LOSSES)
        one_of("augmentation", self.augmentation, AUGMENTATIONS)
        one_of("precision", self.precision, PRECISIONS)

    def learning_rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch.

        Parameters
        ----------
        epoch : int
            Counted from 0.

        Returns
        -------
        float
            The rate every step of that epoch uses.
        """
        if self.schedule == "cosine":
            return self.learning_rate * 0.5 * (1 + math.cos(math.pi * epoch / self.epochs))
        if self.schedule == "milestones":
            passed = sum(epoch >= milestone for milestone in self.milestones)
            return self.learning_rate * self.gamma**passed
        return self.learning_rate

    def loss_of(self, logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The loss of each record.

        Parameters
        ----------
        logits : torch.Tensor, shape (..., records, classes), or (..., records, 1)
            What a model answers; the second shape is that of the squared error.
        y : torch.Tensor of int, shape (..., records)
            Labels.

        Returns
        -------
        torch.Tensor, shape (..., records)
            Not negative.
        """
        if self.loss == "squared-error":
            return (torch.sigmoid(logits.squeeze(-1)) - y) ** 2
        each = F.cross_entropy(logits.flatten(0, -2), y.flatten(), reduction="none")
        return each.view(y.shape)

    def make_optimiser(self, parameters: list[torch.Tensor]) -> torch.optim.Optimizer:
        """The torch optimiser for these parameters.

        Both optimisers act on each entry alone, so parameters stacked over models train exactly
        as they would one model at a time.
        """
        if self.optimiser == "adam":
            return torch.optim.Adam(
                parameters, lr=self.learning_rate, weight_decay=self.weight_decay, fused=True
            )
        return torch.optim.SGD(
            parameters,
            lr=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            fused=True,
        )


def check_fields(config: object, checks: list[tuple[str, bool, str]]) -> None:
    """Raise an InputError that names the first field that is not good, and what it must be."""
    for name, good, accepted in checks:
        if not good:
            raise InputError(f"{name} = {getattr(config, name)!r}: it must be {accepted}")
