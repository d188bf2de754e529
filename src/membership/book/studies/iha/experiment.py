"""The experiment on a data set: records, networks and recipes, and the models trained on them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from membership import addresses, data, models, signals, training
from membership.arrays import FloatArray
from membership.book.studies.iha.settings import Settings
from membership.book.studies.iha.subjects import (
    DEEP,
    FEW_CLASSES,
    LEAST_RECORDS,
    Recipe,
    Subject,
    fitting,
    is_purchase,
    recipe_of,
    size_of,
)

PAPER_MODELS = 128
# Simulated records have no published number to meet: fewer models do. Table 7 trains others too.
SIMULATED_MODELS, TARGETS_OF_OTHERS = 32, 3
# At the paper's size each target costs minutes: more records are asked of one of each pair.
SIMULATED_QUERIES, FULL_QUERIES = 1000, 2000
# Steps an epoch at least; smaller data sets get smaller batches.
LEAST_STEPS = 28


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
    targets : tuple of int
        Which of the models are attacked.
    n_queries : int
        Records that each of them is asked about.
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
    targets: tuple[int, ...]
    n_queries: int

    @property
    def n_members(self) -> int:
        """n, the size of each training set."""
        return int(self.membership[0].sum())

    @property
    def n_parameters(self) -> int:
        """p, the number of parameters."""
        return sum(parameter.numel() for parameter in self.factory().parameters())

    @property
    def setup(self) -> dict[str, Any]:
        """What verdicts compare with the paper's set-up."""
        layers = [part for part in self.factory().modules() if isinstance(part, nn.Linear)]
        widths = [layers[0].in_features, *(layer.out_features for layer in layers)]
        kept = ("epochs", "batch_size", "learning_rate", "momentum", "weight_decay")
        return {
            "published": self.published,
            "data": self.label.partition(", MLP-4")[0],
            "members": self.n_members,
            "architecture": "-".join(map(str, widths)),
            # The target's complement is none of its references.
            "reference_models": len(self.membership) - 2,
            "recipe": {name: getattr(self.config, name) for name in kept},
        }


