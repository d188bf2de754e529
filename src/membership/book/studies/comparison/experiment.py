"""The experiment: how each kind of target is trained, and who was trained on what in a cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from membership import data, models, training
from membership.arrays import BoolArray
from membership.book.studies import patches
from membership.book.studies.comparison import names
from membership.book.studies.comparison.names import Cell
from membership.book.studies.comparison.settings import Settings

EPOCHS = {"tiny": 10, "quick": 30, "paper": 40}
# Members of a step; smaller sets get smaller ones.
BATCH, PRIVATE_BATCH = 64, 250
# Population records at most; all that the pool leaves where they are fewer. A share of so many has
# steps ten times finer than the smallest rate that is shown.
HELD = 10_000
CANARIES = 0.02
# Seeds of reference models lie this far above those of the targets.
_REFERENCES = 1000


@dataclass(frozen=True)
class Privacy:
    """Noisy clipped SGD: `noise` is the standard deviation on the batch's mean gradient."""

    clip: float = 1.0
    noise: float = 0.02
    learning_rate: float = 1.0

    def config(self, epochs: int, batch_size: int) -> training.PrivateConfig:
        """As the training room takes it."""
        return training.PrivateConfig(epochs, batch_size, self.learning_rate, self.clip, "sgd")


PRIVACY = Privacy()


