"""Stochastic gradient descent for one model or many at once."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from membership import limits, processes
from membership.data import Dataset
from membership.errors import Diverged
from membership.training import deadline
from membership.training.cache import Cache, Fits, checked, digest
from membership.training.config import REACH, TrainingConfig, drawn, moved
from membership.training.ensemble import (
    Ensemble,
    Factory,
    State,
    device_of,
    forward,
    in_halves,
    initial_module,
    stack,
)

VERSION = 1
"""Of what training computes: raise it with an edit after which a model ends elsewhere."""

SECONDS_BETWEEN_CHECKPOINTS = 20.0


def batch_order(seed: int, epoch: int, members: np.ndarray) -> np.ndarray:
    """The order in which one model sees its members in one epoch.

    Drawn from the seed and the epoch alone, so that a resumed run, a model trained in a batch of
    models and a model trained by itself all see the same batches.

    Parameters
    ----------
    seed, epoch : int
        Not negative; epochs count from 0.
    members : numpy.ndarray of int, shape (members,)
        Row numbers of the records to train on.

    Returns
    -------
    numpy.ndarray of int, shape (members,)
        The same numbers, shuffled.
    """
    return np.random.default_rng([seed, epoch]).permutation(members)


def train(
    factory: Factory,
    dataset: Dataset,
    membership: np.ndarray,
    config: TrainingConfig,
    seeds: Sequence[int],
    *,
    device: str = "auto",
    n_jobs: int = 1,
    cache_folder: Path | None = None,
    progress: bool = True,
) -> Ensemble:
    """Train one model for each row of `membership`, as many as possible in one batched program.

    Each model ends as it would if it were trained by itself: its start and the order of its
    batches depend on its own seed only, and the optimisers act entry by entry.

    Parameters
    ----------
    factory : callable
        Returns an untrained ``torch.nn.Module`` that maps (batch, ...) to logits
        (batch, classes), or (batch, 1) for the squared error.
    dataset : Dataset
        The records.
    membership : array_like of bool, shape (models, records)
        Which records each model is trained on; at least one each.
    config : TrainingConfig
        What is minimised, and how.
    seeds : sequence of int, one a model
        Not negative.
    device : {"auto", "cpu", "cuda"}
        Where to train.
    n_jobs : int
        CPU cores to use, 0 for all that ``OMP_NUM_THREADS`` allows. Models that a CPU trains one
        after the other (convolutions) are spread over so many processes of one thread each.
    cache_folder : pathlib.Path, optional
        Where trained models are kept; see :class:`membership.training.cache.Cache`.
    progress : bool
        Show a bar over the epochs of all models.

    Returns
    -------
    Ensemble
        In the order of `membership`.

    Raises
    ------
    InputError
        Shapes, seeds or the architecture do not fit the data; nothing has been trained.
    RunError
        A loss became infinite or undefined, or the moment of `deadline.until` has come.

    Notes
    -----
    Models are cached one by one under a key made of the start, the architecture, the members, the
    order seed, the configuration, the version of this training, the device and torch's version.
    While it trains, a batch of models leaves a checkpoint about every 20 seconds; a killed run
    resumes from there and ends bit for bit the same on the same machine.
    """
    mask, seeds = checked(membership, seeds, dataset)
    place = device_of(device)
    fits = Fits(factory, dataset, mask, config, seeds, place)
    fits.check_architecture()
    cache = Cache(cache_folder)
    keys = fits.keys(VERSION)
    trained = {i: state for i in range(len(seeds)) if (state := cache.load(keys[i])) is not None}
    missing = [i for i in range(len(seeds)) if i not in trained]
    cores = limits.cores(n_jobs)
    batches = fits.batches(missing)
    if missing and deadline.is_over():
        done = len(trained) * config.epochs + _epochs_done(batches, keys, cache)
        raise deadline.Stopped(done, len(seeds) * config.epochs)
    with tqdm(
        total=len(missing) * config.epochs, unit="epoch", disable=not (progress and missing)
    ) as bar:
        if len(batches) > 1 and cores > 1 and place.type == "cpu":
            _in_processes(fits, batches, keys, cache, bar, cores)
            trained |= {i: state for i in missing if (state := cache.load(keys[i])) is not None}
        else:
            # One thread where there are several batches, as in a process of its own: the same
            # rounding, whatever n_jobs is.
            with _threads(1 if len(batches) > 1 else cores):
                for rows in batches:
                    for part in in_halves(
                        lambda some: _train_rows(fits, some, keys, cache, bar), rows, "models"
                    ):
                        trained |= part
    states = [trained[i] for i in range(len(seeds))]

    def stacked(named: Iterator[tuple[str, torch.Tensor]]) -> State:
        """In the module's order, whether trained just now or kept in a file, which has its own."""
        return {name: torch.stack([state[name] for state in states]) for name, _ in named}

    return Ensemble(
        factory,
        stacked(factory().named_parameters()),
        stacked(factory().named_buffers()),
        mask,
        seeds,
        config,
        place,
    )


