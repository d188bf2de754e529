"""Table 3's question on smaller networks: what augmenting the training images does to MALT.

A stand-in for ImageNet: Table 2's network, and at paper size a residual one, each trained on
random halves without augmentation, with flips and shifts, and with flips and crops.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
import xarray as xr

from membership import attacks, data, evidence, metrics, models, signals, training
from membership.book.exhibits.rows import over_units
from membership.book.exhibits.tidy import origin, tidy
from membership.book.studies.bayes_optimal import names, networks
from membership.book.studies.bayes_optimal.names import ACCURACY, AUC, PEAK, TEST, TRAIN
from membership.book.studies.bayes_optimal.regressions import PRETRAINING
from membership.book.studies.bayes_optimal.settings import Settings

AUGMENTATIONS = {"none": "none", "flip, shift": "flip-and-shift", "flip, crop": "flip-and-crop"}
"""By what tables call them, from none to the strongest."""
TARGETS = 3
# Of a network's records, as many as the size of the evidence carries.
ASKED = 10_000
# Of the residual network.
RECORDS, EPOCHS = 5_000, 20
LEAD, LESS = "MALT less 0-1", "MALT, less without augmentation"
NEXT = "MALT, weaker augmentation less this"
WITHOUT = "none"
KEYS = ["network", "augmentation", "attack", "metric"]


@dataclass(frozen=True)
class Network:
    """A network, its records, of which half are members, and how it is trained."""

    words: str
    factory: functools.partial
    dataset: data.Dataset
    config: training.TrainingConfig


def outputs(file: str, settings: Settings) -> xr.Dataset:
    """Log-odds under three targets an augmentation, those of one row having the same members."""
    network = _residual(settings) if file == names.RESIDUAL else _small(settings)
    dataset = network.dataset
    member = data.random_halves(TARGETS, len(dataset.y), settings.seed)
    tried = list(AUGMENTATIONS) if dataset.x.ndim == 4 else ["none"]
    logits_of = []
    for name in tried:
        ensemble = training.train(
            network.factory,
            dataset,
            member,
            replace(network.config, augmentation=AUGMENTATIONS[name]),
            [settings.seed * 10_000 + model for model in range(TARGETS)],
            device=settings.device,
            n_jobs=settings.n_jobs,
        )
        logits_of.append(ensemble.logits(dataset.x[:ASKED]))
    logits, label = torch.cat(logits_of), dataset.y[:ASKED]
    return evidence.dataset(
        "outputs",
        {
            "log_odds": signals.scaled_logit(logits, None, label),
            "correct": signals.correct(logits, None, label) > 0,
            "member": np.tile(member[:, :ASKED], (len(tried), 1)),
        },
        targets=list(range(len(logits))),
        complements=[None] * len(logits),
        augmentations=tried,
        seed=settings.seed,
        device=str(ensemble.device),
        **_about(network, dataset),
    )


def _records(settings: Settings) -> data.Dataset:
    whole = data.load(settings.dataset, root=settings.data_root or None)
    return networks.subset(whole, 2 * settings.cnn_records, settings.seed)


def _small(settings: Settings) -> Network:
    """Table 2's network, its records and its training."""
    dataset = _records(settings)
    words = "Table 2's CNN" if dataset.x.ndim == 4 else f"MLP with {networks.HIDDEN} hidden units"
    return Network(words, networks.network(dataset), dataset, networks.config(settings))


def _residual(settings: Settings) -> Network:
    """A ResNet-18 on fewer records, with the stem for ImageNet, which is the faster one."""
    dataset = _records(settings)
    dataset = networks.subset(dataset, min(RECORDS, len(dataset.y)), settings.seed)
    channels, config = dataset.x.shape[1], replace(PRETRAINING, epochs=EPOCHS)
    factory = functools.partial(models.resnet, 18, dataset.n_classes, "imagenet", channels)
    return Network("ResNet-18", factory, dataset, config)


