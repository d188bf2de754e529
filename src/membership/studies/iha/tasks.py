"""The data sets, networks and training recipes of the chapter: the paper's, and smaller ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from torch import nn

from membership import data, models, training
from membership.data.loading import PARITY
from membership.errors import InputError

PAPER_MODELS = 128
# Simulated records have no published number to meet: fewer models and targets do.
SIMULATED_MODELS, SIMULATED_TARGETS = 32, 3
# A network too narrow for all hundred classes of Purchase learns these.
FEW_CLASSES = 10
# Steps an epoch at least; smaller data sets get smaller batches.
LEAST_STEPS = 28
LEAST_RECORDS = 40


@dataclass(frozen=True)
class Recipe:
    """How the networks of one data set are trained.

    Attributes
    ----------
    label : str
        What tables call the data set.
    published : str
        What the paper calls it, "" where it is none of the paper's.
    hidden : tuple of int
        Widths of the hidden layers; none is logistic regression.
    learning_rate, batch_size, epochs
        Of the recipe. All have momentum 0.9, weight decay 5e-4 and a cosine schedule.
    pool : int
        Records of the paper's pool, half of them members of each model; 0 where it has none.
    """

    label: str
    published: str
    hidden: tuple[int, ...]
    learning_rate: float
    batch_size: int
    epochs: int
    pool: int = 0


RECIPES = {
    "mnist-odd": Recipe("MNIST-Odd", "MNIST-Odd", (), 0.01, 128, 80, 60_000),
    "fashion_mnist": Recipe("FashionMNIST", "FashionMNIST", (6,), 0.01, 256, 120, 60_000),
    "purchase_like": Recipe("Purchase-like(S)", "Purchase-100(S)", (32,), 0.02, 256, 120, 50_000),
    "digits-odd": Recipe("Digits-Odd", "", (), 0.01, 32, 200),
    "digits": Recipe("Digits", "", (16,), 0.01, 32, 400),
}
DEEP = (512, 256, 128, 64)


@dataclass(frozen=True)
class Task:
    """Records to train on and everything that training needs.

    Attributes
    ----------
    label, published : str
        As in `Recipe`.
    pool : data.Dataset
        An even number of records; each model is trained on half of them.
    test : data.Dataset or None
        The official test records, where there are some.
    factory : callable
        Makes an untrained network.
    config : training.TrainingConfig
    membership : numpy.ndarray of bool, shape (models, records)
        Random halves, each followed by its complement.
    origin : dict
        The digest of the whole data set, by name.
    deviations : tuple of str
        In what the set-up differs from the paper's.
    comparable : bool
        Whether data, network, recipe and number of models are the paper's.
    n_targets : int
        How many of the models are attacked.
    """

    label: str
    published: str
    pool: data.Dataset
    test: data.Dataset | None
    factory: Callable[[], nn.Module]
    config: training.TrainingConfig
    membership: np.ndarray
    origin: dict[str, str]
    deviations: tuple[str, ...]
    comparable: bool
    n_targets: int

    @property
    def n_members(self) -> int:
        """n, the size of each training set."""
        return int(self.membership[0].sum())

    @property
    def n_parameters(self) -> int:
        """p, the number of parameters."""
        return sum(parameter.numel() for parameter in self.factory().parameters())


def tasks(settings: Any) -> list[Task]:
    """Every data set of a run, ready to train on.

    Raises
    ------
    InputError
        A data set is unknown, missing or too small, or its network cannot be cut to size.
    """
    return [task(name, settings) for name in settings.datasets]


def task(
    name: str,
    settings: Any,
    *,
    deep: bool = False,
    large: bool = False,
    n_models: int = 0,
    most_parameters: int = 0,
) -> Task:
    """One data set, ready to train on.

    Parameters
    ----------
    name : str
        As `data.load` takes it; a name that ends in "-odd" asks for the parity of the label, with
        logistic regression and the squared error.
    settings : Settings
        Uses ``data_root``, ``epochs``, ``most_parameters``, ``n_models``, ``n_targets`` and
        ``seed``.
    deep : bool
        Four hidden layers (the paper's MLP-4), by the same recipe; not for parities.
    large : bool
        Stands for the paper's Purchase-100 rather than its small version.
    n_models, most_parameters : int
        Instead of the settings'; 0: the settings'.
    """
    loaded = data.load(name, root=settings.data_root or None)
    recipe = _recipe(name, loaded, large)
    pool, test = _split(loaded)
    limit = most_parameters or settings.most_parameters
    if name.startswith("purchase_like"):
        pool = _learnable(pool, recipe, limit)
    data.require(pool, n_records=LEAST_RECORDS)
    pool = pool.select(np.arange(len(pool) // 2 * 2)) if len(pool) % 2 else pool
    count, n_targets = n_models or settings.n_models, settings.n_targets
    if name.startswith("purchase_like"):
        count, n_targets = min(count, SIMULATED_MODELS), min(n_targets, SIMULATED_TARGETS)
    single = name.endswith(PARITY)
    deep = deep and not single
    wanted = DEEP if deep else recipe.hidden
    n_features, n_outputs = int(np.prod(pool.x.shape[1:])), 1 if single else pool.n_classes
    hidden = fitting(n_features, wanted, n_outputs, limit)
    factory = (
        partial(one_logit, n_features)
        if single
        else partial(models.mlp, n_features, hidden, n_outputs)
    )
    config = training.TrainingConfig(
        epochs=settings.epochs or recipe.epochs,
        batch_size=max(2, min(recipe.batch_size, len(pool) // 2 // LEAST_STEPS)),
        learning_rate=recipe.learning_rate,
        momentum=0.9,
        weight_decay=5e-4,
        schedule="cosine",
        loss="squared-error" if single else "cross-entropy",
    )
    depth = ", MLP-4" if deep else ""
    made = Task(
        label=recipe.label + depth,
        published=recipe.published + depth if recipe.published else "",
        pool=pool,
        test=test,
        factory=factory,
        config=config,
        membership=halves(count, len(pool), settings.seed),
        origin={loaded.name: loaded.digest},
        deviations=(),
        comparable=False,
        n_targets=min(n_targets, count),
    )
    said = _deviations(made, recipe, wanted, hidden)
    comparable = not said and not name.startswith("purchase_like")
    return replace(made, deviations=tuple(said), comparable=comparable)


def one_logit(n_features: int) -> nn.Sequential:
    """Logistic regression with one logit: the log-odds of class 1."""
    return nn.Sequential(nn.Flatten(), nn.Linear(n_features, 1))


def halves(n_models: int, n_records: int, seed: int) -> np.ndarray:
    """Random halves of the records, each followed by its complement.

    Every record is in exactly half of the models, as in the released code, and every model has
    as many records, so that all can be trained side by side.
    """
    first = data.random_halves(n_models // 2, n_records, seed)
    return np.stack([first, ~first], axis=1).reshape(n_models, n_records)


def fitting(
    n_features: int, hidden: tuple[int, ...], n_outputs: int, most_parameters: int
) -> tuple[int, ...]:
    """Widths of the hidden layers, cut to one limit until the network is small enough.

    Raises
    ------
    InputError
        Not even one unit a layer is small enough.
    """
    for limit in range(max(hidden, default=1), 0, -1):
        widths = tuple(min(limit, width) for width in hidden)
        if size_of(n_features, widths, n_outputs) <= most_parameters:
            return widths
    least = size_of(n_features, tuple(1 for _ in hidden), n_outputs)
    raise InputError(
        f"most_parameters = {most_parameters}: the smallest network for records of {n_features} "
        f"numbers and {n_outputs} outputs has {least:,}; give at least as many"
    )


def size_of(n_features: int, hidden: tuple[int, ...], n_outputs: int) -> int:
    """Parameters of a network of linear layers."""
    return sum((a + 1) * b for a, b in pairwise((n_features, *hidden, n_outputs)))


def _recipe(name: str, loaded: data.Dataset, large: bool) -> Recipe:
    base = name.split(":", maxsplit=1)[0]
    hidden = () if name.endswith(PARITY) else (16,)
    found = RECIPES.get(base, Recipe(loaded.name, "", hidden, 0.01, 128, 120))
    if not large:
        return found
    return replace(found, label="Purchase-like", published="Purchase-100", pool=160_000)


def _learnable(pool: data.Dataset, recipe: Recipe, most_parameters: int) -> data.Dataset:
    """All classes where the recipe's network is small enough, else the largest few."""
    if size_of(pool.x.shape[1], recipe.hidden, pool.n_classes) <= most_parameters:
        return pool
    by_size = np.argsort(-np.bincount(pool.y, minlength=pool.n_classes), kind="stable")
    return data.keep_classes(pool, by_size[:FEW_CLASSES].tolist())


def _split(loaded: data.Dataset) -> tuple[data.Dataset, data.Dataset | None]:
    """The official training records, and the test records where there is a split."""
    if loaded.official_train is None:
        return loaded, None
    return loaded.select(loaded.official_train), loaded.select(~loaded.official_train)


def _deviations(
    made: Task, recipe: Recipe, wanted: tuple[int, ...], hidden: tuple[int, ...]
) -> list[str]:
    """What is smaller than in the paper, or other; empty for the paper's own data and sizes."""
    if not recipe.published:
        return ["none of the paper's data sets"]
    said = []
    if recipe.published.startswith("Purchase"):
        classes = "" if made.pool.n_classes == 100 else f", {made.pool.n_classes} of 100 classes"
        said.append(f"simulated records instead of {recipe.published}{classes}")
    if len(made.pool) != recipe.pool:
        said.append(f"a pool of {len(made.pool):,} records (the paper: {recipe.pool:,})")
    if made.config.epochs != recipe.epochs:
        said.append(f"{made.config.epochs} epochs (the released code: {recipe.epochs})")
    if len(made.membership) != PAPER_MODELS:
        said.append(f"{len(made.membership)} models (the paper: {PAPER_MODELS})")
    if hidden != wanted:
        said.append(f"hidden layers of {hidden} units (the paper: {wanted})")
    return said