@contextmanager
def _threads(count: int):
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _in_processes(
    fits: Fits,
    batches: list[list[int]],
    keys: list[str],
    cache: Cache,
    bar: tqdm,
    cores: int,
) -> None:
    """Train each batch of models in a process of its own; the results are left in the cache."""

    def work(rows: list[int]) -> int:
        with _threads(1):
            _train_rows(fits, rows, keys, cache, tqdm(disable=True))
        return len(rows)

    from joblib import delayed

    workers = processes.workers(min(cores, len(batches)), return_as="generator_unordered")
    for finished in workers(delayed(work)(rows) for rows in batches):
        bar.update(finished * fits.config.epochs)


def _of_batch(rows: list[int], keys: list[str]) -> str:
    return digest([keys[i] for i in rows])


def _checkpoint(batch_key: str) -> str:
    return f"{batch_key}-checkpoint"


def _epochs_done(batches: list[list[int]], keys: list[str], cache: Cache) -> int:
    """What the checkpoints of some batches hold, in epochs of one model."""
    held = [(rows, cache.load(_checkpoint(_of_batch(rows, keys)))) for rows in batches]
    return sum(len(rows) * int(saved["epochs_done"]) for rows, saved in held if saved is not None)


def _train_rows(
    fits: Fits, rows: list[int], keys: list[str], cache: Cache, bar: tqdm
) -> dict[int, State]:
    """Train some models side by side, or pick up what another run has just finished."""
    batch_key = _of_batch(rows, keys)
    with cache.lock(batch_key):
        ready = {i: state for i in rows if (state := cache.load(keys[i])) is not None}
        if len(ready) == len(rows):
            return ready
        parameters, buffers = _run(fits, rows, _checkpoint(batch_key), cache, bar)
        states = {}
        for position, i in enumerate(rows):
            state = {k: v[position].detach().cpu() for k, v in {**parameters, **buffers}.items()}
            cache.save(keys[i], state)
            states[i] = state
        cache.discard(_checkpoint(batch_key))
        return states


