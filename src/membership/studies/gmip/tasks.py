"""Data sets as the paper uses them: fixed features, and one softmax layer to train on them."""

import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from membership import data
from membership.arrays import FloatArray
from membership.errors import InputError

# Records for each dimension of the gradients' covariance that its estimate needs at least.
LEAST_BACKGROUND = 1.5
RATIO = 1.3
# Records that the loss attack is asked about; see `loss_attack`.
LENGTHS = ("few", "many")
# Above, the covariances of a run's steps take longer than the rest of the chapter.
LARGEST_RANK = 1000


@dataclass(frozen=True)
class Recipe:
    """What Tables 3 and 4 say of a data set, and the features beneath its softmax layer."""

    label: str
    width: int
    classes: int
    audit_batch: int
    n_records: int
    n_test: int
    batch_size: int
    epochs: int
    clip: float
    learning_rate: float

    @property
    def dimension(self) -> int:
        """Number of parameters d of the softmax layer."""
        return self.classes * (self.width + 1)

    @property
    def rank(self) -> int:
        """Dimensions that the gradients of a softmax layer fill at most."""
        return (self.classes - 1) * (self.width + 1)

    @property
    def steps(self) -> int:
        """Steps T of the utility study."""
        return self.n_records // self.batch_size * self.epochs


RECIPES = {
    "adult": Recipe("Adult", 512, 2, 790, 43_000, 5_000, 1000, 20, 800.0, 2e-3),
    "cifar10": Recipe("CIFAR-10", 64, 10, 500, 48_000, 10_000, 400, 10, 500.0, 1e-3),
    "purchase_like": Recipe("Purchase", 128, 20, 1970, 54_855, 10_000, 795, 3, 2000.0, 2e-3),
}

# Display names; simulated records stand in for Purchase and are not called that.
NAMES = {"adult": "Adult", "cifar10": "CIFAR-10", "purchase_like": "Purchase-like"}


@dataclass(frozen=True)
class Task:
    """A softmax layer to train.

    Attributes
    ----------
    name : str
        Of the data set, as the tables name it.
    features : numpy.ndarray of float64, shape (records, width)
        Standardised.
    y : numpy.ndarray of int64, shape (records,)
    n_test : int
        The first records are for testing, the others for training.
    recipe : Recipe
        Sizes as used here.
    published : str
        The paper's name for the data set, where it is one of the paper's; else empty.
    digests : dict
    deviations : tuple of str
    """

    name: str
    features: FloatArray
    y: np.ndarray
    n_test: int
    recipe: Recipe
    published: str
    digests: dict[str, str]
    deviations: tuple[str, ...]

    @property
    def dimension(self) -> int:
        """Number of parameters d of the softmax layer."""
        return self.recipe.dimension

    @property
    def batch(self) -> int:
        """Members n of an audited model; the others come from the test records."""
        return min(self.recipe.audit_batch, self.n_test)

    @property
    def train(self) -> slice:
        """The records to train on."""
        return slice(self.n_test, self.n_test + self.recipe.n_records)

    @property
    def steps(self) -> int:
        """Steps T of the utility study."""
        return self.recipe.steps


def task(name: str, settings: Any) -> Task:
    """Load one data set and its fixed features, ready to train on."""
    it = settings
    return load_task(name, it.data_root, it.pretrain_epochs, it.seed, it.device)


