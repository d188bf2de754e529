"""Data, splits and recipes: who is trained on what, as the paper's Appendix B has it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from membership import data, models, training
from membership.book.studies import patches
from membership.book.studies.bmia.settings import DIGITS, SHIFTED, Settings

USUAL = {
    DIGITS: {"tiny": ("mlp-32", 60), "quick": ("mlp-32", 120), "paper": ("mlp-32", 120)},
    "tabular": {
        "tiny": ("mlp-32", 40),
        "quick": ("mlp-128-64", 40),
        "paper": ("mlp-1024-512-256-128", 120),
    },
    "images": {"tiny": ("small-cnn", 2), "quick": ("small-cnn", 30), "paper": ("resnet18", 300)},
}
"""Network and epochs by kind of data and profile."""
IMAGES = {"cifar10": "resnet50", "cifar100_20k": "densenet121"}
"""The paper's networks for its own images."""
ON_A_CPU = {name: ("mlp-128", 20) for name in ("fashion_mnist", *patches.SOURCES)}
"""Network and epochs at paper size, on images that two cores get through."""
ASKED = 10_000
"""Queries of those, and twice the records for validation: what is kept of them stays small."""
LABELS = {
    "purchase_like": "Purchase-like (simulated)",
    "location30": "Location-30",
    "cifar10": "CIFAR-10",
    patches.PATCHES: "CIFAR-10 (patch features)",
    "fashion_mnist": "Fashion-MNIST",
    "cifar100_20k": "CIFAR-100 (20,000 records)",
    patches.PATCHES_100: "CIFAR-100 (patch features)",
}
PUBLISHED = {
    "purchase_like": "Purchase-100",
    "cifar10": "CIFAR-10",
    patches.PATCHES: "CIFAR-10",
    "cifar100_20k": "CIFAR-100",
    patches.PATCHES_100: "CIFAR-100",
}
"""The paper's names for data sets that are its own, or stand for them."""
NETWORKS: dict[str, Callable[..., Any]] = {
    "resnet18": partial(models.resnet, 18),
    "resnet34": partial(models.resnet, 34),
    "resnet50": partial(models.resnet, 50),
    "wide-resnet50": models.wide_resnet50,
    "densenet121": models.densenet121,
    "mobilenet-v2": models.mobilenet_v2,
    "efficientnet-b0": models.efficientnet_b0,
}
"""The paper's seven (Figure 4)."""
_REFERENCES = 1000
"""Seeds of reference models lie this far above those of the targets."""