def _about(network: Network, dataset: data.Dataset) -> dict[str, Any]:
    config, members = network.config, len(dataset.y) // 2
    name = "CIFAR-10" if dataset.name.startswith("cifar10") else dataset.name
    recipe = {"epochs": config.epochs, "learning_rate": config.learning_rate}
    return {
        "set": name,
        "data": {dataset.name: dataset.digest},
        "recipe": {**recipe, "batch_size": config.batch_size, "optimiser": config.optimiser},
        "setup": {
            "data": name,
            "architecture": network.words,
            "members": members,
            "reference_models": TARGETS - 1,
            "recipe": recipe,
        },
        "deviations": [
            f"{network.words} on {name} for the paper's networks on ImageNet, "
            f"{members:,} members, {config.epochs} epochs"
        ],
        "sizes": {
            f"{network.words}: target models an augmentation": str(TARGETS),
            f"{network.words}: members of each": f"{members:,}",
            f"{network.words}: epochs": str(config.epochs),
            f"{network.words}: records asked about": f"{min(ASKED, len(dataset.y)):,}",
        },
    }


def by_augmentation(files: Sequence[xr.Dataset]) -> pd.DataFrame:
    """Accuracies of models and attacks by network and augmentation, over the targets.

    MALT's threshold separates members best over the other targets of the same kind. Differences
    are paired by target: an augmentation is compared with the networks of the same members that
    had none.
    """
    rows = pd.concat([per_target(file) for file in files], ignore_index=True)
    setups = [file.attrs["setup"] for file in files]
    setup = {setup["architecture"]: setup for setup in setups}
    return tidy(over_units(rows, KEYS), origin(files, setup=setup))


def per_target(outputs: xr.Dataset) -> pd.DataFrame:
    """Every number of one network: network, augmentation, target, attack, metric, value."""
    network, tried = outputs.attrs["setup"]["architecture"], outputs.attrs["augmentations"]
    shape = (len(tried), -1, outputs.sizes["record"])
    loss = signals.loss_of_log_odds(outputs["log_odds"].values).reshape(shape)
    correct = outputs["correct"].values.reshape(shape)
    member = outputs["member"].values.reshape(shape)
    rows = []
    for place, name in enumerate(tried):
        for target in range(loss.shape[1]):
            key = {"network": network, "augmentation": name, "target": target}
            numbers = _of_target(loss[place], correct[place], member[place], target)
            rows += names.rows_of(numbers, **key)
    return pd.concat([pd.DataFrame(rows), _less_without(pd.DataFrame(rows))], ignore_index=True)


def _less_without(table: pd.DataFrame) -> pd.DataFrame:
    """MALT's accuracy under an augmentation beside that without, and with the next weaker one."""
    malt = table[(table["attack"] == "MALT") & (table["metric"] == ACCURACY)]
    without = malt[malt["augmentation"] == WITHOUT].set_index("target")["value"]
    augmented = malt[malt["augmentation"] != WITHOUT]
    less = augmented.assign(
        attack=LESS, value=augmented["value"] - augmented["target"].map(without)
    )
    weaker = malt.groupby("target")["value"].shift(1)
    fall = malt.assign(attack=NEXT, value=weaker - malt["value"]).dropna(subset="value")
    return pd.concat([less, fall], ignore_index=True)


def _of_target(
    loss: np.ndarray, correct: np.ndarray, member: np.ndarray, target: int
) -> dict[tuple[str, str], float]:
    """Percents of one target among those of one augmentation, each array (targets, records)."""
    other_targets = np.arange(len(loss)) != target
    own, right, score = member[target], correct[target], attacks.malt(loss[target])
    cut = metrics.best_threshold(
        attacks.malt(loss[other_targets].ravel()), member[other_targets].ravel()
    )
    numbers = {
        ("(model)", TRAIN): float(right[own].mean()),
        ("(model)", TEST): float(right[~own].mean()),
        ("0-1", ACCURACY): metrics.balanced_accuracy(attacks.zero_one(right), own, threshold=0.5),
        ("MALT", ACCURACY): metrics.balanced_accuracy(score, own, threshold=cut),
        ("MALT", PEAK): metrics.balanced_accuracy(score, own),
        ("MALT", AUC): metrics.auc(score, own),
    }
    numbers[LEAD, ACCURACY] = numbers["MALT", ACCURACY] - numbers["0-1", ACCURACY]
    return {name: 100 * value for name, value in numbers.items()}
