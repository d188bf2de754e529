"""Table 3 of Sablayrolles et al. (2019): 0-1 and MALT against networks trained on ImageNet."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch import nn

from membership import attacks, data, limits, metrics, models
from membership.book.exhibits.rows import share
from membership.book.exhibits.tidy import tidy
from membership.book.studies.bayes_optimal.names import ACCURACY, PEAK, TRAIN, VALIDATION
from membership.data.pictures import ImageFolder, list_images
from membership.errors import InputError
from membership.training import TrainingConfig, device_of
from recipes.imagenet import Settings
from recipes.imagenet.training import AUGMENTATIONS, Job, losses, train

NAMES = {"resnet101": "Resnet101", "vgg16": "VGG16"}
NOTE = (
    "One network a row. The paper leaves the image size and the crops unstated: shorter side "
    "resized to 8/7 of the image size, then the crop; losses are those of the central crop. "
    "MALT's threshold is chosen on a random half of the images and applied to the other half."
)


def table_3(settings: Settings, progress: bool = True) -> pd.DataFrame:
    """Train each network under each augmentation on half of the images, and attack it.

    Section 6.4. The halves are drawn over all images, not class by class; of an odd number one
    image is in neither. A run that was stopped goes on after its last finished epoch.
    """
    device = device_of(settings.device)
    folder = _images(settings)
    member, outside = data.disjoint_halves(len(folder), settings.seed)
    _check_batches(int(member.sum()), settings.batch_size)
    folder.check(progress)
    cores = limits.cores(settings.n_jobs)
    workers = cores if cores > 1 else 0
    queried = member | outside
    rows = []
    for model in settings.models:
        factory = _factory(model, len(folder.classes), settings.image_size)
        for augmentation in AUGMENTATIONS:
            job = Job(
                factory,
                folder,
                member,
                augmentation,
                settings.image_size,
                _config(settings),
                settings.seed,
                device,
            )
            module = train(job, workers, progress)
            loss, correct = losses(
                module, folder, settings.image_size, settings.batch_size, workers, progress
            )
            name = f"{NAMES.get(model, model)}, aug={augmentation}"
            measured = measure(loss[queried], correct[queried], member[queried], settings.seed)
            rows += [{"model": name, **row} for row in measured]
    return tidy(
        rows,
        {
            "data": {"imagenet (names and sizes)": folder.digest},
            "deviations": _deviations(settings, folder),
            "setup": {"networks": _setup(settings, folder)},
            "device": str(device),
            "note": NOTE,
            "sizes": {
                "Networks": ", ".join(settings.models),
                "Images": f"{len(folder):,}",
                "Epochs": str(settings.epochs),
            },
        },
    )


def measure(loss: np.ndarray, correct: np.ndarray, member: np.ndarray, seed: int) -> list[dict]:
    """Accuracies of one network and of the attacks on it."""
    zero_one, malt = attacks.zero_one(correct), attacks.malt(loss)
    choosing = _half_of_each(member, seed)
    threshold = metrics.best_threshold(malt[choosing], member[choosing])
    rest, truth = malt[~choosing], member[~choosing]
    best = metrics.best_threshold(malt, member)
    answers = {
        ("(model)", TRAIN): correct[member],
        ("(model)", VALIDATION): correct[~member],
        ("0-1", ACCURACY): (zero_one >= 0.5) == member,
        ("MALT", ACCURACY): (rest >= threshold) == truth,
        ("MALT", PEAK): (malt >= best) == member,
    }
    return [_row(*name, right) for name, right in answers.items()]


def _row(attack: str, metric: str, right: np.ndarray) -> dict:
    """A share of records with its exact 95% interval and its binomial standard error."""
    numbers = share(right)
    error = 100 * metrics.rate_error(numbers["value"] / 100, len(right))
    spread = {"standard_error": error, "degrees_of_freedom": np.inf}
    return {"attack": attack, "metric": metric, **numbers, **spread}


def _half_of_each(member: np.ndarray, seed: int) -> np.ndarray:
    """A random half of the members and as large a one of the non-members, as a mask."""
    rng = np.random.default_rng([seed, len(member)])
    chosen = np.zeros(len(member), dtype=bool)
    for side in (member, ~member):
        chosen[rng.permutation(np.flatnonzero(side))[: side.sum() // 2]] = True
    return chosen


def _images(settings: Settings) -> ImageFolder:
    if not settings.data_root:
        raise InputError("data_root is empty: name the folder that holds train/<class>/*.JPEG")
    folder = list_images(Path(settings.data_root) / "train")
    if len(folder) < 8:
        raise InputError(f"{folder.root}: {len(folder)} images; expected at least 8")
    return folder


def _check_batches(n_members: int, batch_size: int) -> None:
    if n_members % batch_size == 1:
        raise InputError(
            f"batch_size = {batch_size}: the last batch of {n_members} images would be a single "
            "one, which batch normalisation cannot take; choose another size"
        )


def _factory(model: str, n_classes: int, image_size: int) -> Callable[[], nn.Module]:
    if model == "vgg16":
        return partial(models.vgg16, n_classes, image_size)
    return partial(models.resnet, int(model.removeprefix("resnet")), n_classes, stem="imagenet")


def _config(settings: Settings) -> TrainingConfig:
    return TrainingConfig(
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=0.01,
        momentum=0.9,
        weight_decay=1e-4,
        schedule="milestones",
        milestones=tuple(range(30, settings.epochs, 30)),
    )


def _deviations(settings: Settings, folder: ImageFolder) -> list[str]:
    stated = [
        (len(folder.classes) == 1000, f"{len(folder.classes)} classes (the paper: 1000)"),
        (len(folder) >= 1_200_000, f"{len(folder)} images (the paper: 1.2 million)"),
        (settings.epochs == 90, f"{settings.epochs} epochs (the paper: 90)"),
        (settings.batch_size == 256, f"batches of {settings.batch_size} (the paper: 256)"),
        (settings.image_size == 224, f"images of {settings.image_size} pixels (usual: 224)"),
    ]
    return [deviation for same, deviation in stated if not same]


def _setup(settings: Settings, folder: ImageFolder) -> dict[str, Any]:
    """What verdicts compare with the paper's set-up."""
    whole = len(folder.classes) == 1000 and len(folder) >= 1_200_000
    config = _config(settings)
    return {
        "data": "ImageNet" if whole else f"{len(folder):,} images of {len(folder.classes)} classes",
        "members": len(folder) // 2,
        "recipe": {
            "epochs": config.epochs,
            "batch_size": config.batch_size,
            "learning_rate": config.learning_rate,
            "momentum": config.momentum,
            "weight_decay": config.weight_decay,
            "image_size": settings.image_size,
        },
    }