@dataclass(frozen=True)
class World:
    """One data set split into roles, and who is trained on what.

    Attributes
    ----------
    name : str
        Of the data set.
    dataset : Dataset
    pool : int array of shape (queries,)
        Each target is trained on a random half of these records; of them queries are drawn.
    population : int array
        Each reference is trained on a random half of these; none is ever queried.
    validation : int array
        Records no model is trained on: QMIA's training set and RMIA's Z.
    queries : int array
        The places in the pool of the records that are queried, in order.
    targets, references : bool array of shape (models, records of the data set)
        Who is trained on which record.
    member : bool array of shape (targets, queries)
        The truth for each target.
    architecture : str
    config : TrainingConfig
        Of all models.
    settings : Settings
    first : int
        The number of the first target, or of the first reference.
    """

    name: str
    dataset: data.Dataset
    pool: np.ndarray
    population: np.ndarray
    validation: np.ndarray
    queries: np.ndarray
    targets: np.ndarray
    references: np.ndarray
    architecture: str
    config: training.TrainingConfig
    settings: Settings
    first: int = 0

    @property
    def label(self) -> str:
        """The data set as the tables name it."""
        return LABELS.get(self.name, self.name)

    @property
    def device(self) -> str:
        """Where the models are trained."""
        return str(training.device_of(self.settings.device))

    @property
    def deviations(self) -> list[str]:
        """In what this world differs from the paper's; the batch size is nowhere stated."""
        n_members, epochs = len(self.pool) // 2, self.config.epochs
        departures = [f"{n_members:,} members a model, {self.architecture}, {epochs} epochs"]
        if self.name == "purchase_like":
            departures.insert(0, "simulated data for Purchase-100")
        elif self.name == "cifar100_20k":
            departures.insert(0, "20,000 of the 60,000 records")
        elif self.name in patches.SOURCES:
            departures.insert(0, f"{self.dataset.x.shape[1]} fixed features of the images")
            if self.name == patches.PATCHES_100:
                departures.insert(0, "20,000 of the 60,000 records")
        elif self.name == "cifar10":
            papers = 60_000, IMAGES["cifar10"], USUAL["images"]["paper"][1]
            if (len(self.dataset), self.architecture, epochs) == papers:
                departures = []
        else:
            departures.insert(0, "none of the paper's data sets")
        if len(self.queries) < len(self.pool):
            departures.append(f"{len(self.queries):,} of the records queried")
        return [f"{self.label}: {text}" for text in departures]

    @property
    def setup(self) -> dict[str, Any]:
        """What verdicts compare with the paper's set-up."""
        half, config = len(self.pool) // 2, self.config
        member = self.member[:, self.queries]
        return {
            "published": PUBLISHED.get(self.name, ""),
            "data": self.label,
            "members": half,
            "architecture": self.architecture,
            "recipe": {
                "epochs": config.epochs,
                "learning_rate": config.learning_rate,
                "momentum": config.momentum,
                "weight_decay": config.weight_decay,
            },
            "reference_models": len(self.references),
            "queried_members": int(member.sum(axis=1).min()),
            "queried_non_members": int((~member).sum(axis=1).min()),
            "attacks": {
                "RMIA": "a = 0.3, not tuned",
                "QMIA": "a small network without search of hyper-parameters",
            },
        }

    @property
    def member(self) -> np.ndarray:
        """The truth for each target, (targets, queries)."""
        return self.targets[:, self.pool]

    def train(self, architecture: str = "", n_reference: int = 0) -> training.Ensemble:
        """Targets first, then references, of this world's architecture or another."""
        masks = self.references[: n_reference or None]
        seed = 10_000 * self.settings.seed + self.first
        seeds = [
            *range(seed, seed + len(self.targets)),
            *range(seed + _REFERENCES, seed + _REFERENCES + len(masks)),
        ]
        return training.train(
            factory(architecture or self.architecture, self.dataset),
            self.dataset,
            np.concatenate([self.targets, masks]),
            self.config,
            seeds,
            device=self.settings.device,
            n_jobs=self.settings.n_jobs,
        )

    def alone(self, kind: str, number: int) -> "World":
        """With a "target" or a "reference" and no other model; it ends as among the others."""
        one = slice(number, number + 1)
        kept = {"target": (one, slice(0)), "reference": (slice(0), one)}[kind]
        targets, references = self.targets[kept[0]], self.references[kept[1]]
        return replace(self, targets=targets, references=references, first=number)