def _run(
    fits: Fits, rows: list[int], checkpoint: str, cache: Cache, bar: tqdm
) -> tuple[State, State]:
    """The epochs of one batch of models, from its checkpoint where there is one."""
    modules = [initial_module(fits.factory, fits.seeds[i]) for i in rows]
    parameters, buffers = stack(modules, fits.device)
    optimiser = fits.config.make_optimiser(list(parameters.values()))
    done = _restore(cache.load(checkpoint), parameters, buffers, optimiser)
    bar.update(done * len(rows))
    module = modules[0].to(fits.device).train()
    # torch.tensor copies: the data set's own arrays are read-only, which torch does not support.
    x = torch.tensor(fits.dataset.x).to(fits.device)
    y = torch.tensor(fits.dataset.y).to(fits.device)
    members = [np.flatnonzero(fits.membership[i]) for i in rows]
    saved = time.monotonic()
    for epoch in range(done, fits.config.epochs):
        for group in optimiser.param_groups:
            group["lr"] = fits.config.learning_rate_at(epoch)
        order = np.stack(
            [batch_order(fits.seeds[i], epoch, m) for i, m in zip(rows, members, strict=True)]
        )
        moves = _moves(fits, rows, epoch, order.shape[1])
        total = _epoch(module, parameters, buffers, optimiser, x, y, order, moves, fits.config)
        if not torch.isfinite(total).all():
            seed = fits.seeds[rows[int((~torch.isfinite(total)).nonzero()[0])]]
            where = f"epoch {epoch + 1} (model with seed {seed})"
            raise Diverged(where, f"a learning_rate below {fits.config.learning_rate} would do")
        bar.update(len(rows))
        is_over = deadline.is_over()
        due = is_over or time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS
        if due and epoch + 1 < fits.config.epochs:
            cache.save(checkpoint, _snapshot(epoch + 1, parameters, buffers, optimiser))
            saved = time.monotonic()
            if is_over:
                raise deadline.Stopped((epoch + 1) * len(rows), fits.config.epochs * len(rows))
    return parameters, buffers


def _moves(fits: Fits, rows: list[int], epoch: int, n_members: int) -> np.ndarray | None:
    """How every member is flipped and cropped in one epoch, shape (models, members, 3)."""
    if fits.config.augmentation == "none":
        return None
    reach = REACH[fits.config.augmentation]
    return np.stack([drawn(fits.seeds[i], epoch, n_members, reach) for i in rows])


def _epoch(
    module: nn.Module,
    parameters: State,
    buffers: State,
    optimiser: torch.optim.Optimizer,
    x: torch.Tensor,
    y: torch.Tensor,
    order: np.ndarray,
    moves: np.ndarray | None,
    config: TrainingConfig,
) -> torch.Tensor:
    """One pass of every model over its members; the summed loss of each model."""
    index = torch.as_tensor(order).to(x.device)
    total = torch.zeros(len(order), device=x.device)
    for first in range(0, index.shape[1], config.batch_size):
        step = slice(first, first + config.batch_size)
        batch = index[:, step]
        optimiser.zero_grad(set_to_none=True)
        rows = x.index_select(0, batch.flatten())
        if moves is not None:
            windows = torch.as_tensor(moves[:, step]).to(x.device).flatten(0, 1)
            rows = moved(rows, windows, REACH[config.augmentation])
        rows = rows.unflatten(0, batch.shape)
        with torch.autocast(x.device.type, torch.bfloat16, config.precision == "bfloat16"):
            logits = forward(module, parameters, buffers, rows)
        per_model = config.loss_of(logits.float(), y[batch]).mean(1)
        # The sum keeps the models apart: its gradient for one model is that model's own.
        per_model.sum().backward()
        optimiser.step()
        total += per_model.detach()
    return total


def _snapshot(
    epochs_done: int, parameters: State, buffers: State, optimiser: torch.optim.Optimizer
) -> State:
    state = {"epochs_done": torch.tensor(epochs_done)}
    state |= {f"parameter.{k}": v for k, v in parameters.items()}
    state |= {f"buffer.{k}": v for k, v in buffers.items()}
    for position, entry in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{position}.{k}": v for k, v in entry.items() if v is not None}
    return state


def _restore(
    saved: State | None, parameters: State, buffers: State, optimiser: torch.optim.Optimizer
) -> int:
    """Put a checkpoint back in place; the number of epochs it had finished, 0 without one."""
    if saved is None:
        return 0
    with torch.no_grad():
        for name, tensor in parameters.items():
            tensor.copy_(saved[f"parameter.{name}"])
        for name, tensor in buffers.items():
            tensor.copy_(saved[f"buffer.{name}"])
    entries: dict[int, State] = {}
    for name, tensor in saved.items():
        if name.startswith("optimiser."):
            _, position, part = name.split(".", 2)
            entries.setdefault(int(position), {})[part] = tensor
    state = optimiser.state_dict()
    optimiser.load_state_dict({**state, "state": entries})
    return int(saved["epochs_done"])
