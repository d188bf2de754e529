"""The two classes of Table 1 as feature vectors."""

import re
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch

from membership import data, models, training
from membership.errors import InputError
from membership.studies.bayes_optimal.requirements import feature_source, pair

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
    setup: dict
    device: str = "cpu"


def two_classes(settings) -> Features:
    """Load the data set, keep two classes, and compute their features."""
    root = settings.data_root or None
    dataset, both = pair(settings)
    x = both.x
    digests = {dataset.name: dataset.digest}
    same = both.name == "cifar10-9-8"
    deviations = [] if same else [f"{both.name} instead of CIFAR-10's trucks and ships"]
    if same and len(both.y) < PAPER_RECORDS:
        deviations.append(f"{len(both.y):,} trucks and ships (CIFAR-10 has {PAPER_RECORDS:,})")
    setup = {"data": "CIFAR-10 trucks and ships" if same else both.name}
    if settings.feature_network == "raw":
        deviations.append("no feature network: the records as they are")
        values, device = x.reshape(len(x), -1).astype(float), "cpu"
        setup["architecture"] = "logistic regression on the records as they are"
    else:
        network, source, accuracy, device = _network(settings, root)
        digests[source.name] = source.digest
        deviations.append(_network_deviation(settings, source, accuracy))
        values = _last_hidden(network, x)
        named = re.sub(r"^resnet(\d+).*", r"ResNet-\1", settings.feature_network)
        setup["architecture"] = f"logistic regression on {named} features"
        setup["recipe"] = {"pre-training": "CIFAR-100"}
    return Features(
        _standardised(values), both.y, digests, tuple(deviations), setup, device=str(device)
    )


def _network(settings, root: str | None):
    """A network trained on other data, that data set, its accuracy there, and its device."""
    source = data.load(feature_source(root), root=root)
    shape = source.x.shape[1:]
    factory = {
        "resnet18": partial(models.resnet, 18, source.n_classes, stem="imagenet"),
        "resnet18-pooled": partial(models.resnet, 18, source.n_classes, stem="pooled"),
        "resnet18-cifar": partial(models.resnet, 18, source.n_classes, stem="cifar"),
        "small-cnn": partial(models.small_cnn, shape, source.n_classes),
    }[settings.feature_network]
    config = replace(PRETRAINING, epochs=settings.feature_epochs)
    seen = _seen(source, settings.seed)
    ensemble = training.train(
        factory,
        source,
        seen[None],
        config,
        [settings.seed],
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    answers = ensemble.logits(source.x[~seen], batch_size=512)[0].argmax(1).numpy()
    accuracy = float((answers == source.y[~seen]).mean())
    return ensemble.module(0), source, accuracy, ensemble.device


def _seen(source: data.Dataset, seed: int) -> np.ndarray:
    """Which records of the other data set the feature network is trained on."""
    if source.official_train is not None:
        return source.official_train
    count = min(HELD_OUT, len(source.y) // 10)
    seen = np.ones(len(source.y), dtype=bool)
    seen[np.random.default_rng([seed, count]).permutation(len(source.y))[:count]] = False
    return seen


def _network_deviation(settings, source: data.Dataset, accuracy: float) -> str:
    return (
        f"features: {settings.feature_network} trained {settings.feature_epochs} epochs on "
        f"{source.name}, right on {100 * accuracy:.0f}% of those of its records that it has not "
        "seen (the paper: a ResNet-18 pre-trained on CIFAR-100, details unstated)"
    )


def _last_hidden(network: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    try:
        with torch.no_grad():
            parts = [network.features(part) for part in torch.tensor(x).split(512)]
    except RuntimeError as error:
        raise InputError(
            f"feature_network: it was trained on other shapes than {tuple(x.shape[1:])} records; "
            "use feature_network = raw"
        ) from error
    return torch.cat(parts).double().numpy()


def _standardised(x: np.ndarray) -> np.ndarray:
    spread = x.std(0)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)