def config(kind: str, profile: str, n_members: int) -> training.TrainingConfig:
    """The optimisation of a kind; the private one's length and batch are these too."""
    recipe, batch = names.RECIPES[kind], PRIVATE_BATCH if kind == "private" else BATCH
    return training.TrainingConfig(
        epochs=max(EPOCHS["tiny"], round(EPOCHS[profile] * recipe.longer)),
        batch_size=min(batch, max(2, n_members // 4)),
        learning_rate=0.05,
        momentum=0.9,
        weight_decay=recipe.weight_decay,
        schedule="cosine",
    )


def factory(kind: str, pool: data.Dataset) -> Callable[[], Any]:
    """What makes an untrained model of a kind for these records."""
    size, classes = pool.x[0].size, pool.n_classes
    if kind == "cnn":
        return partial(models.small_cnn, pool.x.shape[1:], classes)
    hidden = names.RECIPES[kind].hidden
    if not hidden:
        return partial(models.logistic_regression, size, classes)
    return partial(models.mlp, size, hidden, classes)


@dataclass(frozen=True)
class World:
    """One cell before training.

    Attributes
    ----------
    cell : Cell
    pool : Dataset
        The records that are asked, canaries with their wrong labels.
    record : int array of shape (records,)
        Their rows in the data set, repeated records dropped.
    canary : bool array of shape (records,)
        Given a wrong label on purpose, the same for every model.
    held_out : Dataset
        Records that no model is trained on.
    membership : bool array of shape (models, records)
        Targets first, each an independent random half; then pairs of halves and complements.
    settings : Settings
    digest : str
        Of the whole data set.
    """

    cell: Cell
    pool: data.Dataset
    record: np.ndarray
    canary: BoolArray
    held_out: data.Dataset
    membership: BoolArray
    settings: Settings
    digest: str

    @property
    def targets(self) -> range:
        """The models that are attacked."""
        return range(self.settings.n_targets)

    @property
    def references(self) -> range:
        """The reference models' numbers."""
        return range(self.settings.n_targets, len(self.membership))

    @property
    def n_members(self) -> int:
        """n, the size of each training set."""
        return int(self.membership[0].sum())

    @property
    def config(self) -> training.TrainingConfig:
        """How the models are trained."""
        return config(self.cell.kind, self.settings.profile, self.n_members)

    @property
    def seeds(self) -> list[int]:
        """Of each model."""
        first = 10_000 * self.settings.seed
        count = len(self.membership) - len(self.targets)
        later = first + _REFERENCES
        return [*range(first, first + len(self.targets)), *range(later, later + count)]

    def pair(self, target: int) -> tuple[int, int]:
        """The two complementary references of an attacker who has few: others for each target.

        One of them was trained without the record, whichever record it is.
        """
        first = self.references[2 * target % len(self.references)]
        return first, first + 1


def world(cell: Cell, settings: Settings) -> World:
    """Split a data set, mislabel the canaries and draw who is trained on what.

    Raises
    ------
    InputError
        The data set is missing or too small.
    """
    settings = settings.of(cell.dataset)
    loaded = data.deduplicate(patches.load(cell.dataset, root=settings.data_root or None))
    digest = loaded.digest
    loaded = data.one_hot(loaded) if loaded.categories else loaded
    rng = np.random.default_rng([settings.seed, 40])
    order = rng.permutation(len(loaded))
    count = min(settings.n_pool, 4 * len(loaded) // 5) // 2 * 2
    record = np.sort(order[:count])
    pool, held_out = loaded.select(record), loaded.select(np.sort(order[count : count + HELD]))
    canary = np.zeros(count, dtype=bool)
    canary[rng.choice(count, max(4, round(CANARIES * count)), replace=False)] = True
    shift = rng.integers(1, loaded.n_classes, count)
    labels = np.where(canary, (pool.y + shift) % loaded.n_classes, pool.y)
    pairs = data.random_halves(settings.n_reference // 2, count, 2 * settings.seed + 1)
    targets = data.random_halves(settings.n_targets, count, 2 * settings.seed)
    references = np.stack([pairs, ~pairs], axis=1).reshape(-1, count)
    return World(
        cell,
        replace(pool, y=labels),
        record,
        canary,
        held_out,
        np.concatenate([targets, references]),
        settings,
        digest,
    )


def train(game: World, models: Sequence[int] | None = None, **options: Any) -> training.Ensemble:
    """Train a cell's models, all of them or some in this order."""
    if game.cell.kind == "private":
        return _private(game, factory(game.cell.kind, game.pool))
    models = range(len(game.membership)) if models is None else models
    how = {"device": game.settings.device, "n_jobs": game.settings.n_jobs, **options}
    return training.train(
        factory(game.cell.kind, game.pool),
        game.pool,
        game.membership[list(models)],
        game.config,
        [game.seeds[model] for model in models],
        **how,
    )


def untrained(game: World) -> training.Ensemble:
    """All models of a cell at their random starts."""
    make = factory(game.cell.kind, game.pool)
    modules = [training.ensemble.initial_module(make, seed) for seed in game.seeds]
    parameters, buffers = training.ensemble.stack(modules, torch.device("cpu"))
    parameters = {name: values.detach() for name, values in parameters.items()}
    return _ensemble(game, make, parameters, buffers)


def _private(game: World, make: partial) -> training.Ensemble:
    """Softmax layers by noisy clipped SGD, one a model."""
    rows = range(len(game.membership))
    weight = np.stack([private_layer(game, row) for row in rows])
    names = list(make().state_dict())
    kernel, bias = torch.tensor(weight[:, :, :-1]), torch.tensor(weight[:, :, -1])
    return _ensemble(game, make, dict(zip(names, (kernel, bias), strict=True)), {})


def private_layer(game: World, model: int) -> np.ndarray:
    """One softmax layer, (classes, features + 1)."""
    privacy, how = PRIVACY, game.config
    member = game.membership[model]
    features = game.pool.x[member].reshape(int(member.sum()), -1)
    return training.train_softmax_layers(
        features,
        game.pool.y[member],
        game.pool.n_classes,
        privacy.config(how.epochs, how.batch_size),
        [privacy.noise],
        game.seeds[model],
        device=game.settings.device,
    )[0]


def _ensemble(game: World, make: partial, parameters: dict, buffers: dict) -> training.Ensemble:
    device = training.device_of(game.settings.device)
    seeds = tuple(game.seeds)
    return training.Ensemble(make, parameters, buffers, game.membership, seeds, game.config, device)


def about(game: World) -> dict[str, Any]:
    """The attributes of evidence gathered from one cell."""
    config, kind = game.config, game.cell.kind
    recipe: dict[str, Any] = {
        "kind": kind,
        "display": names.RECIPES[kind].display,
        "members": game.n_members,
        "epochs": config.epochs,
        "batch_size": config.batch_size,
        "learning_rate": config.learning_rate,
        "momentum": config.momentum,
        "weight_decay": config.weight_decay,
        "loss": config.loss,
    }
    if kind == "private":
        recipe["privacy"] = vars(PRIVACY)
        recipe["features"] = int(game.pool.x[0].size)
        recipe["classes"] = int(game.pool.n_classes)
    return {
        "set": game.cell.set,
        "data": {game.cell.dataset.split(":", maxsplit=1)[0]: game.digest},
        "recipe": recipe,
        "targets": list(game.targets),
        "population": len(game.held_out),
        "device": str(training.device_of(game.settings.device)),
        "seed": game.settings.seed,
    }
