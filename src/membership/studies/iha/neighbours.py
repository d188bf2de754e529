"""Models of the clean game at scale: on D' and on D' + z, for many z and several D'.

Every model is logistic regression with one logit, so that its Hessian is small and the models of
one D' can be trained side by side. Models on D' + z of one seed share their batches over the
records z of that D'; the models of one record are independent, and so are those on D' alone.
"""

import functools
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from membership import evidence, training
from membership.arrays import FloatArray
from membership.studies.iha import names, tasks

SIDES = ("without", "with")


@dataclass(frozen=True)
class Size:
    """How large a game is: `n_train` records in each of `n_others` sets D', and so on."""

    n_train: int
    n_others: int
    n_records: int
    n_models: int
    epochs: int


SMALL, QUICK = Size(100, 2, 3, 4, 20), Size(300, 3, 6, 8, 200)
# As many steps as the paper's 80 epochs of 30,000 records have, nearly: 480 of 40 for 80 of 235.
LARGE = Size(5000, 5, 40, 32, 480)


@dataclass(frozen=True)
class Game:
    """The records and the recipe of one game.

    Attributes
    ----------
    task : tasks.Task
        Its pool holds all records, its configuration trains every model.
    others : numpy.ndarray of int, shape (D', n)
        Rows of each D' in the pool; no two share a record.
    added : numpy.ndarray of int, shape (D', R)
        Rows of the records z that are played for with it.
    size : Size
    """

    task: tasks.Task
    others: np.ndarray
    added: np.ndarray
    size: Size

    def records(self, rows: np.ndarray, dtype: Any = torch.float32) -> tuple[torch.Tensor, ...]:
        """Some records of the pool, flat, with their labels."""
        x = torch.tensor(self.task.pool.x[rows], dtype=dtype).flatten(1)
        return x, torch.tensor(self.task.pool.y[rows])


def set_up(name: str, settings: Any) -> Game:
    """Draw the sets D' and the records that are played for."""
    task, size = tasks.task(name, settings, n_models=2), size_of(name, settings)
    each = size.n_train + size.n_records
    order = np.random.default_rng([settings.seed, 41]).permutation(len(task.pool))
    drawn = order[: size.n_others * each].reshape(size.n_others, each)
    others, added = np.sort(drawn[:, : size.n_train]), np.sort(drawn[:, size.n_train :])
    epochs = min(settings.epochs, size.epochs) if settings.epochs else size.epochs
    config = replace(task.config, epochs=epochs)
    return Game(replace(task, config=config), others, added, size)


def size_of(name: str, settings: Any) -> Size:
    """The size of a game by data set and profile."""
    if name != names.EMBEDDED:
        return LARGE
    return SMALL if settings.profile == "tiny" else QUICK


def weights(game: Game, settings: Any) -> dict[str, FloatArray]:
    """Final weights by side: "without", shape (D', K, p), and "with", (D', R, K, p)."""
    size = game.size
    items = [
        [place, side, seed]
        for place in range(size.n_others)
        for side in SIDES
        for seed in range(size.n_models)
    ]
    asked = [game.task.pool.x[game.others], game.task.pool.x[game.added]]
    asked += [game.task.pool.y[game.others], game.task.pool.y[game.added]]
    determined = (asdict(game.task.config), settings.seed, settings.device, *asked)
    look = functools.partial(_trained, game, settings.seed, settings.device)
    found = evidence.in_parts(look, items, *determined)
    by = {tuple(item): one["weight"] for item, one in zip(items, found, strict=True)}
    every = range(size.n_others), range(size.n_models)
    return {
        "without": np.array([[by[d, "without", s][0] for s in every[1]] for d in every[0]]),
        "with": np.array([np.stack([by[d, "with", s] for s in every[1]], 1) for d in every[0]]),
    }


def _trained(game: Game, seed: int, device: str, item: list) -> dict[str, np.ndarray]:
    """One model on D', or one for each z on D' + z, all with the same batches."""
    place, side, number = item
    # Every order of batches and every start has a seed of its own.
    index = (place * len(SIDES) + SIDES.index(side)) * game.size.n_models + number
    order = seed * 1_000_000 + index
    where = training.device_of(device)
    x, y = (part.to(where) for part in game.records(game.others[place]))
    if side == "without":
        return {"weight": training.train_neighbours(x, y, None, game.task.config, order, [order])}
    added = tuple(part.to(where) for part in game.records(game.added[place]))
    starts = [(seed + 1) * 10_000_000 + 1000 * index + r for r in range(len(added[0]))]
    return {"weight": training.train_neighbours(x, y, added, game.task.config, order, starts)}
