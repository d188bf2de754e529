"""SGD continued from one trained network many times over: how far the copies come to spread."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from membership.training import TrainingConfig, batch_order
from membership.training.ensemble import forward, stack

Records = tuple[torch.Tensor, torch.Tensor]


@dataclass
class Copies:
    """Copies of a network under way, with what momentum remembers."""

    module: nn.Module
    parameters: dict[str, torch.Tensor]
    optimiser: torch.optim.Optimizer
    config: TrainingConfig

    @classmethod
    def of(cls, module: nn.Module, count: int, config: TrainingConfig) -> "Copies":
        """So many of one trained network, at rest."""
        parameters, _ = stack([module] * count, next(module.parameters()).device)
        return cls(module, parameters, config.make_optimiser(list(parameters.values())), config)

    def epoch(self, records: Records, order: np.ndarray, rate: float) -> None:
        """One pass over the rows of `order` (copies, records), each copy in its own."""
        x, y = records
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        for batch in torch.as_tensor(order).split(self.config.batch_size, dim=1):
            self.optimiser.zero_grad(set_to_none=True)
            rows = x.index_select(0, batch.flatten()).unflatten(0, batch.shape)
            logits = forward(self.module, self.parameters, {}, rows)
            self.config.loss_of(logits, y[batch]).mean(1).sum().backward()
            self.optimiser.step()

    def weights(self) -> torch.Tensor:
        """Parameters (copies, p) in the order of the network's own."""
        return torch.cat([value.detach().flatten(1) for value in self.parameters.values()], 1)


def shuffled(seeds: list[int], n: int, first: int) -> Iterator[np.ndarray]:
    """Epochs as in training: every record once, each copy in its own order."""
    rows, epoch = np.arange(n), first
    while True:
        yield np.stack([batch_order(seed, epoch, rows) for seed in seeds])
        epoch += 1


def spread(
    module: nn.Module,
    records: Records,
    config: TrainingConfig,
    seeds: list[int],
    epochs: int,
    vectors: torch.Tensor,
) -> dict[str, np.ndarray]:
    """Variances over the copies along directions (p, k), by regime.

    "constant" is at the recipe's initial rate for so many epochs, shuffled as in training; "cosine"
    goes on from there down the schedule for as many again.
    """
    n = len(records[1])

    def variance(copies: Copies) -> np.ndarray:
        weights = copies.weights()
        along = (weights - weights[:1]).double() @ vectors.cpu()
        return along.var(0, unbiased=True).numpy()

    found, rate = {}, config.learning_rate
    copies, orders = Copies.of(module, len(seeds), config), shuffled(seeds, n, 0)
    for _ in range(epochs):
        copies.epoch(records, next(orders), rate)
    found["constant"] = variance(copies)
    for epoch in range(epochs):
        angle = np.pi * epoch / epochs
        copies.epoch(records, next(orders), rate * 0.5 * (1 + np.cos(angle)))
    found["cosine"] = variance(copies)
    return found