def task(subject: Subject, settings: Settings) -> Task:
    """One data set with one network, ready to train on."""
    name = subject.name
    loaded = data.load(name, root=settings.data_root or None)
    recipe = recipe_of(name, loaded.name, subject.large)
    pool, test = _split(loaded, recipe, settings.seed)
    limit = subject.most_parameters or settings.most_parameters
    if is_purchase(name):
        pool = _learnable(pool, recipe, limit)
    data.require(pool, n_records=LEAST_RECORDS)
    pool = pool.select(np.arange(len(pool) // 2 * 2)) if len(pool) % 2 else pool
    single = addresses.read(name).parity
    deep = subject.deep and not single
    count, targets, most_queries = _counts(subject, settings, deep or subject.large)
    paper_hidden = DEEP if deep else recipe.hidden
    n_features, n_outputs = int(np.prod(pool.x.shape[1:])), 1 if single else pool.n_classes
    hidden = fitting(n_features, paper_hidden, n_outputs, limit)
    factory = (
        partial(one_logit, n_features)
        if single
        else partial(models.mlp, n_features, hidden, n_outputs)
    )
    depth = ", MLP-4" if deep else ""
    draft = Task(
        label=recipe.label + depth,
        published=recipe.published + depth if recipe.published else "",
        pool=pool,
        test=test,
        factory=factory,
        config=_config(recipe, settings, len(pool), single),
        membership=halves(count, len(pool), settings.seed),
        origin={loaded.name: loaded.digest},
        deviations=(),
        targets=targets,
        n_queries=min(most_queries, len(pool)),
    )
    deviations = _deviations(draft, recipe, paper_hidden, hidden)
    return replace(draft, deviations=tuple(deviations))


def _counts(
    subject: Subject, settings: Settings, another: bool
) -> tuple[int, tuple[int, ...], int]:
    """How many models there are, which of them are attacked, and of most how many records."""
    count, n_targets = subject.n_models or settings.n_models, settings.n_targets
    most_queries = settings.n_queries
    if subject.full:
        most_queries = min(most_queries, FULL_QUERIES)
    elif is_purchase(subject.name):
        n_targets = min(n_targets, TARGETS_OF_OTHERS) if another else n_targets
        if subject.name.startswith("purchase_like"):
            most_queries = min(most_queries, SIMULATED_QUERIES)
            count = min(count, SIMULATED_MODELS)
    step = 2 if subject.full else 1
    return count, tuple(range(min(n_targets, count))[::step]), most_queries


def _config(
    recipe: Recipe, settings: Settings, n_records: int, single: bool
) -> training.TrainingConfig:
    """The recipe, its batches cut where half of the records would make too few steps."""
    return training.TrainingConfig(
        epochs=settings.epochs or recipe.epochs,
        batch_size=max(2, min(recipe.batch_size, n_records // 2 // LEAST_STEPS)),
        learning_rate=recipe.learning_rate,
        momentum=0.9,
        weight_decay=5e-4,
        schedule="cosine",
        loss="squared-error" if single else "cross-entropy",
    )


def about_task(task: Task) -> dict[str, Any]:
    """The attributes that say what was trained on what."""
    shape = [type(part).__name__ for part in task.factory().modules()]
    return {
        "set": task.label,
        "published": task.published,
        "data": task.origin,
        "recipe": {
            **asdict(task.config),
            "members": task.n_members,
            "parameters": task.n_parameters,
            "layers": shape.count("Linear"),
        },
        "pool": len(task.pool),
        "deviations": list(task.deviations),
        "setup": task.setup,
    }


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


def _learnable(pool: data.Dataset, recipe: Recipe, most_parameters: int) -> data.Dataset:
    """All classes where the recipe's network is small enough, else the largest few."""
    if size_of(pool.x.shape[1], recipe.hidden, pool.n_classes) <= most_parameters:
        return pool
    by_size = np.argsort(-np.bincount(pool.y, minlength=pool.n_classes), kind="stable")
    return data.keep_classes(pool, by_size[:FEW_CLASSES].tolist())


def _split(
    loaded: data.Dataset, recipe: Recipe, seed: int
) -> tuple[data.Dataset, data.Dataset | None]:
    """The records to train on, and others to test on where there are some.

    Those of an official split; of Purchase-100, which has none, the paper takes a part at random.
    """
    if loaded.name == "purchase100" and len(loaded) > recipe.pool:
        order = np.random.default_rng([seed, 37]).permutation(len(loaded))
        return tuple(loaded.select(rows) for rows in np.split(order, [recipe.pool]))
    if loaded.official_train is None:
        return loaded, None
    return loaded.select(loaded.official_train), loaded.select(~loaded.official_train)


def of_models(count: int) -> str:
    """How the number of models departs from the paper's."""
    return f"{count} models (the paper: {PAPER_MODELS})"


def _deviations(
    task: Task, recipe: Recipe, paper_hidden: tuple[int, ...], hidden: tuple[int, ...]
) -> list[str]:
    """What is smaller than in the paper, or other; empty for the paper's own data and sizes."""
    if not recipe.published:
        return ["none of the paper's data sets"]
    deviations = []
    if recipe.label != recipe.published:
        deviations.append(f"simulated records instead of {recipe.published}")
    if recipe.published.startswith("Purchase") and task.pool.n_classes != 100:
        deviations.append(f"{task.pool.n_classes} of 100 classes")
    if len(task.pool) != recipe.pool:
        deviations.append(f"a pool of {len(task.pool):,} records (the paper: {recipe.pool:,})")
    if task.config.epochs != recipe.epochs:
        deviations.append(f"{task.config.epochs} epochs (the released code: {recipe.epochs})")
    if len(task.membership) != PAPER_MODELS:
        deviations.append(of_models(len(task.membership)))
    if hidden != paper_hidden:
        deviations.append(f"hidden layers of {hidden} units (the paper: {paper_hidden})")
    return deviations


CHUNK = 8192
# Numbers in the batches of one step, all models together, below which a second thread only waits.
WORTH_A_THREAD = 4_000_000


@dataclass(frozen=True)
class Trained:
    """The models of one task.

    Attributes
    ----------
    task : Task
    ensemble : training.Ensemble
        In the order of the task's memberships.
    seed : int
    """

    task: Task
    ensemble: training.Ensemble
    seed: int

    @property
    def targets(self) -> list[int]:
        """The models that are attacked."""
        return list(self.task.targets)

    @property
    def device(self) -> str:
        """Where they were trained."""
        return str(self.ensemble.device)

    @property
    def queries(self) -> np.ndarray:
        """Records that every target is asked about, sorted: about half of them its members."""
        rng = np.random.default_rng([self.seed, 11])
        return np.sort(rng.choice(len(self.task.pool), self.task.n_queries, replace=False))

    @property
    def recipe(self) -> dict[str, float]:
        """What IHA needs to know: the initial learning rate, as the released code."""
        config = self.task.config
        return {
            name: getattr(config, name) for name in ("learning_rate", "momentum", "weight_decay")
        }

    def sample_queries(self, count: int) -> np.ndarray:
        """At most so many of the queries, at random, sorted."""
        if count >= len(self.queries):
            return self.queries
        rng = np.random.default_rng([self.seed, 31])
        return np.sort(rng.choice(self.queries, count, replace=False))


def train(task: Task, settings: Settings, models: Sequence[int] = ()) -> Trained:
    """Train the models of one task, or find them in the cache; some of them have their numbers."""
    numbers = len(task.membership) * task.config.batch_size * task.pool.x[0].size
    ensemble = training.train(
        task.factory,
        task.pool,
        task.membership,
        task.config,
        [settings.seed * 10_000 + model for model in models or range(len(task.membership))],
        device=settings.device,
        n_jobs=settings.n_jobs if numbers >= WORTH_A_THREAD else 1,
    )
    return Trained(task, ensemble, settings.seed)


def scaled_logits(ensemble: training.Ensemble, x: np.ndarray, y: np.ndarray) -> FloatArray:
    """Log-odds of the true label, shape (models, records), also of models with one logit."""
    return _signal(signals.scaled_logit, ensemble, x, y)


def utility(trained: Trained) -> dict[str, FloatArray]:
    """Accuracy and mean loss of every model on unseen records."""
    task = trained.task
    records = task.pool if task.test is None else task.test
    right = _signal(signals.correct, trained.ensemble, records.x, records.y)
    unseen = ~task.membership if task.test is None else np.ones(right.shape, bool)
    scaled = scaled_logits(trained.ensemble, records.x, records.y)
    losses = signals.loss_of_log_odds(scaled, task.config.loss)
    return {
        "test accuracy (%)": 100.0 * np.mean(right, axis=1, where=unseen),
        "test loss": np.mean(losses, axis=1, where=unseen),
    }


def _signal(signal, ensemble: training.Ensemble, x: np.ndarray, y: np.ndarray) -> FloatArray:
    """One of `membership.signals` in parts, where a single logit becomes the two (0, logit)."""
    parts = []
    for first in range(0, len(y), CHUNK):
        rows = slice(first, first + CHUNK)
        logits = ensemble.logits(x[rows])
        if logits.shape[-1] == 1:
            logits = torch.cat([torch.zeros_like(logits), logits], dim=-1)
        parts.append(signal(logits, None, y[rows]))
    return np.concatenate(parts, axis=1)
