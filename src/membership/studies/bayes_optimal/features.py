"""The two classes of Table 1 as feature vectors."""

import functools
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from membership import data, models, training
from membership.arrays import deviation
from membership.errors import InputError
from membership.studies.bayes_optimal.settings import Settings, feature_source

# Trucks and ships in CIFAR-10, with its test records.
PAPER_RECORDS = 12_000
PRETRAINING = training.TrainingConfig(
    epochs=1,
    batch_size=128,
    learning_rate=0.1,
    momentum=0.9,
    weight_decay=5e-4,
    schedule="cosine",
    augmentation="flip-and-crop",
)
# Of a feature network: half the time on a CPU that has it.
PRECISION = "bfloat16"
# Records of the other data set that tell how good the feature network is, where it has no split.
HELD_OUT = 1000


@dataclass(frozen=True)
class Features:
    """Records of two classes.

    Attributes
    ----------
    x : numpy.ndarray of float64, shape (records, d)
        Standardised to mean 0 and variance 1 in every coordinate that varies.
    y : numpy.ndarray of int, shape (records,)
        0 or 1.
    digests : dict
        Digest of each data set that went in.
    deviations : tuple of str
        In what they differ from the paper's.
    setup : dict
        Data, architecture and recipe, as `membership.published.comparability` takes them.
    device : str
        Where the feature network was trained.
    """

    x: np.ndarray
    y: np.ndarray
    digests: dict[str, str]
    deviations: tuple[str, ...]
    setup: dict[str, Any]
    device: str = "cpu"


@functools.lru_cache(maxsize=1)
def two_classes(settings: Settings) -> Features:
    """Load the data set, keep two classes, and compute their features, once for all sizes."""
    dataset, two = settings.pair()
    x = two.x
    digests = {dataset.name: dataset.digest}
    same = two.name == "cifar10-9-8"
    deviations = [] if same else [f"{two.name} instead of CIFAR-10's trucks and ships"]
    if same and len(two.y) < PAPER_RECORDS:
        deviations.append(f"{len(two.y):,} trucks and ships (CIFAR-10 has {PAPER_RECORDS:,})")
    setup: dict[str, Any] = {"data": "CIFAR-10 trucks and ships" if same else two.name}
    if settings.feature_network == "raw":
        deviations.append("no feature network: the records as they are")
        values, device = x.reshape(len(x), -1).astype(float), "cpu"
        setup["architecture"] = "logistic regression on the records as they are"
    else:
        learnt = trained(settings.feature_network, settings.feature_epochs, x, settings)
        values, device = learnt.x, learnt.device
        digests |= learnt.digests
        deviations.append(
            f"features: {learnt.words} (the paper: a ResNet-18 pre-trained on "
            "CIFAR-100, details unstated)"
        )
        named = re.sub(r"^resnet(\d+).*", r"ResNet-\1", settings.feature_network)
        setup["architecture"] = f"logistic regression on {named} features"
        setup["recipe"] = {"pre-training": "CIFAR-100"}
    return Features(
        with_unit_variance(values), two.y, digests, tuple(deviations), setup, device=device
    )


@dataclass(frozen=True)
class Learnt:
    """Records as a network trained on other data sees them.

    Attributes
    ----------
    x : numpy.ndarray of float64, shape (records, d)
        What its last layer takes.
    words : str
        The network, its training, and how often it is right.
    digests : dict
        Digest of the data it was trained on.
    device : str
        Where.
    """

    x: np.ndarray
    words: str
    digests: dict[str, str]
    device: str


def trained(name: str, epochs: int, x: np.ndarray, settings) -> Learnt:
    """Train a network, named as `settings.feature_network` is, and show it records."""
    root = settings.data_root or None
    source = data.load(feature_source(root), root=root)
    shape = source.x.shape[1:]
    factory = {
        "resnet18": partial(models.resnet, 18, source.n_classes, stem="imagenet"),
        "resnet18-pooled": partial(models.resnet, 18, source.n_classes, stem="pooled"),
        "resnet18-cifar": partial(models.resnet, 18, source.n_classes, stem="cifar"),
        "small-cnn": partial(models.small_cnn, shape, source.n_classes),
    }[name]
    seen = _seen(source, settings.seed)
    ensemble = training.train(
        factory,
        source,
        seen[None],
        replace(PRETRAINING, epochs=epochs, precision=PRECISION),
        [settings.seed],
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    answers = ensemble.logits(source.x[~seen], batch_size=512)[0].argmax(1).numpy()
    accuracy = float((answers == source.y[~seen]).mean())
    words = (
        f"{name} trained {epochs} epochs on {source.name}, right on {100 * accuracy:.0f}% of those "
        "of its records that it has not seen"
    )
    values = _last_hidden(ensemble.module(0).get_submodule("features"), x)
    return Learnt(values, words, {source.name: source.digest}, str(ensemble.device))


def _seen(source: data.Dataset, seed: int) -> np.ndarray:
    """Which records of the other data set the feature network is trained on."""
    if source.official_train is not None:
        return source.official_train
    count = min(HELD_OUT, len(source.y) // 10)
    seen = np.ones(len(source.y), dtype=bool)
    seen[np.random.default_rng([seed, count]).permutation(len(source.y))[:count]] = False
    return seen


def _last_hidden(features: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    try:
        with torch.no_grad():
            parts = [features(part) for part in torch.tensor(x).split(512)]
    except RuntimeError as error:
        raise InputError(
            f"feature_network: it was trained on other shapes than {tuple(x.shape[1:])} records; "
            "use feature_network = raw"
        ) from error
    return torch.cat(parts).double().numpy()


def with_unit_variance(x: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1 in every coordinate that varies."""
    spread = deviation(x)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)