def load_task(name: str, data_root: str, pretrain_epochs: int, seed: int, device: str) -> Task:
    """The same from the settings that it depends on."""
    loaded = data.load(name, root=data_root or None)
    rng = np.random.default_rng([seed, 1])
    if loaded.name == "purchase_like":
        made = _purchase(loaded, pretrain_epochs, seed, device)
    elif loaded.name == "cifar10":
        made = _cifar(loaded, data_root, pretrain_epochs, seed, device)
    else:
        made = _random_features(loaded, rng)
    x, y, recipe, digests, deviations = made
    order = rng.permutation(len(y))
    x, y = _standardised(x[order]), y[order]
    n_test = min(recipe.n_test, len(y) // 5)
    recipe, more = _fitted(recipe, len(y) - n_test, recipe.label == "")
    return Task(
        name=NAMES.get(loaded.name, loaded.name),
        features=x,
        y=y,
        n_test=n_test,
        recipe=recipe,
        published=recipe.label,
        digests={loaded.name: loaded.digest, **digests},
        deviations=(*deviations, *more),
    )


def fitted_recipe(name: str, n: int, classes: int) -> Recipe:
    """The sizes that a data set of n records would be used with; errors as for `task`."""
    recipe = RECIPES.get(name) or _own_recipe(n, classes)
    if name == "purchase_like":  # its largest classes only, which need not be counted for this
        return recipe
    n_test = min(recipe.n_test, n // 5)
    return _fitted(recipe, n - n_test, recipe.label == "")[0]


def _fitted(recipe: Recipe, n_train: int, unpublished: bool) -> tuple[Recipe, list[str]]:
    """Sizes cut down to the records there are; what was cut, for the data sets of the paper."""
    rank = (recipe.classes - 1) * (recipe.width + 1)
    room = n_train - math.ceil(LEAST_BACKGROUND * rank)
    if room < 2:
        raise InputError(
            f"dataset has {n_train} records to train on, too few to estimate a covariance of rank "
            f"{rank} ({recipe.classes} classes, {recipe.width} features); give at least "
            f"{math.ceil(1.25 * (LEAST_BACKGROUND * rank + 2))} records of these classes"
        )
    sizes = {
        "audit_batch": min(recipe.audit_batch, room),
        "n_records": min(recipe.n_records, n_train),
        "batch_size": min(recipe.batch_size, n_train),
    }
    texts = [
        f"{name.replace('_', ' ')} {value} (the paper: {getattr(recipe, name)})"
        for name, value in sizes.items()
        if value != getattr(recipe, name) and not unpublished
    ]
    return Recipe(**{**vars(recipe), **sizes}), texts


def _random_features(loaded: data.Dataset, rng: np.random.Generator):
    """The paper's network for Adult: a frozen random layer with tanh, on standardised columns."""
    flat = _standardised(loaded.x.reshape(len(loaded.x), -1).astype(np.float64))
    known = RECIPES.get(loaded.name)
    deviations = [] if known else [f"{loaded.name} is none of the paper's data sets"]
    recipe = known or _own_recipe(len(flat), loaded.n_classes)
    bound = 1 / math.sqrt(flat.shape[1])
    weight = rng.uniform(-bound, bound, (flat.shape[1], recipe.width))
    bias = rng.uniform(-bound, bound, recipe.width)
    return np.tanh(flat @ weight + bias), loaded.y, recipe, {}, deviations


def _own_recipe(n: int, classes: int) -> Recipe:
    """Sizes for other data: d = 1.3 n as in Table 3, 20 epochs as for Adult.

    C is twice the typical norm of the features: as in Table 4, few gradients or none are clipped.
    """
    width = min(64, int(0.125 * n / (classes - 1)) - 1)
    if width < 1:
        raise InputError(
            f"dataset has {n} records of {classes} classes; give at least {16 * (classes - 1)}"
        )
    batch = round(classes * (width + 1) / RATIO)
    size, clip = max(n // 16, 2), 2 * math.sqrt(width + 1)
    return Recipe("", width, classes, max(batch, 2), n, n // 6, size, 20, clip, 2e-3)


def _purchase(loaded: data.Dataset, epochs: int, seed: int, device: str):
    """The paper's network: trained on 80 classes, its last hidden layer used for the other 20."""
    from membership import models, training

    by_size = np.argsort(-np.bincount(loaded.y, minlength=loaded.n_classes), kind="stable")
    kept, others = (data.keep_classes(loaded, c.tolist()) for c in (by_size[:20], by_size[20:]))
    config = training.TrainingConfig(
        epochs=epochs, batch_size=128, learning_rate=1e-3, optimiser="adam"
    )
    factory = partial(models.mlp, loaded.x.shape[1], (1024, 128), others.n_classes, "tanh")
    everyone = np.ones((1, len(others)), dtype=bool)
    trained = training.train(factory, others, everyone, config, [seed], device=device)
    deviations = ["simulated Purchase-like records", "no dropout in the pre-trained network"]
    found = _hidden(trained.module(0), kept.x)
    return found, kept.y, RECIPES["purchase_like"], {}, deviations


def _cifar(loaded: data.Dataset, data_root: str, epochs: int, seed: int, device: str):
    """A network trained on CIFAR-100, its last layer's inputs brought to 64 by PCA."""
    from sklearn.decomposition import PCA

    from membership import models, training

    source = data.load("cifar100_20k", root=data_root or None)
    config = training.TrainingConfig(
        epochs=epochs,
        batch_size=128,
        learning_rate=0.1,
        momentum=0.9,
        weight_decay=5e-4,
        schedule="cosine",
    )
    factory = partial(models.resnet, 18, source.n_classes, stem="imagenet")
    split = source.official_train
    rows = np.ones(len(source), dtype=bool) if split is None else split
    trained = training.train(factory, source, rows[None], config, [seed], device=device)
    recipe = RECIPES["cifar10"]
    found = _hidden(trained.module(0), loaded.x)
    reduced = PCA(recipe.width, random_state=0).fit_transform(found)
    deviations = [
        f"ResNet-18 trained {epochs} epochs on 20,000 records of CIFAR-100, 64 "
        "principal components (the paper: ResNet-56 trained on all of it)"
    ]
    return reduced, loaded.y, recipe, {source.name: source.digest}, deviations


def _hidden(network: Any, x: np.ndarray) -> FloatArray:
    import torch

    with torch.no_grad():
        parts = [network.features(part) for part in torch.tensor(x).split(512)]
    return torch.cat(parts).double().numpy()


def _standardised(x: FloatArray) -> FloatArray:
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)


def words(settings: Any) -> dict[str, str]:
    """The word for each data set of a run that names its files."""
    found: dict[str, str] = {}
    for name in dict.fromkeys([settings.dataset, *settings.also_datasets]):
        word = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-") or "own"
        found[name] = word if word not in found.values() else f"{word}-{len(found) + 1}"
    return found


def small_words(settings: Any) -> dict[str, str]:
    """Those of the data sets whose covariance is small enough to be taken at many steps."""
    return {
        name: word
        for name, word in words(settings).items()
        if (known := RECIPES.get(name.split(":")[0])) is None or known.rank <= LARGEST_RANK
    }


def first_word(settings: Any) -> dict[str, str]:
    """That of the run's own data set: what takes long is asked of it alone."""
    return {settings.dataset: words(settings)[settings.dataset]}
