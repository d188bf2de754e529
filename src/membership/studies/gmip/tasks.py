"""Data sets as the paper uses them: fixed features, and one softmax layer to train on them."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from membership import data
from membership.arrays import FloatArray
from membership.studies.gmip.recipes import NAMES, RECIPES, Recipe, fitted_to, own_recipe

# Records that the loss attack is asked about; see `loss_attack`.
LENGTHS = ("few", "many")


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
    recipe, more = fitted_to(recipe, len(y) - n_test, recipe.label == "")
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


def _random_features(loaded: data.Dataset, rng: np.random.Generator):
    """The paper's network for Adult: a frozen random layer with tanh, on standardised columns."""
    flat = _standardised(loaded.x.reshape(len(loaded.x), -1).astype(np.float64))
    known = RECIPES.get(loaded.name)
    deviations = [] if known else [f"{loaded.name} is none of the paper's data sets"]
    recipe = known or own_recipe(len(flat), loaded.n_classes)
    bound = 1 / math.sqrt(flat.shape[1])
    weight = rng.uniform(-bound, bound, (flat.shape[1], recipe.width))
    bias = rng.uniform(-bound, bound, recipe.width)
    return np.tanh(flat @ weight + bias), loaded.y, recipe, {}, deviations


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