def world(name: str, settings: Settings) -> World:
    """One data set split 20 : 20 : 40 : 20; nothing is trained yet."""
    loaded = patches.load(name, settings.data_root or None)
    architecture, config = recipe_of(loaded, settings)
    few = settings.profile == "paper" and loaded.name in ON_A_CPU
    order = np.random.default_rng([settings.seed, 20]).permutation(len(loaded))
    fifth = len(loaded) // 5
    pool, population = order[: 2 * fifth], order[2 * fifth : 4 * fifth]
    return World(
        name=loaded.name,
        dataset=loaded,
        pool=pool,
        population=population,
        validation=order[4 * fifth :][: ASKED // 2 if few else None],
        queries=some_of(settings.seed, 2 * fifth, ASKED) if few else np.arange(2 * fifth),
        targets=_halves(pool, settings.n_targets, len(loaded), 2 * settings.seed),
        references=_halves(population, settings.n_reference, len(loaded), 2 * settings.seed + 1),
        architecture=architecture,
        config=config,
        settings=settings,
    )


def recipe_of(dataset: data.Dataset, settings: Settings) -> tuple[str, training.TrainingConfig]:
    """The network and the paper's training for this kind of data, at the size of the profile.

    The learning rate is divided by 10 at 5/12 and 10/12 of the epochs (1/2 and 3/4 for images).
    """
    kind = "images" if dataset.x.ndim == 4 else "tabular"
    kind = DIGITS if dataset.name == DIGITS else kind
    architecture, epochs = USUAL[kind][settings.profile]
    if settings.profile == "paper":
        architecture = IMAGES.get(dataset.name, architecture)
        if dataset.name in ON_A_CPU:
            kind, (architecture, epochs) = "images", ON_A_CPU[dataset.name]
    epochs = settings.epochs or epochs
    drops = 5 * epochs // 12, 10 * epochs // 12
    config = training.TrainingConfig(
        epochs=epochs,
        batch_size=64 if kind == DIGITS else 128,
        learning_rate=0.1,
        momentum=0.9,
        weight_decay=1e-4,
        schedule="milestones",
        milestones=(epochs // 2, 3 * epochs // 4) if kind == "images" else drops,
    )
    return settings.architecture or architecture, config


def factory(architecture: str, dataset: data.Dataset) -> Callable[[], Any]:
    """A function that makes an untrained network for these records, which the settings allow."""
    size, classes = dataset.x[0].size, dataset.n_classes
    if architecture == "logistic":
        return partial(models.logistic_regression, size, classes)
    if architecture == "small-cnn":
        return partial(models.small_cnn, dataset.x.shape[1:], classes)
    if architecture in NETWORKS:
        return partial(NETWORKS[architecture], classes, in_channels=dataset.x.shape[1])
    _, *widths = architecture.split("-")
    return partial(models.mlp, size, tuple(map(int, widths)), classes)


def some_of(seed: int, n: int, most: int) -> np.ndarray:
    """At most so many of n places, in order."""
    rng = np.random.default_rng([seed, 22])
    return np.sort(rng.choice(n, most, replace=False)) if n > most else np.arange(n)


def _halves(records: np.ndarray, n_models: int, n_records: int, seed: int) -> np.ndarray:
    masks = np.zeros((n_models, n_records), dtype=bool)
    masks[:, records] = data.random_halves(n_models, len(records), seed)
    return masks


def strangers(settings: Settings) -> tuple[World, np.ndarray, np.ndarray, dict[str, str]]:
    """The members' world, the strangers, their labels, and the digest of the file they are from.

    Members are images: those of the run's own data set where it holds images, else digits. The
    others are named by ``ood_dataset``: "shifted" moves the same data set's validation images by
    a pixel to the right; a data set's name takes its images, averaged down to the size
    of the members' where they are larger.
    """
    own = world(settings.dataset, settings)
    members = own if own.dataset.x.ndim == 4 else world(DIGITS, settings)
    if settings.ood_dataset == SHIFTED:
        rows = members.validation
        return members, np.roll(members.dataset.x[rows], 1, axis=3), members.dataset.y[rows], {}
    other = data.load(settings.ood_dataset, root=settings.data_root or None)
    most = 10 * len(members.pool)
    x, shape = other.x, members.dataset.x.shape[1:]
    if x.shape[1:] != shape:
        x = averaged(x, shape)
    return members, x[:most], other.y[:most], {other.name: other.digest}


def averaged(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Images cut at the edges and averaged over blocks, so that they have the given shape."""
    (_, height, width), block = shape, min(x.shape[2] // shape[1], x.shape[3] // shape[2])
    top, left = (x.shape[2] - block * height) // 2, (x.shape[3] - block * width) // 2
    cut = x[:, :, top : top + block * height, left : left + block * width]
    return cut.reshape(len(x), shape[0], height, block, width, block).mean(axis=(3, 5))
