"""Models that differ in one training record, trained side by side."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from membership.arrays import FloatArray, one_of
from membership.errors import Diverged, InputError
from membership.training.config import TrainingConfig
from membership.training.ensemble import initial_module
from membership.training.sgd import batch_order

SAMPLERS = ("shuffled", "anew")
# A stream of its own beside the epochs' orders.
_ANEW = 2


def train_neighbours(
    x: torch.Tensor,
    y: torch.Tensor,
    added: tuple[torch.Tensor, torch.Tensor] | None,
    config: TrainingConfig,
    order_seed: int,
    starts: Sequence[int],
    sampler: str = "shuffled",
) -> FloatArray:
    """Train one-logit models on common records, and on one more each.

    Parameters
    ----------
    x : torch.Tensor of float, shape (n, d)
        The records that all models share. Computed in its precision, on its device.
    y : torch.Tensor, shape (n,)
        Their labels, 0 or 1.
    added : tuple of torch.Tensor, shapes (k, d) and (k,), or None
        The further record of each model, with its label. None: all train on `x` alone.
    config : TrainingConfig
        SGD on the squared error, in float32 and without augmentation.
    order_seed : int
        Of the batches, which all models share; as the seed of `train`, where the record added is
        the last one of the data set.
    starts : sequence of int, one a model
        Seeds of the models' starts, as in `train`.
    sampler : {"shuffled", "anew"}
        Each record once an epoch, as in `train`; or each batch drawn anew, with replacement, from
        the records that all models share (`added` is None).

    Returns
    -------
    numpy.ndarray, shape (k, d + 1)
        Final weights, the bias last.

    Raises
    ------
    InputError
        Shapes disagree, or the configuration is another one.
    RunError
        A weight became infinite or undefined.
    """
    _check(x, y, added, config, starts)
    _check_sampler(sampler, added)
    rows, label = _with_bias(x), y.to(x)[:, None].expand(-1, len(starts))
    own = None
    if added is not None:
        own = _with_bias(added[0]).T.contiguous()
        # The slot of the record that differs: nothing there, and each model's own label.
        rows = torch.cat([rows, torch.zeros_like(rows[:1])])
        label = torch.cat([label, added[1].to(x)[None]])
    weight = _started(starts, x)
    velocity = torch.zeros_like(weight)
    for epoch in range(config.epochs):
        order = torch.as_tensor(_order(sampler, order_seed, epoch, len(rows)))
        rate = config.learning_rate_at(epoch)
        for batch in order.to(x.device).split(config.batch_size):
            _step(weight, velocity, rows, label, own, batch, rate, config)
        if not torch.isfinite(weight).all():
            where = f"epoch {epoch + 1} (batches of seed {order_seed})"
            raise Diverged(where, f"a learning_rate below {config.learning_rate} would do")
    return weight.T.cpu().numpy()


def _order(sampler: str, seed: int, epoch: int, count: int) -> np.ndarray:
    if sampler == "shuffled":
        return batch_order(seed, epoch, np.arange(count))
    return np.random.default_rng([seed, epoch, _ANEW]).integers(count, size=count)


def _step(
    weight: torch.Tensor,
    velocity: torch.Tensor,
    rows: torch.Tensor,
    label: torch.Tensor,
    own: torch.Tensor | None,
    batch: torch.Tensor,
    rate: float,
    config: TrainingConfig,
) -> None:
    """One step of all models: weights (d + 1, k) and velocities change in place."""
    some = rows.index_select(0, batch)
    logit = some @ weight
    at = None
    if own is not None and bool((batch == len(rows) - 1).any()):
        at = int((batch == len(rows) - 1).nonzero()[0])
        logit[at] = (own * weight).sum(0)
    chance = logit.sigmoid_()
    error = (chance - label.index_select(0, batch)) * chance * (1 - chance) * (2 / len(batch))
    velocity.addmm_(some.T, error, beta=config.momentum).add_(weight, alpha=config.weight_decay)
    if at is not None and own is not None:
        velocity.addcmul_(own, error[at])
    weight.sub_(velocity, alpha=rate)


def _with_bias(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def _started(starts: Sequence[int], x: torch.Tensor) -> torch.Tensor:
    """Weights (d + 1, k) as torch starts a linear layer."""
    layers = [initial_module(lambda: nn.Linear(x.shape[1], 1), seed) for seed in starts]
    columns = [
        torch.cat([layer.get_parameter("weight").detach()[0], layer.get_parameter("bias").detach()])
        for layer in layers
    ]
    return torch.stack(columns, dim=1).to(x).contiguous()


def _check_sampler(sampler: str, added: object) -> None:
    one_of("sampler", sampler, SAMPLERS)
    if sampler == "anew" and added is not None:
        raise InputError(
            'sampler = "anew" draws from the common records alone; give added=None, or "shuffled"'
        )


def _check(x, y, added, config: TrainingConfig, starts: Sequence[int]) -> None:
    plain = config.optimiser == "sgd" and config.augmentation == "none"
    if config.loss != "squared-error" or config.precision != "float32" or not plain:
        raise InputError("config: give SGD on the squared error, float32, no augmentation")
    if x.ndim != 2 or y.shape != x.shape[:1] or not len(x):
        raise InputError(f"x of shape {tuple(x.shape)}, y of shape {tuple(y.shape)}: give (n, d)")
    if not len(starts):
        raise InputError("starts is empty; give one seed a model")
    if added is not None:
        shapes = tuple(added[0].shape), tuple(added[1].shape)
        if shapes != ((len(starts), x.shape[1]), (len(starts),)):
            raise InputError(
                f"added has shapes {shapes}; give one record of {x.shape[1]} numbers and one label "
                f"for each of {len(starts)} starts"
            )
