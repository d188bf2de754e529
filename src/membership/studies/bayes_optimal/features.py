"""The two classes of Table 1 as feature vectors."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from membership import data, models, training
from membership.errors import InputError

PRETRAINING = training.TrainingConfig(
    epochs=1,
    batch_size=128,
    learning_rate=0.1,
    momentum=0.9,
    weight_decay=5e-4,
    schedule="cosine",
)


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
    comparable : bool
        Whether they are features of CIFAR-10's trucks and ships.
    device : str
        Where the feature network was trained.
    """

    x: np.ndarray
    y: np.ndarray
    digests: dict[str, str]
    deviations: tuple[str, ...]
    comparable: bool
    device: str = "cpu"

    def attrs(self, repeats: int) -> dict:
        """What a table made from these features says about its origin."""
        more = () if repeats >= 100 else (f"{repeats} random splits (the paper: 100)",)
        return {
            "data": self.digests,
            "deviations": [*self.deviations, *more],
            "comparable": self.comparable,
            "device": self.device,
        }


def pair(settings) -> tuple[data.Dataset, data.Dataset]:
    """The whole data set, and the records of its two classes, labelled 0 and 1.

    Parameters
    ----------
    settings : Settings
        Uses ``dataset``, ``data_root`` and ``classes``; without classes, the two largest.

    Raises
    ------
    InputError
        The data set cannot be loaded, or lacks a class.
    """
    dataset = data.load(settings.dataset, root=settings.data_root or None)
    return dataset, data.keep_classes(dataset, settings.classes or _largest_two(dataset))


def two_classes(settings) -> Features:
    """Load the data set, keep two classes, and compute their features.

    Parameters
    ----------
    settings : Settings
        Uses ``dataset``, ``data_root``, ``classes``, ``feature_network``,
        ``feature_epochs``, ``seed`` and ``device``.

    Returns
    -------
    Features
        Raw pixels or columns, or the last hidden layer of a network trained on another data set.

    Raises
    ------
    InputError
        A class is missing, or the feature network does not fit the records.
    """
    root = settings.data_root or None
    dataset, both = pair(settings)
    x = both.x
    digests = {dataset.name: dataset.digest}
    comparable = both.name == "cifar10-9-8"
    deviations = [] if comparable else [f"{both.name} instead of CIFAR-10's trucks and ships"]
    if settings.feature_network == "raw":
        deviations.append("no feature network: the records as they are")
        values, device = x.reshape(len(x), -1).astype(float), "cpu"
    else:
        network, source, device = _network(settings, root)
        digests[source.name] = source.digest
        deviations += _network_deviations(settings, network, source)
        values = _last_hidden(network, x)
    return Features(
        _standardised(values), both.y, digests, tuple(deviations), comparable, device=str(device)
    )


def _largest_two(dataset: data.Dataset) -> list[int]:
    counts = np.bincount(dataset.y, minlength=dataset.n_classes)
    return [int(label) for label in np.argsort(-counts, kind="stable")[:2]]


def _network(settings, root: str | None):
    """A network trained on other data, with that data set and the device it was trained on."""
    source = data.load(_cifar100_at_hand(root), root=root)
    shape = source.x.shape[1:]
    factory = {
        "resnet18": partial(models.resnet, 18, source.n_classes, stem="imagenet"),
        "resnet18-cifar": partial(models.resnet, 18, source.n_classes, stem="cifar"),
        "small-cnn": partial(models.small_cnn, shape, source.n_classes),
    }[settings.feature_network]
    config = training.TrainingConfig(**{**vars(PRETRAINING), "epochs": settings.feature_epochs})
    train_split = source.official_train
    mask = np.ones(len(source.y), bool) if train_split is None else train_split
    ensemble = training.train(
        factory,
        source,
        mask[None],
        config,
        [settings.seed],
        device=settings.device,
        n_jobs=settings.n_jobs,
    )
    return ensemble.module(0), source, ensemble.device


def _cifar100_at_hand(root: str | None) -> str:
    """The prepared 20,000 records where only they lie here; else all, downloaded if need be."""
    status = {name: data.check(name, root=root).status for name in ("cifar100", "cifar100_20k")}
    only_some = status["cifar100"] == "missing" and status["cifar100_20k"] == "ok"
    return "cifar100_20k" if only_some else "cifar100"


def _network_deviations(settings, network: torch.nn.Module, source: data.Dataset) -> list[str]:
    return [
        f"features: {settings.feature_network} trained {settings.feature_epochs} epochs on "
        f"{source.name} (the paper: a ResNet-18 pre-trained on CIFAR-100, details unstated)"
    ]


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
